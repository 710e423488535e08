/* branches.h - prints a view as a tree. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_REPORT_BRANCHES_H
#define SEEP_REPORT_BRANCHES_H

#include "report/page.h"
#include "report/tree.h"

struct branches_options {
	struct tree_options tree;
	unsigned top;     /* branches at the root, 0: all */
	double threshold; /* percent of the whole */
};

/*
 * A function that allocates, or where everything starts, and then, a step
 * further right for every fork, its callers, or callees. Says what it leaves
 * out. -ENOMEM.
 */
int branches_write(const struct page *p, struct view *v,
    const struct branches_options *options);

#endif
