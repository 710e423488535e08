/* hanging.h - lines behind a word: all but the first are indented. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_HANGING_H
#define SEEP_HANGING_H

#include <stdbool.h>

#include "print/text/layout.h"

enum { HANGING_INDENT = 9 }; /* columns of "LEAK" and "POSSIBLE" */

/* Text that is written to page.out is printed wrapped and indented. */
struct hanging {
	struct layout page; /* .out is a buffer */
	char *text;
	size_t len;
};

/* False: out of memory; nothing is to be ended then. */
bool hanging_begin(const struct layout *p, struct hanging *h);

/*
 * Prints the lines; `head`, which fills the indentation, comes before the
 * first. NULL: none.
 */
void hanging_end(const struct layout *p, struct hanging *h, const char *head);

#endif
