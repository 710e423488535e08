/* tally.c - what the runs of all allocators took: medians and intervals. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/trial.h"

#include "format/seg_log.h"
#include "kit/json/json_put.h"
#include "print/json/report_json.h"

int tally_init(struct tally *t, const struct allocators *a, unsigned runs)
{
	t->rows = calloc(a->count, sizeof(*t->rows));
	if (!t->rows)
		return -ENOMEM;
	t->count = a->count;
	t->runs = runs;
	for (size_t i = 0; i < a->count; i++) {
		t->rows[i].allocator = &a->all[i];
		for (int k = 0; k < TALLY_FIGURES; k++) {
			t->rows[i].values[k] = calloc(runs, sizeof(uint64_t));
			if (!t->rows[i].values[k])
				return -ENOMEM;
		}
	}
	return 0;
}

void tally_release(struct tally *t)
{
	for (size_t i = 0; i < t->count; i++)
		for (int k = 0; k < TALLY_FIGURES; k++)
			free(t->rows[i].values[k]);
	free(t->rows);
	*t = (struct tally){0};
}

static void explain(char *to, size_t bytes, const struct trial_outcome *o)
{
	const char *name;

	switch (o->end) {
	case TRIAL_SIGNAL:
		name = sigabbrev_np(o->detail);
		(void)snprintf(
		    to, bytes, "ended by signal %d (SIG%s)", o->detail, name ? name : "");
		break;
	case TRIAL_STALLED:
		(void)snprintf(to, bytes, "stood still, and was ended");
		break;
	case TRIAL_MEMORY:
		(void)snprintf(to, bytes, "needed more memory than is free here, and was ended");
		break;
	default:
		(void)snprintf(
		    to, bytes, "failed: %s", o->detail ? strerror(o->detail) : "no result");
		break;
	}
}

static uint64_t less(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

void tally_add(struct tally *t, size_t row, const struct trial_outcome *o)
{
	const struct script_result *s = &o->result;
	struct tally_row *r = &t->rows[row];
	const uint64_t values[TALLY_FIGURES] = {[TALLY_PEAK] = less(s->peak_bytes, t->own_bytes),
	    [TALLY_FINAL] = less(s->final_bytes, t->own_bytes),
	    [TALLY_CPU] = s->user_ns + s->system_ns,
	    [TALLY_USER] = s->user_ns,
	    [TALLY_SYSTEM] = s->system_ns,
	    [TALLY_WALL] = s->wall_ns,
	    [TALLY_FAULTS] = s->minor_faults + s->major_faults,
	    [TALLY_MINOR] = s->minor_faults,
	    [TALLY_MAJOR] = s->major_faults};

	if (r->failure[0] || r->runs >= t->runs)
		return;
	if (o->end != TRIAL_DONE) {
		explain(r->failure, sizeof(r->failure), o);
		return;
	}
	for (int k = 0; k < TALLY_FIGURES; k++)
		r->values[k][r->runs] = values[k];
	r->runs++;
	r->refused = s->refused;
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

struct tally_spread tally_spread(const struct tally_row *r, enum tally_figure figure)
{
	uint64_t sorted[TALLY_RUNS_MAX];
	size_t n = r->runs < TALLY_RUNS_MAX ? r->runs : TALLY_RUNS_MAX;

	if (n == 0)
		return (struct tally_spread){0};
	memcpy(sorted, r->values[figure], n * sizeof(sorted[0]));
	qsort(sorted, n, sizeof(sorted[0]), by_value);
	return (struct tally_spread){.low = sorted[0],
	    .median = sorted[(n - 1) / 2] / 2 + sorted[n / 2] / 2 +
	        (sorted[(n - 1) / 2] & sorted[n / 2] & 1),
	    .high = sorted[n - 1]};
}

static int by_peak(const void *a, const void *b)
{
	const struct tally_row *x = a, *y = b;
	uint64_t p = tally_spread(x, TALLY_PEAK).median;
	uint64_t q = tally_spread(y, TALLY_PEAK).median;

	if ((x->runs == 0) != (y->runs == 0))
		return x->runs == 0 ? 1 : -1;
	return p != q ? (p > q) - (p < q) : strcmp(x->allocator->name, y->allocator->name);
}

void tally_sort(struct tally *t)
{
	qsort(t->rows, t->count, sizeof(*t->rows), by_peak);
}

/* ---- tally_json: what the runs of all allocators took, as JSON ---- */

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
