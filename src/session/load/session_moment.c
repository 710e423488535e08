/* session_moment.c - a recording as it was at an earlier moment. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "session/load/session_moment.h"

#include "base/std.h"
#include "session/timeline/timeline.h"
#include "recording/parts/aging.h"
#include "recording/parts/inventory.h"
#include "recording/parts/verdicts.h"
#include "kit/os/clock.h"
#include "kit/words/words.h"

/* Since 1970, of a moment of the time line. */
static uint64_t at_ns(const struct session *s, uint64_t time_us)
{
	return s->start_ns + time_us * 1000;
}

static bool had_begun(const struct session *s, const struct process *p, uint64_t time_us)
{
	if (p->point_count > 0)
		return p->points[0].time_us <= time_us;
	return p->header.start_realtime_ns <= at_ns(s, time_us);
}

/* Then its figures are the last that it ever had. */
static bool had_ended(const struct session *s, const struct process *p, uint64_t time_us)
{
	return p->end != PROCESS_RUNNING &&
	    p->header.start_realtime_ns + p->duration_ns <= at_ns(s, time_us) &&
	    (p->point_count == 0 || p->points[p->point_count - 1].time_us <= time_us);
}

void session_moment_drop_ends(struct process *p)
{
	for (size_t i = 0; i < p->site_count; i++) {
		struct process_site *x = &p->sites[i];

		free(x->ages);
		free(x->freed_by);
		x->ages = NULL;
		x->freed_by = NULL;
		x->variance_allocated = x->variance_live = 0;
		x->figures.peak_blocks = x->figures.peak_bytes = 0;
	}
	if (p->verdicts)
		verdicts_release(p->verdicts);
	free(p->verdicts);
	if (p->aging)
		aging_release(p->aging);
	free(p->aging);
	free(p->scores);
	p->aging = NULL;
	if (p->inventory)
		inventory_release(p->inventory);
	free(p->inventory);
	p->inventory = NULL;
	p->scores = NULL;
	process_drop_rss(p);
	free(p->points);
	p->verdicts = NULL;
	p->points = NULL;
	p->point_count = 0;
	p->temporary_ticks = 0;
	p->totals.peak_blocks = p->totals.peak_bytes = 0;
	p->peak_exact = false;
}

void session_moment_put(struct process *p, const struct process_figures *then, uint64_t duration_ns)
{
	p->totals = p->mapped = (struct process_figures){0};
	for (size_t i = 0; i < p->site_count; i++) {
		p->sites[i].figures = then[i];
		process_count(p, &p->sites[i]);
	}
	for (size_t i = 0; i < p->pool_count; i++)
		p->pools[i].figures = (struct process_figures){0};
	for (size_t i = 0; i < p->site_count; i++)
		if (p->sites[i].kind == SEG_SITE_USER)
			process_add(&p->pools[p->sites[i].pool].figures, &p->sites[i].figures);
	p->end = PROCESS_RUNNING;
	p->running_pid = 0;
	p->exit_status = -1;
	p->signal = 0;
	p->is_out_of_memory = false;
	p->rss_bytes = 0;
	p->duration_ns = duration_ns;
}

static int set_back(struct session *s, struct process *p, uint64_t time_us)
{
	struct process_figures *then = calloc(p->site_count + 1, sizeof(*then));
	uint64_t when_us, start_ns = p->header.start_realtime_ns;
	int err;

	if (!then)
		return -ENOMEM;
	err = timeline_sites_at(s->line, p, time_us, then, &when_us);
	if (err == 0)
		session_moment_put(
		    p, then, at_ns(s, time_us) > start_ns ? at_ns(s, time_us) - start_ns : 0);
	free(then);
	return err < 0 ? err : 0;
}

void session_moment_drop_line(struct session *s)
{
	timeline_free(s->line);
	s->line = NULL;
	free(s->marks);
	s->marks = NULL;
	s->mark_count = 0;
	s->leaks_asked = false; /* looks are of the end */
}

int session_moment_set_back(struct session *s, uint64_t time_us)
{
	size_t kept = 0;
	int err = 0;

	if (!s->line)
		return -ENODATA;
	for (size_t i = 0; i < s->count; i++) {
		struct process *p = s->processes[i];

		if (err == 0 && time_us < s->until_us && !had_begun(s, p, time_us)) {
			process_free(p);
			continue;
		}
		s->processes[kept++] = p;
		if (err == 0 && time_us < s->until_us && !had_ended(s, p, time_us))
			err = set_back(s, p, time_us);
		session_moment_drop_ends(p);
	}
	s->count = kept;
	session_moment_drop_line(s);
	return err;
}

const char *session_moment_date(
    char text[SESSION_MOMENT_BYTES], const struct session *s, uint64_t time_us)
{
	time_t at = (time_t)((s->start_ns / 1000 + time_us) / 1000000);
	struct tm t;

	if (!localtime_r(&at, &t) ||
	    strftime(text, SESSION_MOMENT_BYTES, "%Y-%m-%dT%H:%M:%S%z", &t) == 0)
		text[0] = '\0';
	return text;
}

/*
 * The last one at or before a moment; the end is one. False: the first one is
 * at *ret_us.
 */
static bool find_reading(const struct session *s, uint64_t until_us, uint64_t *ret_us)
{
	uint64_t first_us = s->until_us, last_us = 0;
	bool is_found = false;

	for (size_t i = 0; i < s->count; i++) {
		const struct process *p = s->processes[i];

		for (size_t k = 0; k < p->point_count; k++) {
			const uint64_t us = p->points[k].time_us;

			first_us = us < first_us ? us : first_us;
			if (us > until_us)
				break;
			is_found = true;
			last_us = us > last_us ? us : last_us;
		}
	}
	if (until_us >= s->until_us) {
		is_found = true;
		last_us = s->until_us;
	}
	*ret_us = is_found ? last_us : first_us;
	return is_found;
}

static char *title(const struct session *s, const char *input, uint64_t time_us)
{
	char date[SESSION_MOMENT_BYTES] = "", span[WORDS_MAX], *text;

	if (s->start_ns > 0)
		(void)session_moment_date(date, s, time_us);
	if (asprintf(&text, "%s%s%s%safter %s", input, *date ? " at " : " ", date,
	        *date ? ", " : "", words_time(span, time_us * 1000)) < 0)
		return NULL;
	return text;
}

int session_moment_read(
    struct session *s, const char *input, const struct moment *m, struct fault *where)
{
	const struct moment_line line = {
	    .start_ns = s->start_ns, .until_us = s->until_us, .now_ns = clock_ns(CLOCK_REALTIME)};
	int64_t asked_us;
	uint64_t us = 0;
	int err;

	if (!s->line)
		return fault_set(where, -ENODATA,
		    "only what seep record or seep watch has written over time has readings; a "
		    "segment, a snapshot or a copy has one state");
	if (!moment_resolve(m, &line, &asked_us))
		return fault_set(where, -EINVAL, "the input does not say when it was made");
	if (asked_us < 0 || !find_reading(s, (uint64_t)asked_us, &us)) {
		if (asked_us < 0)
			(void)find_reading(s, 0, &us);
		return fault_set(
		    where, -EINVAL, "the first reading is later, after %s", WORDS_TIME(us * 1000));
	}
	s->title = title(s, input, us);
	err = s->title ? session_moment_set_back(s, us) : -ENOMEM;
	if (err < 0)
		return fault_set(where, err, "the time line cannot be read: %s",
		    err == -ENOMEM ? "out of memory" : "an error of the disk");
	for (size_t i = 0; i < s->count; i++)
		s->processes[i]->log.has_moment = s->processes[i]->log.is_past =
		    s->processes[i]->end == PROCESS_RUNNING;
	return 0;
}
