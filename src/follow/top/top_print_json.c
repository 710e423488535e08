/* top_print_json.c - a look of top as JSON. */
/* SPDX-License-Identifier: Apache-2.0 */

#include "print/json/report_json.h"
#include "print/json/processes.h"
#include "segments/read/losses.h"
#include "view/sites/enum_words.h"
#include "follow/top/top_print.h"
#include "kit/os/clock.h"
#include "kit/json/json_put.h"

static const char *end_word(const struct engine_process *p)
{
	if (p->state == LIVE_RUNS)
		return enum_words_end(PROCESS_RUNNING);
	if (p->state == LIVE_OUT_OF_SIGHT)
		return enum_words_end(PROCESS_UNKNOWN);
	switch (p->cause) {
	case LIVE_CAUSE_EXIT:
		return enum_words_end(PROCESS_EXITED);
	case LIVE_CAUSE_SIGNAL:
	case LIVE_CAUSE_OOM:
		return enum_words_end(PROCESS_KILLED);
	case LIVE_CAUSE_EXEC:
		return enum_words_end(PROCESS_EXEC);
	case LIVE_CAUSE_UNKNOWN:
		break;
	}
	return enum_words_end(PROCESS_GONE);
}

static void put_identity(
    struct json *out, const struct engine_process *p, const struct board_process *row)
{
	const struct seg_header *h = &p->header;
	char cause[BOARD_SENTENCE];
	bool has_ended = p->state == LIVE_ENDED;

	json_object(out, NULL);
	json_number(out, "pid", (uint64_t)(int)(p->pid ? p->pid : p->inner_pid));
	json_number(out, "inner_pid", (uint64_t)p->inner_pid);
	json_boolean(out, "visible", p->state != LIVE_OUT_OF_SIGHT);
	json_boolean(out, "silent", p->is_silent);
	json_hex(out, "uuid", h->uuid, sizeof(h->uuid));
	json_number(out, "uid", p->uid);
	json_text(out, "exe", h->exe);
	json_text(out, "program", p->program);
	json_text(out, "service", p->service);
	json_text(out, "service_is",
	    p->has_unit            ? "unit"
	        : p->has_container ? "container"
	                           : "program");
	json_processes_command(out, h);
	json_time(out, "start", h->start_realtime_ns);
	json_number(out, "start_ns", h->start_realtime_ns);
	json_number(out, "duration_ms", row->age_ns / 1000000);
	json_text(out, "end", end_word(p));
	json_number_or_null(out, "exit_status",
	    has_ended && p->cause == LIVE_CAUSE_EXIT && p->cause_number >= 0,
	    (uint64_t)p->cause_number);
	json_number_or_null(
	    out, "signal", has_ended && p->cause == LIVE_CAUSE_SIGNAL, (uint64_t)p->cause_number);
	if (has_ended && p->cause == LIVE_CAUSE_OOM)
		json_boolean(out, "out_of_memory", true);
	json_text(out, "cause", has_ended ? board_cause(cause, row) : NULL);
	json_text(out, "mode", enum_words_mode(h->mode));
	json_text(out, "state", enum_words_state(h->state));
	json_text(out, "inert_reason",
	    h->state == SEG_INERT || h->inert_reason != SEG_INERT_NONE
	        ? losses_inert(h->inert_reason)
	        : NULL);
	json_processes_place(out, h);
	json_number(out, "sample_bytes", h->sample_bytes);
}

static void put_totals(struct json *out, const struct engine_process *p)
{
	const struct engine_totals *t = &p->now;

	JSON_OBJECT(out, "totals", {"allocations", t->allocations},
	    {"allocated_bytes", t->allocated_bytes}, {"frees", t->frees},
	    {"freed_bytes", t->freed_bytes}, {"live_blocks", t->live_blocks},
	    {"live_bytes", t->live_bytes}, {"peak_bytes", t->peak_bytes});
}

static void put_rates(struct json *out, const struct board_process *row)
{
	json_signed(out, "since_bytes", row->since_bytes);
	json_fraction_or_null(out, "growth_per_second", row->has_rates, 1, row->growth);
	json_fraction_or_null(
	    out, "allocations_per_second", row->has_rates, 1, row->allocations_rate);
	json_fraction_or_null(out, "frees_per_second", row->has_rates, 1, row->frees_rate);
	json_number_or_null(out, "rss_bytes", row->now.resident > 0, row->now.resident);
	json_number_or_null(out, "limit_bytes", row->limit > 0, row->limit);
	json_number_or_null(out, "used_bytes", row->used > 0, row->used);
	json_number(out, "site_ids", row->sites);
}

static void put_site(struct json *out, const struct focus_site *s)
{
	json_object(out, NULL);
	json_number(out, "id", s->id);
	json_text(out, "api", s->is_named ? enum_words_api(s->api) : NULL);
	json_number(out, "allocations", s->allocations);
	json_number(out, "allocated_bytes", s->allocated_bytes);
	json_number(out, "frees", s->frees);
	json_number(out, "freed_bytes", s->freed_bytes);
	json_number(out, "live_blocks", s->live_blocks);
	json_number(out, "live_bytes", s->live_bytes);
	json_signed(out, "since_bytes", s->since_bytes);
	json_fraction_or_null(out, "growth_per_second", s->has_rates, 1, s->growth);
	json_fraction_or_null(out, "allocations_per_second", s->has_rates, 1, s->allocations_rate);
	json_text(out, "function", s->function);
	json_text(out, "file", s->file);
	json_number_or_null(out, "line", s->line > 0, s->line);
	json_text(out, "module", s->module);
	json_number_or_null(out, "offset", s->is_named, s->offset);
	json_end(out);
}

/* The sites that the filters choose; null if they are not looked at. */
static void put_sites(struct json *out, const struct pages_plan *plan, struct focus *f)
{
	struct focus_site *rows;
	size_t count;

	json_key(out, "sites");
	if (!f) {
		json_null(out, NULL);
		return;
	}
	rows = focus_rows(f, &count);
	fields_sort_sites(rows, count, &plan->order);
	json_list(out, NULL);
	for (size_t i = 0; i < count; i++) {
		if (!rows[i].is_chosen)
			continue;
		put_site(out, &rows[i]);
	}
	json_end(out);
}

int top_print_json(struct engine *l, const struct pages_plan *plan, struct focus *const *focus,
    size_t count, uint64_t look)
{
	struct json to;
	uint64_t boot_ns = clock_ns(CLOCK_BOOTTIME);
	uint64_t now_ns = clock_ns(CLOCK_REALTIME);
	const struct engine_missing missing = engine_missing(l);

	to = json_begin(plan->out, plan->version);
	json_number(&to, "look", look);
	json_time(&to, "time", now_ns);
	json_number(&to, "time_ns", now_ns);
	json_number(&to, "interval_ms", plan->interval_ns / 1000000);
	json_list(&to, "processes");
	for (size_t i = 0; i < engine_count(l); i++) {
		const struct engine_process *p = engine_at(l, i);
		struct board_process row;
		struct focus *f = NULL;

		for (size_t k = 0; k < count; k++)
			if (focus_number(focus[k]) == p->number)
				f = focus[k];
		board_process_of(p, boot_ns, &row);
		put_identity(&to, p, &row);
		json_processes_counts(&to, "lost", &p->header, LOSSES_LOSS);
		put_totals(&to, p);
		put_rates(&to, &row);
		put_sites(&to, plan, f);
		json_end(&to);
	}
	json_end(&to);
	JSON_OBJECT(&to, "lost", {"processes", missing.processes}, {"files", missing.files});
	(void)json_finish(&to, 0);
	return 0;
}
