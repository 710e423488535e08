/* workloads.h - simulated call stacks of a server, benign ones and leaks, over 48 h. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_TESTS_WORKLOADS_H
#define SEEP_TESTS_WORKLOADS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The workloads of the research behind the score: 21 that are no leaks and 12
 * leaks. Rates, sizes and lifetimes are multiplied by 0.5 to 2, by chance, so
 * two seeds give different programs. docs/SCORE.md lists them.
 */
enum { WORKLOADS = 33, WORKLOADS_HOURS = 48 };

#define WORKLOADS_NEVER UINT32_MAX

/* Ticks of a tenth of a second since the start of the program. */
struct workloads_block {
	uint32_t birth, death; /* or WORKLOADS_NEVER */
};

struct workloads_site {
	struct workloads_block *blocks; /* by birth; for free() */
	size_t count, room;
	uint32_t *moves; /* calls of realloc for the first block; for free() */
	size_t move_count;
	uint32_t size; /* of a block */
};

const char *workloads_name(int kind);
bool workloads_is_leak(int kind);

/*
 * The seed makes the program, and `life` what happens to it each time it runs.
 * Out of memory ends the test program.
 */
void workloads_make(int kind, uint64_t seed, uint64_t life, struct workloads_site *ret);
void workloads_release(struct workloads_site *s);

/*
 * Writes a segment of a process that exits at `tick` with these sites, as the
 * collector does, in the order of `sites`; for mkseg_load() or mkseg_finish().
 */
struct mkseg;
struct mkseg *workloads_segment(const struct workloads_site *sites, size_t count, uint32_t tick);

#endif
