/* callers.h - sums up the sites of a process by allocating code addresses. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_CALLERS_H
#define SEEP_CALLERS_H

#include <stdio.h>

#include "view/sites/view.h"

/* All sites whose innermost code addresses are the same. */
struct callers_row {
	const struct view_site *site; /* one of them */
	uint32_t frame_count;         /* of the site's frames: those of the addresses */
	struct view_figures figures;
	uint64_t size_min, size_max; /* of blocks; 0, 0: not known */
};

struct callers {
	struct callers_row *rows; /* most live bytes first */
	size_t count;
};

/*
 * By `depth` addresses, of the process with that number. The view is neither
 * grouped nor folded. -ENOMEM.
 */
int callers_init(struct callers *c, const struct view *v, uint32_t process, unsigned depth);

void callers_release(struct callers *c);

/* "libfoo.so+1b746e", as addr2line takes it after the plus. */
void callers_address(FILE *out, const struct view *v, const struct callers_row *row);

/* The address in the memory of the process. */
uint64_t callers_absolute(const struct view *v, const struct callers_row *row, uint32_t process);

/*
 * "f at a.c:3 (inlined by) g at b.c:9", as addr2line -pif prints it; " <- "
 * between addresses.
 */
void callers_location(FILE *out, const struct view *v, const struct callers_row *row);

/* "# program (pid 12)" and a newline, if the view has several processes. */
void callers_heading(FILE *out, const struct view *v, uint32_t process);

/* Does the view have the process with this number of the session? */
bool callers_has(const struct view *v, uint32_t process);

#endif
