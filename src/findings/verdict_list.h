/* verdict_list.h - the sites of a process that have verdicts. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_VERDICT_LIST_H
#define SEEP_VERDICT_LIST_H

#include "view/sites/verdict.h"
#include "view/sites/view.h"

struct verdict_line {
	uint32_t class;           /* enum verdict_class */
	struct verdict_part part; /* of that class */
	bool is_inherited;        /* its blocks are older than the process */
	const struct view *view;  /* NULL: the stack is not in the session */
	const struct view_site *site;
};

struct verdict_sum {
	uint64_t places, blocks, bytes;
};

/* Sums of one class: what is shown, and what is not. */
struct verdict_sums {
	struct verdict_sum shown, suppressed, filtered;
};

struct verdict_list {
	struct verdict_line *lines; /* LEAK first, then by bytes */
	size_t count;
	struct verdict_sums leak, possible;
	struct view **views; /* of the process, then of its ancestors */
	size_t view_count;
};

/*
 * Sites of p, and of its ancestors whose blocks it has inherited, selected and
 * shaped by options (metric and figures do not matter). Empty if p is not
 * judged. -ENOMEM.
 */
int verdict_list_make(const struct session *s, const struct process *p, struct names *names,
    const struct view_options *options, struct verdict_list *ret);
void verdict_list_release(struct verdict_list *l);

/*
 * Only the sums, of the sites of p in a view, where p has number `process`;
 * what p inherited counts as filtered.
 */
void verdict_list_sums(
    const struct view *v, uint32_t process, const struct process *p, struct verdict_list *ret);

#endif
