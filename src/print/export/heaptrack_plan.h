/* heaptrack_plan.h - invents events that add up to a site's figures. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_HEAPTRACK_PLAN_H
#define SEEP_HEAPTRACK_PLAN_H

#include "session/process/process.h"

struct heaptrack_group {
	uint64_t blocks, bytes;
};

/*
 * The blocks of a site in four groups: live at the peak and at the end, at the
 * peak only, at the end only, at neither. The first two together are its share
 * of the peak, the first and the third are live at the end, all four are all
 * allocations; a group without blocks has no bytes. If figures contradict each
 * other (they are estimates, or were read from a running process), peak and
 * live figures are still right, and allocations may not be.
 */
struct heaptrack_plan {
	struct heaptrack_group both, peak, end, neither;
};

void heaptrack_plan(const struct process_figures *f, struct heaptrack_plan *ret);

#endif
