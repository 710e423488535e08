/* tally_json.c - what the runs of all allocators took, as JSON. */
/* SPDX-License-Identifier: Apache-2.0 */

#include "print/json/report_json.h"
#include "replay/trial.h"
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

static void put_row(struct json *out, const struct tally *t, const struct tally_row *r)
{
	const struct allocator *a = r->allocator;

	json_object(out, NULL);
	json_text(out, "name", a->name);
	json_text(out, "library", a->library);
	json_text(out, "tunables", a->tunables[0] ? a->tunables : NULL);
	json_number(out, "runs", r->runs);
	json_text(out, "failure", r->failure[0] ? r->failure : NULL);
	json_number(out, "refused_allocations", r->refused);
	json_fraction_or_null(out, "peak_rss_over_peak_live",
	    r->runs > 0 && t->facts.peak_bytes > 0, 4,
	    (double)tally_spread(r, TALLY_PEAK).median / (double)t->facts.peak_bytes);
	for (int k = 0; k < TALLY_FIGURES; k++) {
		struct tally_spread s = tally_spread(r, (enum tally_figure)k);

		json_key(out, keys[k]);
		if (r->runs == 0) {
			json_null(out, NULL);
			continue;
		}
		json_object(out, NULL);
		json_number(out, "median", s.median);
		json_number(out, "lowest", s.low);
		json_number(out, "highest", s.high);
		json_numbers(out, "all", r->values[k], r->runs);
		json_end(out);
	}
	json_end(out);
}

static void put_log(struct json *out, const struct compose_facts *f)
{
	JSON_OBJECT(out, "log", {"allocations", f->allocations}, {"frees", f->frees},
	    {"reallocs", f->reallocs}, {"threads", f->threads}, {"threads_at_once", f->at_once},
	    {"duration_ms", f->ticks * (LOG_TICK_NS / MS_NS)}, {"peak_live_bytes", f->peak_bytes},
	    {"peak_live_blocks", f->peak_blocks}, {"end_live_bytes", f->end_bytes},
	    {"end_live_blocks", f->end_blocks});
	JSON_OBJECT(out, "left_out", {"lost_events", f->lost}, {"unknown_frees", f->unknown},
	    {"inherited_frees", f->inherited}, {"large_allocations", f->too_large});
	json_number(out, "guessed_alignments", f->alignments);
	json_number(out, "sharing_threads", f->sharing);
}

void tally_json(FILE *out, const struct tally *t, const char *version)
{
	struct json to = json_begin(out, version);

	json_number(&to, "pid", t->pid);
	json_text(&to, "program", t->program);
	json_number(&to, "processes", t->processes);
	json_text(&to, "speed", t->as_recorded ? "as-recorded" : "as-fast");
	json_number(&to, "runs", t->runs);
	put_log(&to, &t->facts);
	json_number(&to, "replay_own_bytes", t->own_bytes);
	json_list(&to, "allocators");
	for (size_t i = 0; i < t->count; i++)
		put_row(&to, t, &t->rows[i]);
	json_end(&to);
	json_list(&to, "not_known");
	json_text(&to, NULL, "pages");
	json_text(&to, NULL, "contents");
	json_text(&to, NULL, "timing");
	json_text(&to, NULL, "caches");
	(void)json_finish(&to, 0);
}
