/* log_json.c - what only an event log knows, as JSON. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "print/json/log_json.h"

#include "format/seg_log.h"
#include "kit/data/capped.h"
#include "kit/json/json_put.h"

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
