/* heaptrack_plan.h - events that have the outcome of a site's figures. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_EXPORT_HEAPTRACK_PLAN_H
#define SEEP_EXPORT_HEAPTRACK_PLAN_H

#include "reader/process.h"

struct heaptrack_group {
	uint64_t blocks, bytes;
};

/*
 * The blocks of a site in four groups: there at the peak and at the end, there
 * at the peak only, at the end only, at neither. The first two together are
 * its share of the peak, the first and the third what lives, all four what was
 * allocated; a group without blocks has no bytes. Where figures cannot stand
 * together (they are estimates, or were read from a running process) the peak
 * and the living still come out, and allocations may not.
 */
struct heaptrack_plan {
	struct heaptrack_group both, peak, end, neither;
};

void heaptrack_plan(
    const struct process_figures *f, struct heaptrack_plan *ret);

#endif
