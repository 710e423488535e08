/* tally_json.c - what the runs of all allocators took, as JSON. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>

#include "print/json/report_json.h"
#include "replay/tally.h"
#include "format/seg_log.h"
#include "kit/json/json_put.h"

enum { MS_NS = 1000000 };

static const char *const keys[TALLY_FIGURES] = {
    [TALLY_PEAK] = "peak_rss_bytes",
    [TALLY_FINAL] = "final_rss_bytes",
    [TALLY_CPU] = "cpu_ns",
    [TALLY_USER] = "user_ns",
    [TALLY_SYSTEM] = "system_ns",
    [TALLY_WALL] = "wall_ns",
    [TALLY_FAULTS] = "page_faults",
    [TALLY_MINOR] = "minor_faults",
    [TALLY_MAJOR] = "major_faults",
};

static void put_row(FILE *out, const struct tally *t, const struct tally_row *r)
{
	const struct allocator *a = r->allocator;

	(void)fputs("{\"name\":", out);
	json_string(out, a->name);
	json_text(out, "library", a->library);
	json_text(out, "tunables", a->tunables[0] ? a->tunables : NULL);
	json_number(out, "runs", r->runs);
	json_text(out, "failure", r->failure[0] ? r->failure : NULL);
	json_number(out, "refused_allocations", r->refused);
	json_key(out, "peak_rss_over_peak_live");
	if (r->runs > 0 && t->facts.peak_bytes > 0)
		(void)fprintf(out, "%.4f",
		    (double)tally_spread(r, TALLY_PEAK).median / (double)t->facts.peak_bytes);
	else
		(void)fputs("null", out);
	for (int k = 0; k < TALLY_FIGURES; k++) {
		struct tally_spread s = tally_spread(r, (enum tally_figure)k);

		json_key(out, keys[k]);
		if (r->runs == 0) {
			(void)fputs("null", out);
			continue;
		}
		(void)fprintf(out,
		    "{\"median\":%" PRIu64 ",\"lowest\":%" PRIu64 ",\"highest\":%" PRIu64, s.median,
		    s.low, s.high);
		json_list(out, "all", r->values[k], r->runs);
		(void)putc('}', out);
	}
	(void)putc('}', out);
}

static void put_log(FILE *out, const struct compose_facts *f)
{
	json_key(out, "log");
	(void)fprintf(out, "{\"allocations\":%" PRIu64, f->allocations);
	json_number(out, "frees", f->frees);
	json_number(out, "reallocs", f->reallocs);
	json_number(out, "threads", f->threads);
	json_number(out, "threads_at_once", f->at_once);
	json_number(out, "duration_ms", f->ticks * (LOG_TICK_NS / MS_NS));
	json_number(out, "peak_live_bytes", f->peak_bytes);
	json_number(out, "peak_live_blocks", f->peak_blocks);
	json_number(out, "end_live_bytes", f->end_bytes);
	json_number(out, "end_live_blocks", f->end_blocks);
	(void)putc('}', out);
	json_key(out, "left_out");
	(void)fprintf(out, "{\"lost_events\":%" PRIu64, f->lost);
	json_number(out, "unknown_frees", f->unknown);
	json_number(out, "inherited_frees", f->inherited);
	json_number(out, "large_allocations", f->too_large);
	(void)putc('}', out);
	json_number(out, "guessed_alignments", f->alignments);
	json_number(out, "sharing_threads", f->sharing);
}

void tally_json(FILE *out, const struct tally *t, const char *version)
{
	(void)fprintf(out, "{\"schema\":%d", JSON_SCHEMA);
	json_text(out, "seep", version);
	json_number(out, "pid", t->pid);
	json_text(out, "program", t->program);
	json_number(out, "processes", t->processes);
	json_text(out, "speed", t->as_recorded ? "as-recorded" : "as-fast");
	json_number(out, "runs", t->runs);
	put_log(out, &t->facts);
	json_number(out, "replay_own_bytes", t->own_bytes);
	json_key(out, "allocators");
	for (size_t i = 0; i < t->count; i++) {
		(void)putc(i ? ',' : '[', out);
		put_row(out, t, &t->rows[i]);
	}
	(void)fputs("],\"not_known\":[\"pages\",\"contents\",\"timing\","
	            "\"caches\"]}\n",
	    out);
}
