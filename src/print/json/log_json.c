/* log_json.c - what only an event log knows, as JSON. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "print/json/json_parts.h"

#include "format/seg_log.h"
#include "kit/data/capped.h"
#include "kit/json/json_put.h"
#include "print/text/report_text.h"
#include "session/process/live_ages.h"
#include "view/sites/enum_words.h"

enum { MS_PER_TICK = LOG_TICK_NS / 1000000 };

void log_json_process(struct json *out, const struct process *p)
{
	const struct process_log *log = &p->log;

	if (!log->is_read)
		return;
	json_object(out, "log");
	json_number(out, "lost_events", log->lost);
	json_number(out, "lost_events_later", log->lost_later);
	json_number_or_null(out, "at_ms", log->has_moment, log->at_ms);
	json_end(out);
}

/* Quartiles times `unit`, and counts by doublings without zeros at the end. */
static void put_counts(struct json *out, const struct lifetimes_counts *c, uint64_t unit)
{
	uint64_t classes[LIFETIMES_CLASSES];
	size_t count = LIFETIMES_CLASSES;

	lifetimes_classes(c, classes);
	while (count > 0 && classes[count - 1] == 0)
		count--;
	json_object(out, NULL);
	json_key(out, "quartiles");
	if (c->sum == 0)
		json_null(out, NULL);
	else {
		json_list(out, NULL);
		json_number(out, NULL, lifetimes_percentile(c, 25) * unit);
		json_number(out, NULL, lifetimes_percentile(c, 50) * unit);
		json_number(out, NULL, lifetimes_percentile(c, 75) * unit);
		json_end(out);
	}
	json_numbers(out, "counts", classes, count);
	json_end(out);
}

void log_json_site(struct json *out, const struct view *v, const struct view_site *s)
{
	const struct lifetimes_site *x;

	if (!v->lifetimes || s->process == VIEW_MERGED || s->count != 1)
		return;
	x = lifetimes_site(v->lifetimes, s->process, s->site);
	json_object(out, "lifetimes");
	json_number(out, "freed", x->freed);
	json_number(out, "resized", x->resized);
	json_number(out, "freed_by_other_threads", capped_difference(x->freed, x->between.sum));
	json_key(out, "ms");
	put_counts(out, &x->ticks, MS_PER_TICK);
	json_key(out, "allocations_between");
	put_counts(out, &x->between, 1);
	json_end(out);
}

/* ---- json_older: blocks above some age, as JSON ---- */

enum { NS_PER_MS = 1000000 };

void json_older_process(struct json *out, const struct older *o, const struct process *p)
{
	struct older_about a;

	if (!o)
		return;
	older_about(o, p, &a);
	json_object(out, "older");
	json_number(out, "asked_ms", a.asked_ns / NS_PER_MS);
	json_number(out, "than_ms", a.age_ns / NS_PER_MS);
	json_boolean(out, "exact", a.is_exact);
	json_boolean(out, "sampled", a.is_sampled);
	json_boolean(out, "bytes_shared_out", a.is_shared);
	json_number(out, "blocks", a.sum.blocks);
	json_number(out, "bytes", a.sum.bytes);
	json_number(out, "unknown_sites", a.unknown_sites);
	json_number(out, "unknown_blocks", a.sum.unknown_blocks);
	json_number(out, "unknown_bytes", a.sum.unknown_bytes);
	json_end(out);
}

/* ---- mappings_json: mappings by caller as JSON ---- */

static void put_figures(struct json *out, const struct process_figures *f)
{
	json_number(out, "bytes", f->live_bytes);
	json_number(out, "ranges", f->live_blocks);
	json_number(out, "mapped_ranges", f->allocations);
	json_number(out, "mapped_bytes", f->allocated_bytes);
	json_number(out, "unmapped_ranges", f->frees);
	json_number(out, "unmapped_bytes", f->freed_bytes);
}

static int one(struct json *out, const struct process *p, const struct view_site *s,
    struct frames_table *frames)
{
	const struct mapped_site *now = mappings_text_resident(p, s);
	int err;

	json_object(out, NULL);
	json_number(out, "id", s->id);
	json_text(out, "class", mappings_text_is_allocators(p, s) ? "allocator" : "caller");
	put_figures(out, &s->figures.all);
	json_number_or_null(out, "resident_bytes", now, now ? now->resident_bytes : 0);
	json_number_or_null(out, "swapped_bytes", now, now ? now->swapped_bytes : 0);
	json_number(out, "size_min", s->size_min);
	json_number(out, "size_max", s->size_max);
	json_time(out, "first_time", s->first_ns);
	json_time(out, "last_time", s->last_ns);
	json_text(out, "stack", enum_words_stack(s->stack_flags));
	err = frames_table_put(out, frames, s);
	json_end(out);
	return err;
}

static void sums(struct json *out, const struct process *p)
{
	const struct mapped *m = p->resident;
	uint64_t resident = 0, swapped = 0;

	for (size_t i = 0; m && i < m->count; i++) {
		resident += m->sites[i].resident_bytes;
		swapped += m->sites[i].swapped_bytes;
	}
	json_number_or_null(out, "resident_bytes", m, resident);
	json_number_or_null(out, "swapped_bytes", m, swapped);
	json_boolean(out, "resident_partial", m && m->is_partial);
}

int json_mappings(struct json *out, const struct session *s, const struct process *p,
    struct names *names, const struct view_options *options, struct json_writer *w)
{
	struct view_options o = *options;
	struct frames_table *frames = NULL;
	struct view *v;
	int err;

	if (!mappings_text_has(p))
		return 0;
	o.only = p;
	o.mappings = true;
	o.metric = VIEW_ALL;
	o.group = o.merge = false;
	err = view_new(s, names, &o, &v);
	if (err < 0)
		return err;
	err = frames_table_new(v, w->table, &frames);
	if (err == 0) {
		json_object(out, "mappings");
		json_number(out, "sites", v->site_count);
		put_figures(out, &p->mapped);
		sums(out, p);
		json_rows(out, "callers");
	}
	for (size_t i = 0; i < v->site_count && !ferror(out->file) && err == 0; i++)
		err = one(out, p, &v->sites[i], frames);
	if (err == 0) {
		json_end(out);
		json_end(out);
	}
	frames_table_free(frames);
	view_free(v);
	return err;
}
