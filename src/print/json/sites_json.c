/* sites_json.c - the sites of a view as JSON. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "print/json/processes.h"

#include "base/std.h"
#include "kit/json/json_put.h"
#include "print/json/json_parts.h"
#include "print/json/leaks_json.h"
#include "view/sites/ages.h"
#include "view/sites/enum_words.h"
#include "view/stacks/fingerprint.h"

/*
 * When live blocks were allocated, in equal parts of the process's time. Sites
 * of several processes together have no such time.
 */
static void put_births(struct json *out, const struct process_ages *ages, const struct process *p)
{
	uint64_t slots[SEG_BIRTH_SLOTS];

	if (!p || !ages || !ages->births_known)
		return;
	for (int i = 0; i < SEG_BIRTH_SLOTS; i++)
		slots[i] = ages->births[i];
	json_numbers(out, "live_births", slots, SEG_BIRTH_SLOTS);
}

/* Ages at death; ages, births and sizes of live blocks, if the process has counted them. */
static void put_histograms(
    struct json *out, const struct view_site *s, const struct process *p, bool brief)
{
	uint64_t values[PROCESS_AGES + PROCESS_STEPS + PROCESS_SIZES];
	const struct process_ages *ages = s->ages;

	ages_deaths(s, values);
	if (out->is_reading)
		json_null(out, "ages");
	else
		json_numbers(out, "ages", values, PROCESS_AGES);
	if (ages_young(s, values))
		json_numbers(out, "ages_fine", values, PROCESS_STEPS);
	if (!brief)
		put_births(out, ages, p);
	if (ages && ages->live_ages_known)
		json_numbers(out, "live_ages", ages->living, PROCESS_AGES);
	else
		json_null(out, "live_ages");
	if (brief) /* keys keep their places */
		put_births(out, ages, p);
	if (!ages || !ages->sizes_known) {
		json_null(out, "live_sizes");
		return;
	}
	for (int i = 0; i < PROCESS_SIZES; i++)
		values[i] = ages->sizes[i];
	json_numbers(out, "live_sizes", values, PROCESS_SIZES);
}

/* What all sites of a list have in common. */
struct list {
	const struct view *view;
	const struct process *process; /* NULL: of several together */
	struct fingerprints *prints;
	struct frames_table *frames;
	struct series_list *series;
	const struct older *older;
	bool brief; /* the shared form leaves out values that are null or 0 */
};

static int put_site(struct json *out, const struct list *l, const struct view_site *s)
{
	const struct view_figures *f = &s->figures;
	const struct process *p = l->process;
	struct fingerprint print;
	unsigned brief;
	int err;

	json_object(out, NULL);
	brief = l->brief ? out->depth : 0;
	json_number(out, "id", s->id);
	json_text(out, "kind", enum_words_kind(s->kind));
	json_text(out, "api", enum_words_api(s->api));
	out->brief = brief;
	json_text(out, "pool", s->pool);
	json_figures(out, FIGURES_COUNTED, f);
	json_number(out, "samples", s->samples);
	json_figures_errors(out, s->samples > 0 || (p && p->header.sample_bytes > 0),
	    f->variance_live, f->variance_allocated);
	json_number(out, "size_min", s->size_min);
	json_number(out, "size_max", s->size_max);
	json_time(out, "first_time", s->first_ns);
	json_time(out, "last_time", s->last_ns);
	put_histograms(out, s, p, l->brief);
	json_figures(out, FIGURES_TEMPORARY, f);
	out->brief = 0; /* what is known of it by another reading is there if it is 0, too */
	rss_json_site(out, p, f);
	inventory_json_site(out, p, s->id);
	out->brief = brief;
	if (l->older)
		json_figures(out, FIGURES_OLDER, f);
	log_json_site(out, l->view, s);
	if (!l->brief || s->verdict || s->score) {
		json_key(out, "verdict");
		verdict_json_site(out, l->view, s);
	}
	series_list_put(out, l->series, s->site);
	fingerprints_site(l->prints, s, &print);
	json_format(out, "fingerprint", "\"%016" PRIx64 "\"", print.hash);
	json_text(out, "suppression", s->suppression);
	out->brief = 0;
	json_text(out, "stack", enum_words_stack(s->stack_flags));
	json_number(out, "sites", s->count);
	if (s->own > 0)
		json_number(out, "own", s->own);
	err = frames_table_put(out, l->frames, s);
	json_end(out);
	return err;
}

int json_sites(struct json *out, const struct view *v, const struct process *p,
    struct series_list *series, struct json_writer *w)
{
	enum { SITE_BYTES = 700 }; /* of a site without its frames, about */
	struct list l = {.view = v,
	    .process = p,
	    .series = series,
	    .older = w->older,
	    .brief = w->table != NULL};
	int err = frames_table_new(v, w->table, &l.frames);

	if (err < 0)
		return err;
	err = fingerprints_new(v, &l.prints);
	if (err < 0)
		goto out;
	json_rows(out, "sites");
	for (size_t i = 0; i < v->site_count && !ferror(out->file) && err == 0; i++)
		err = put_site(out, &l, &v->sites[i]);
	json_end(out);
	w->bytes += frames_table_bytes(l.frames) + v->site_count * SITE_BYTES;
out:
	fingerprints_free(l.prints);
	frames_table_free(l.frames);
	return err;
}

void json_sites_temporary(struct json *out, const struct view *v)
{
	json_number_or_null(out, "temporary_within_ms", v->temporary_ticks > 0 && !v->within,
	    ages_temporary_ns(v) / 1000000);
	if (v->within)
		json_number(out, "temporary_within_allocations", lifetimes_within(v->within));
}

void json_sites_sum(struct json *out, const char *name, const struct view_sum *sum)
{
	json_object(out, name);
	json_number(out, "sites", sum->sites);
	json_figures(out, FIGURES_COUNTED | FIGURES_TEMPORARY, &sum->figures);
	json_end(out);
}

/* ---- series: figures over time as JSON: of a process and of its sites ---- */

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
