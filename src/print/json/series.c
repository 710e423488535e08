/* series.c - figures over time as JSON: of a process and of its sites. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "print/json/processes.h"

#include "base/std.h"
#include "kit/json/json_put.h"

enum {
	SERIES_EACH = 50, /* the largest by live bytes, by peak, by growth */
	SERIES_POINTS = 2000,
	SERIES_PROCESSES = 16, /* sites: each reads the file again */
};

/* Writes one array with a figure of all points. */
static void column(struct json *out, const char *name, const struct process_point *points,
    size_t count, size_t offset)
{
	json_list(out, name);
	for (size_t i = 0; i < count; i++) {
		uint64_t value;

		memcpy(&value, (const char *)&points[i] + offset, sizeof(value));
		json_number(out, NULL, value);
	}
	json_end(out);
}

void series_put(
    struct json *out, const char *name, const struct process_point *points, size_t count)
{
	static const struct {
		const char *name;
		size_t offset;
	} columns[] = {
	    {"times_us", offsetof(struct process_point, time_us)},
	    {"live_bytes", offsetof(struct process_point, live_bytes)},
	    {"live_blocks", offsetof(struct process_point, live_blocks)},
	    {"allocations", offsetof(struct process_point, allocations)},
	    {"allocated_bytes", offsetof(struct process_point, allocated_bytes)},
	};

	json_key(out, name);
	if (count == 0) {
		json_null(out, NULL);
		return;
	}
	json_object(out, NULL);
	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
		column(out, columns[i].name, points, count, columns[i].offset);
	json_end(out);
}

/* Is this site among the largest of those with a time line? */
static bool is_heavy(const struct session *s, const struct process *p)
{
	size_t heavier = 0;

	for (size_t i = 0; i < s->count; i++)
		heavier += s->processes[i]->point_count > 1 &&
		    s->processes[i]->totals.peak_bytes > p->totals.peak_bytes;
	return heavier < SERIES_PROCESSES;
}

void series_list_init(struct series_list *c, const struct session *s, const struct process *p)
{
	size_t *sites;
	size_t n;

	*c = (struct series_list){0};
	if (!s->line || p->point_count < 2 || !is_heavy(s, p) ||
	    timeline_top(s->line, p, s->until_us / 3, SERIES_EACH, &sites, &n) < 0)
		return;
	c->list = calloc(n + 1, sizeof(*c->list));
	for (size_t i = 0; c->list && i < n; i++)
		c->list[i].site = sites[i];
	if (c->list && timeline_series(s->line, p, c->list, n, SERIES_POINTS) == 0)
		c->count = n;
	free(sites);
}

void series_list_release(struct series_list *c)
{
	for (size_t i = 0; i < c->count; i++)
		free(c->list[i].points);
	free(c->list);
}

bool series_list_has(struct series_list *c, size_t site)
{
	while (c->next < c->count && c->list[c->next].site < site)
		c->next++; /* a filter left it out */
	return c->next < c->count && c->list[c->next].site == site;
}

void series_list_put(struct json *out, struct series_list *c, size_t site)
{
	if (!series_list_has(c, site)) {
		json_null(out, "series");
		return;
	}
	series_put(out, "series", c->list[c->next].points, c->list[c->next].count);
	c->next++;
}
