/* tally.c - what the runs of all allocators took: medians and intervals. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/trial.h"

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
