/* json.c - a session as JSON, whole and stable: keys are only ever added. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "json/figures.h"
#include "json/json.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "reader/losses.h"
#include "reader/timeline.h"
#include "report/ages.h"
#include "report/fingerprint.h"
#include "json/frames_table.h"
#include "report/json_older.h"
#include "json/program_reports.h"
#include "report/words.h"

enum {
	SERIES_EACH = 50, /* sites by live, by peak, by growth */
	SERIES_POINTS = 2000,
	SERIES_PROCESSES = 16, /* the heaviest: each reads the file again */
};

static void
command(FILE *out, const struct seg_header *h)
{
	const char *p = h->command, *end = p + sizeof(h->command);
	const char *comma = "";

	(void)fputs(",\"command\":[", out);
	/* an empty argument is told from the end by what follows it */
	while (p < end && (*p || (p + 1 < end && p[1]))) {
		(void)fputs(comma, out);
		json_string(out, p);
		p += strnlen(p, (size_t)(end - p)) + 1;
		comma = ",";
	}
	(void)fputs("]", out);
}

/* Of sampled figures: half the width of the 95 % interval. */
static void
errors(FILE *out, bool sampled, double live, double allocated)
{
	if (!sampled) {
		(void)fputs(",\"error\":null", out);
		return;
	}
	(void)fprintf(out,
	    ",\"error\":{\"live_bytes\":%" PRIu64
	    ",\"allocated_bytes\":%" PRIu64 "}",
	    process_error(live), process_error(allocated));
}

/* One array of the points' figures. */
static void
column(FILE *out, const char *name, const struct process_point *points,
    size_t count, size_t offset)
{
	(void)fprintf(out, "\"%s\":[", name);
	for (size_t i = 0; i < count; i++) {
		uint64_t value;

		memcpy(
		    &value, (const char *)&points[i] + offset, sizeof(value));
		(void)fprintf(out, "%s%" PRIu64, i ? "," : "", value);
	}
	(void)putc(']', out);
}

static void
course(FILE *out, const char *name, const struct process_point *points,
    size_t count)
{
	static const struct {
		const char *name;
		size_t offset;
	} columns[] = {
	    {"times_us", offsetof(struct process_point, time_us)},
	    {"live_bytes", offsetof(struct process_point, live_bytes)},
	    {"live_blocks", offsetof(struct process_point, live_blocks)},
	    {"allocations", offsetof(struct process_point, allocations)},
	    {"allocated_bytes",
	        offsetof(struct process_point, allocated_bytes)},
	};

	json_key(out, name);
	if (count == 0) {
		(void)fputs("null", out);
		return;
	}
	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++) {
		(void)putc(i ? ',' : '{', out);
		column(out, columns[i].name, points, count, columns[i].offset);
	}
	(void)putc('}', out);
}

/* The courses of the sites worth one; none where there is no time line. */
struct courses {
	struct timeline_series *list; /* by site */
	size_t count, next;
};

/* Is it among the heaviest of those with a course? */
static bool
is_heavy(const struct session *s, const struct process *p)
{
	size_t heavier = 0;

	for (size_t i = 0; i < s->count; i++)
		heavier += s->processes[i]->point_count > 1 &&
		    s->processes[i]->totals.peak_bytes > p->totals.peak_bytes;
	return heavier < SERIES_PROCESSES;
}

static void
courses_init(
    struct courses *c, const struct session *s, const struct process *p)
{
	size_t *sites;
	size_t n;

	*c = (struct courses){0};
	if (!s->line || p->point_count < 2 || !is_heavy(s, p) ||
	    timeline_top(s->line, p, s->until_us / 3, SERIES_EACH, &sites, &n) <
	        0)
		return;
	c->list = calloc(n + 1, sizeof(*c->list));
	for (size_t i = 0; c->list && i < n; i++)
		c->list[i].site = sites[i];
	if (c->list &&
	    timeline_series(s->line, p, c->list, n, SERIES_POINTS) == 0)
		c->count = n;
	free(sites);
}

static void
courses_release(struct courses *c)
{
	for (size_t i = 0; i < c->count; i++)
		free(c->list[i].points);
	free(c->list);
}

static bool
has_series(struct courses *c, size_t site)
{
	while (c->next < c->count && c->list[c->next].site < site)
		c->next++; /* filtered out */
	return c->next < c->count && c->list[c->next].site == site;
}

static void
series(FILE *out, struct courses *c, size_t site)
{
	if (!has_series(c, site)) {
		(void)fputs(",\"series\":null", out);
		return;
	}
	course(out, "series", c->list[c->next].points, c->list[c->next].count);
	c->next++;
}

/* Of the living, where the process has told at its end. */
static void
living(FILE *out, const struct process_ages *ages)
{
	uint64_t sizes[PROCESS_SIZES];

	if (ages && ages->live_ages_known)
		json_list(out, "live_ages", ages->living, PROCESS_AGES);
	else
		(void)fputs(",\"live_ages\":null", out);
	if (!ages || !ages->sizes_known) {
		(void)fputs(",\"live_sizes\":null", out);
		return;
	}
	for (int i = 0; i < PROCESS_SIZES; i++)
		sizes[i] = ages->sizes[i];
	json_list(out, "live_sizes", sizes, PROCESS_SIZES);
}

/* What all parts of one object share. */
struct writer {
	struct json_table *table;  /* NULL: frames in full */
	const struct older *older; /* NULL: not asked for */
	uint64_t bytes;
};

static void
number_unless_zero(FILE *out, const char *name, uint64_t value)
{
	if (value > 0)
		json_number(out, name, value);
}

static void
text_unless_null(FILE *out, const char *name, const char *value)
{
	if (value)
		json_text(out, name, value);
}

/* Without the zeros at its end. */
static void
short_list(FILE *out, const char *name, const uint64_t *values, size_t count)
{
	while (count > 0 && values[count - 1] == 0)
		count--;
	json_key(out, name);
	(void)putc('[', out);
	for (size_t i = 0; i < count; i++)
		(void)fprintf(out, "%s%" PRIu64, i ? "," : "", values[i]);
	(void)putc(']', out);
}

static void
short_histograms(FILE *out, const struct view_site *s)
{
	const struct process_ages *ages = s->ages;
	uint64_t values[PROCESS_AGES + PROCESS_SIZES];

	ages_deaths(s, values);
	short_list(out, "ages", values, PROCESS_AGES);
	if (ages_young(s, values))
		short_list(out, "ages_fine", values, PROCESS_STEPS);
	if (ages && ages->live_ages_known)
		short_list(out, "live_ages", ages->living, PROCESS_AGES);
	if (!ages || !ages->sizes_known)
		return;
	for (int i = 0; i < PROCESS_SIZES; i++)
		values[i] = ages->sizes[i];
	short_list(out, "live_sizes", values, PROCESS_SIZES);
}

/* The shared form: what is null or 0 is left out. */
static int
short_site(FILE *out, const struct view_site *s, const struct process *p,
    const struct fingerprints *prints, struct frames_table *frames,
    struct courses *courses, const struct older *older)
{
	const struct view_figures *f = &s->figures;
	struct fingerprint print;
	int err;

	(void)fprintf(out, "{\"id\":%u", s->id);
	json_text(out, "kind", words_kind(s->kind));
	json_text(out, "api", words_api(s->api));
	text_unless_null(out, "pool", s->pool);
	number_unless_zero(out, "allocations", f->all.allocations);
	number_unless_zero(out, "allocated_bytes", f->all.allocated_bytes);
	number_unless_zero(out, "frees", f->all.frees);
	number_unless_zero(out, "freed_bytes", f->all.freed_bytes);
	number_unless_zero(out, "live_blocks", f->all.live_blocks);
	number_unless_zero(out, "live_bytes", f->all.live_bytes);
	number_unless_zero(out, "peak_blocks", f->all.peak_blocks);
	number_unless_zero(out, "peak_bytes", f->all.peak_bytes);
	number_unless_zero(out, "samples", s->samples);
	if (s->samples > 0 || (p && p->header.sample_bytes > 0))
		errors(out, true, f->variance_live, f->variance_allocated);
	number_unless_zero(out, "size_min", s->size_min);
	number_unless_zero(out, "size_max", s->size_max);
	json_time(out, "first_time", s->first_ns);
	json_time(out, "last_time", s->last_ns);
	short_histograms(out, s);
	number_unless_zero(out, "temporary_blocks", f->temporary_blocks);
	number_unless_zero(out, "temporary_bytes", f->temporary_bytes);
	json_older_site(out, older, f, true);
	if (has_series(courses, s->site))
		series(out, courses, s->site);
	fingerprints_site(prints, s, &print);
	(void)fprintf(out, ",\"fingerprint\":\"%016" PRIx64 "\"", print.hash);
	text_unless_null(out, "suppression", s->suppression);
	json_text(out, "stack", words_stack(s->stack_flags));
	json_number(out, "sites", s->count);
	number_unless_zero(out, "own", s->own);
	err = frames_table_put(out, frames, s);
	(void)putc('}', out);
	return err;
}

/* `p` NULL: of several processes together. */
static void
site(FILE *out, const struct view_site *s, const struct process *p,
    const struct fingerprints *prints, struct frames_table *cache,
    struct courses *courses, const struct older *older)
{
	const struct view_figures *f = &s->figures;
	uint64_t deaths[PROCESS_AGES], steps[PROCESS_STEPS];
	struct fingerprint print;

	(void)fprintf(out, "{\"id\":%u", s->id);
	json_text(out, "kind", words_kind(s->kind));
	json_text(out, "api", words_api(s->api));
	json_text(out, "pool", s->pool);
	json_figures(out, &f->all);
	json_number(out, "samples", s->samples);
	errors(out, s->samples > 0 || (p && p->header.sample_bytes > 0),
	    f->variance_live, f->variance_allocated);
	json_number(out, "size_min", s->size_min);
	json_number(out, "size_max", s->size_max);
	json_time(out, "first_time", s->first_ns);
	json_time(out, "last_time", s->last_ns);
	ages_deaths(s, deaths);
	json_list(out, "ages", deaths, PROCESS_AGES);
	if (ages_young(s, steps))
		json_list(out, "ages_fine", steps, PROCESS_STEPS);
	living(out, s->ages);
	json_number(out, "temporary_blocks", f->temporary_blocks);
	json_number(out, "temporary_bytes", f->temporary_bytes);
	json_older_site(out, older, f, false);
	(void)fputs(",\"verdict\":null", out);
	series(out, courses, s->site);
	fingerprints_site(prints, s, &print);
	(void)fprintf(out, ",\"fingerprint\":\"%016" PRIx64 "\"", print.hash);
	json_text(out, "suppression", s->suppression);
	json_text(out, "stack", words_stack(s->stack_flags));
	json_number(out, "sites", s->count);
	number_unless_zero(out, "own", s->own);
	(void)frames_table_put(out, cache, s); /* in full: cannot fail */
	(void)putc('}', out);
}

/* All sites of a view, as an array. */
static int
sites(FILE *out, const struct view *v, const struct process *p,
    struct courses *courses, struct writer *w)
{
	enum { SITE_BYTES = 700 }; /* without its frames, about */
	struct fingerprints *prints = NULL;
	struct frames_table *cache;
	int err = frames_table_new(v, w->table, &cache);

	if (err < 0)
		return err;
	err = fingerprints_new(v, &prints);
	if (err < 0)
		goto out;
	(void)fputs(",\"sites\":[", out);
	for (size_t i = 0; i < v->site_count && !ferror(out) && err == 0; i++) {
		(void)fputs(i ? ",\n" : "\n", out);
		if (w->table)
			err = short_site(out, &v->sites[i], p, prints, cache,
			    courses, w->older);
		else
			site(out, &v->sites[i], p, prints, cache, courses,
			    w->older);
	}
	(void)putc(']', out);
	w->bytes += frames_table_bytes(cache) + v->site_count * SITE_BYTES;
out:
	fingerprints_free(prints);
	frames_table_free(cache);
	return err;
}

void
json_temporary(FILE *out, const struct view *v)
{
	if (v->temporary_ticks > 0)
		json_number(
		    out, "temporary_within_ms", ages_temporary_ns(v) / 1000000);
	else
		(void)fputs(",\"temporary_within_ms\":null", out);
}

static void
view_sum(FILE *out, const char *name, const struct view_sum *sum)
{
	(void)fprintf(out, ",\"%s\":{\"sites\":%" PRIu64, name, sum->sites);
	json_figures(out, &sum->figures.all);
	json_number(out, "temporary_blocks", sum->figures.temporary_blocks);
	json_number(out, "temporary_bytes", sum->figures.temporary_bytes);
	(void)putc('}', out);
}

static void
lost(FILE *out, const struct seg_header *h)
{
	const struct losses_name *names;
	const char *comma = "";
	size_t n;

	names = losses_names(&n);
	(void)fputs(",\"lost\":{", out);
	for (size_t i = 0; i < n; i++) {
		if (names[i].class != LOSSES_LOSS)
			continue;
		(void)fprintf(out, "%s\"%s\":%" PRIu64, comma, names[i].key,
		    h->counts[names[i].count]);
		comma = ",";
	}
	(void)fputs("}", out);
	comma = "";
	(void)fputs(",\"counts\":{", out);
	for (size_t i = 0; i < n; i++) {
		if (names[i].class != LOSSES_FACT)
			continue;
		(void)fprintf(out, "%s\"%s\":%" PRIu64, comma, names[i].key,
		    h->counts[names[i].count]);
		comma = ",";
	}
	(void)fputs("}", out);
}

static void
totals(FILE *out, const struct process *p)
{
	const struct losses_name *names;
	size_t n;

	(void)fputs(",\"totals\":{\"sites\":", out);
	(void)fprintf(out, "%zu", p->site_count);
	json_figures(out, &p->totals);
	errors(out, p->header.sample_bytes > 0, process_variance_live(p),
	    process_variance_allocated(p));
	json_boolean(out, "peak_exact", p->peak_exact);
	names = losses_names(&n);
	for (size_t i = 0; i < n; i++)
		if (names[i].class == LOSSES_TOTAL)
			json_number(out, names[i].key,
			    p->header.counts[names[i].count]);
	(void)fputs("}", out);
}

static void
modules(FILE *out, const struct process *p)
{
	const char *comma = "";

	(void)fputs(",\"modules\":[", out);
	for (size_t i = 1; i < p->module_count; i++) {
		const struct process_module *m = &p->modules[i];

		if (m->end == 0)
			continue;
		(void)fprintf(out, "%s{\"number\":%zu", comma, i);
		json_text(out, "path", m->path);
		json_hex(out, "build_id", m->build_id, m->build_id_bytes);
		json_number(out, "base", m->base);
		json_number(out, "start", m->start);
		json_number(out, "end", m->end);
		json_number(out, "generation", m->generation);
		json_boolean(out, "main", m->is_main);
		(void)putc('}', out);
		comma = ",";
	}
	(void)fputs("]", out);
}

static void
inherited(FILE *out, const struct process *p)
{
	(void)fputs(",\"inherited\":[", out);
	for (size_t i = 0; i < p->inherited_count; i++)
		(void)fprintf(out,
		    "%s{\"id\":%u,\"frees\":%" PRIu64
		    ",\"freed_bytes\":%" PRIu64 "}",
		    i ? "," : "", p->inherited[i].id, p->inherited[i].frees,
		    p->inherited[i].freed_bytes);
	(void)fputs("]", out);
}

static void
marks(FILE *out, const struct process *p)
{
	(void)fputs(",\"marks\":[", out);
	for (size_t i = 0; i < p->mark_count; i++) {
		const struct seg_mark *m = &p->marks[i];

		(void)fprintf(
		    out, "%s{\"sequence\":%" PRIu64, i ? "," : "", m->sequence);
		json_number(out, "kind", m->kind);
		json_text(out, "label", m->label);
		json_time(
		    out, "time", process_time_ns(p, m->tick) + m->after_ns);
		(void)putc('}', out);
	}
	(void)fputs("]", out);
}

static void
number_or_null(FILE *out, const char *name, bool known, int value)
{
	json_key(out, name);
	if (known)
		(void)fprintf(out, "%d", value);
	else
		(void)fputs("null", out);
}

static void
identity(FILE *out, const struct process *p)
{
	const struct seg_header *h = &p->header;

	(void)fprintf(out, "{\"pid\":%u,\"ppid\":%u", h->pid, h->ppid);
	json_hex(out, "uuid", h->uuid, sizeof(h->uuid));
	json_hex(out, "parent", h->parent_uuid, sizeof(h->parent_uuid));
	json_text(out, "exe", h->exe);
	json_text(out, "start_dir", h->start_dir[0] ? h->start_dir : NULL);
	command(out, h);
	json_boolean(out, "command_truncated", h->command_truncated != 0);
	json_time(out, "start", h->start_realtime_ns);
	json_number(out, "start_ns", h->start_realtime_ns);
	json_number(out, "duration_ms", p->duration_ns / 1000000);
	json_text(out, "end", words_end(p->end));
	number_or_null(out, "exit_status", p->exit_status >= 0, p->exit_status);
	number_or_null(out, "signal", p->signal > 0, p->signal);
	json_text(out, "mode", words_mode(h->mode));
	json_text(out, "state", words_state(h->state));
	json_text(out, "inert_reason",
	    h->state == SEG_INERT || h->inert_reason != SEG_INERT_NONE
	        ? losses_inert(h->inert_reason)
	        : NULL);
	if (h->inert_reason == SEG_INERT_PLACE)
		json_number(out, "place_owner", h->place_owner);
	json_number(out, "sample_bytes", h->sample_bytes);
	json_text(out, "medium", words_medium(h->medium));
	json_number(out, "first_id", h->first_id);
	json_text(out, "session", h->session);
	json_number(out, "sequence", h->sequence);
	json_number(out, "threads", h->threads);
	json_number(out, "max_frames", h->max_frames);
	json_boolean(out, "snapshot", p->is_snapshot);
	json_snapshot_of(out, h);
	json_boolean(out, "end_state", !p->is_unfinished);
	json_key(out, "as_of_us");
	if (p->is_unfinished)
		(void)fprintf(out, "%" PRIu64, p->as_of_us);
	else
		(void)fputs("null", out);
	json_text(out, "live_map", words_cross_check(p->live_map));
	json_time(out, "peak_time", process_time_ns(p, h->peak_tick));
	(void)fprintf(out,
	    ",\"tables\":{\"total_bytes\":%" PRIu64 ",\"used_bytes\":%" PRIu64
	    ",\"own_bytes\":%" PRIu64 "}",
	    h->total_bytes, h->used_bytes, h->own_bytes);
}

static int
process(FILE *out, const struct session *s, const struct process *p,
    struct names *names, const struct view_options *options, struct writer *w)
{
	struct view_options o = *options;
	struct courses courses;
	struct view *v;
	int err;

	o.only = p;
	o.group = o.merge = false;
	err = view_new(s, names, &o, &v);
	if (err < 0)
		return err;
	identity(out, p);
	lost(out, &p->header);
	totals(out, p);
	json_pools(out, p);
	modules(out, p);
	inherited(out, p);
	marks(out, p);
	course(out, "timeline", p->points, p->point_count);
	json_temporary(out, v);
	view_sum(out, "filtered", &v->filtered);
	view_sum(out, "suppressed", &v->suppressed);
	json_older_process(out, o.older, p);
	courses_init(&courses, s, p);
	err = sites(out, v, p, &courses, w);
	courses_release(&courses);
	view_free(v);
	(void)putc('}', out);
	return err;
}

/* What the processes have in common, site by site; null: not asked for. */
static int
merged(FILE *out, const struct session *s, struct names *names,
    const struct view_options *options, struct writer *w)
{
	struct courses none = {0};
	struct view *v;
	int err;

	json_key(out, "merged");
	if (!options->merge) {
		(void)fputs("null", out);
		return 0;
	}
	err = view_new(s, names, options, &v);
	if (err < 0)
		return err;
	(void)fputs("{\"schema\":1", out);
	json_temporary(out, v);
	view_sum(out, "chosen", &v->chosen);
	view_sum(out, "filtered", &v->filtered);
	view_sum(out, "suppressed", &v->suppressed);
	err = sites(out, v, NULL, &none, w);
	(void)putc('}', out);
	view_free(v);
	return err;
}

/* What is known of the run as a whole; null where it is no recording. */
static void
recording(FILE *out, const struct session *s)
{
	json_key(out, "recording");
	if (!s->line) {
		(void)fputs("null", out);
		return;
	}
	(void)fprintf(out,
	    "{\"start_ns\":%" PRIu64 ",\"until_us\":%" PRIu64 ",\"marks\":[",
	    s->start_ns, s->until_us);
	for (size_t i = 0; i < s->mark_count; i++) {
		const struct session_mark *m = &s->marks[i];

		(void)fprintf(out, "%s{\"time_us\":%" PRIu64 ",\"pid\":%u",
		    i ? "," : "", m->time_us, m->pid);
		json_text(out, "kind", words_mark(m->kind));
		json_text(out, "label", m->label);
		(void)putc('}', out);
	}
	(void)fputs("]}", out);
}

static void
notes(FILE *out, const struct session *s, const struct names *names)
{
	char *const *list;
	size_t n = names_notes(names, &list);

	(void)fputs(",\"notes\":[", out);
	for (size_t i = 0; i < s->note_count; i++) {
		if (i)
			(void)putc(',', out);
		json_string(out, s->notes[i]);
	}
	for (size_t i = 0; i < n; i++) {
		if (i || s->note_count)
			(void)putc(',', out);
		json_string(out, list[i]);
	}
	(void)putc(']', out);
}

/* What was not done for names; nothing where all was. */
static void
name_gaps(FILE *out, const struct names *names)
{
	struct names_gaps g;

	names_gaps(names, &g);
	if (g.late_frames == 0 && g.unconfined_modules == 0 &&
	    g.left_processes == 0)
		return;
	(void)fprintf(out,
	    ",\"names_missing\":{\"late_frames\":%zu,\"late_modules\":%zu,"
	    "\"unconfined_modules\":%zu,\"left_processes\":%zu}",
	    g.late_frames, g.late_modules, g.unconfined_modules,
	    g.left_processes);
}

/* What was beyond the bounds of the reader: usually nothing, and no key. */
static void
reader_lost(FILE *out, const struct session *s)
{
	const struct session_lost *l = &s->lost;

	if (!l->processes && !l->files && !l->marks && !l->points)
		return;
	(void)fprintf(out,
	    ",\"lost\":{\"processes\":%" PRIu64 ",\"files\":%" PRIu64
	    ",\"marks\":%" PRIu64 ",\"points\":%" PRIu64 "}",
	    l->processes, l->files, l->marks, l->points);
}

int
json_write(FILE *out, const struct session *s, struct names *names,
    const struct view_options *options, const char *version)
{
	struct json_form whole = {0};

	return json_write_form(out, s, names, options, version, &whole);
}

int
json_write_form(FILE *out, const struct session *s, struct names *names,
    const struct view_options *options, const char *version,
    struct json_form *form)
{
	static const struct view_options all;
	struct writer w = {0};
	struct view_options o = options ? *options : all;
	const char *comma = "";
	int err = 0;

	if (form->shared && json_table_new(&w.table) < 0)
		return -ENOMEM;
	w.older = o.older;
	o.metric = VIEW_ALL;
	o.all_kinds = true;
	o.keep_suppressed = true;
	(void)fprintf(out, "{\"schema\":%d", JSON_SCHEMA);
	json_text(out, "seep", version);
	json_boolean(out, "complete", !s->is_truncated);
	if (s->early_exec.processes > 0)
		(void)fprintf(out,
		    ",\"early_exec\":{\"processes\":%" PRIu64
		    ",\"allocations\":%" PRIu64 ",\"allocated_bytes\":%" PRIu64
		    "}",
		    s->early_exec.processes, s->early_exec.allocations,
		    s->early_exec.allocated_bytes);
	reader_lost(out, s);
	recording(out, s);
	json_snapshots(out, s);
	(void)fputs(",\"processes\":[", out);
	for (size_t i = 0; i < s->count && !ferror(out) && err == 0; i++) {
		const struct process *p = s->processes[i];

		if (o.pid != VIEW_ANY && p->header.pid != o.pid)
			continue;
		(void)fputs(comma, out);
		comma = ",";
		err = process(out, s, p, names, &o, &w);
	}
	(void)putc(']', out);
	if (err == 0)
		err = merged(out, s, names, &o, &w);
	if (err == 0 && w.table)
		json_table_put(out, w.table);
	json_table_free(w.table);
	if (err < 0)
		return err;
	form->bytes = w.bytes;
	notes(out, s, names);
	name_gaps(out, names);
	(void)fputs("}\n", out);
	return ferror(out) ? -EIO : 0;
}
