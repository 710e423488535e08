/* tree_print.h - prints a view as a tree. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_TREE_PRINT_H
#define SEEP_TREE_PRINT_H

#include "print/text/layout.h"
#include "view/sites/tree.h"

struct tree_print_options {
	struct tree_options tree;
	unsigned top;     /* branches at the root, 0: all */
	double threshold; /* percent of the whole */
	bool with_holds;  /* columns for resident pages */
};

/*
 * Prints functions that allocate (or, top down, where everything starts), and
 * below them their callers (or callees), indented further at each fork. Says
 * what it leaves out. -ENOMEM.
 */
int tree_print_write(
    const struct layout *p, struct view *v, const struct tree_print_options *options);

#endif
