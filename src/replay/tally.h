/* tally.h - what the runs of all allocators took: medians and intervals. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_TALLY_H
#define SEEP_TALLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "replay/allocator.h"
#include "replay/compose.h"
#include "replay/trial.h"

enum tally_figure {
	TALLY_PEAK,  /* bytes: resident memory of the allocator */
	TALLY_FINAL, /* the same at the end */
	TALLY_CPU,   /* ns: the sum of the next two */
	TALLY_USER,
	TALLY_SYSTEM,
	TALLY_WALL,
	TALLY_FAULTS, /* pages: the sum of the next two */
	TALLY_MINOR,
	TALLY_MAJOR,
	TALLY_FIGURES,
};

enum { TALLY_RUNS_MAX = 1000 };

struct tally_row {
	const struct allocator *allocator;
	uint64_t *values[TALLY_FIGURES]; /* of each run */
	size_t runs;
	uint64_t refused;  /* allocations that it refused, in the last run */
	char failure[128]; /* why there are no more runs; "": there are all */
};

struct tally {
	struct compose_facts facts;
	uint32_t pid;
	const char *program; /* NULL: not known */
	uint64_t processes;  /* that have events in this input */
	bool as_recorded;
	unsigned runs;      /* that were asked for */
	uint64_t own_bytes; /* what the performer needs itself */
	struct tally_row *rows;
	size_t count;
};

/* Rows for these allocators, without runs. -ENOMEM. */
int tally_init(struct tally *t, const struct allocators *a, unsigned runs);
void tally_release(struct tally *t);

/* Adds a run, or the reason why there is none. */
void tally_add(struct tally *t, size_t row, const struct trial_outcome *o);

/* The order of reports: by the median of the peak, without runs at the end. */
void tally_sort(struct tally *t);

/* The lowest, median and highest of all runs. */
struct tally_spread {
	uint64_t low, median, high;
};
struct tally_spread tally_spread(const struct tally_row *r, enum tally_figure figure);

/* As text for people, and as JSON; foreign text is escaped. */
void tally_text(FILE *out, const struct tally *t);
void tally_json(FILE *out, const struct tally *t, const char *version);

#endif
