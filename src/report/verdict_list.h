/* verdict_list.h - the places of a process at which looks found something. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_REPORT_VERDICT_LIST_H
#define SEEP_REPORT_VERDICT_LIST_H

#include "report/verdict.h"
#include "report/view.h"

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

/* What is shown, and what is not, of one class. */
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
 * Sites of p, and those of its ancestors whose blocks it has inherited, chosen
 * and shaped by options (metric and figures do not matter). Empty where p is
 * not judged. -ENOMEM.
 */
int verdict_list_make(const struct session *s, const struct process *p,
    struct names *names, const struct view_options *options,
    struct verdict_list *ret);
void verdict_list_release(struct verdict_list *l);

/*
 * The sums alone, of the sites that a view has of p, its process number
 * `process`: what p inherited counts as filtered.
 */
void verdict_list_sums(const struct view *v, uint32_t process,
    const struct process *p, struct verdict_list *ret);

#endif
