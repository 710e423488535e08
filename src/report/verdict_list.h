/* verdict_list.h - verdicts with the stacks they are about, and their rates. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_REPORT_VERDICT_LIST_H
#define SEEP_REPORT_VERDICT_LIST_H

#include "report/view.h"
#include "trace/verdicts.h"

/* How fast a place loses memory, by the births of the lost blocks. */
struct verdict_rate {
	bool is_known; /* enough blocks over enough time, and the last is new */
	double bytes, low, high; /* an hour; low and high: 95 % interval */
};

/* A function that frees blocks of a site. */
struct verdict_freer {
	const char *function; /* NULL: not known */
	const char *module;   /* path; NULL: in none */
	const char *file;     /* NULL: not known */
	uint32_t line;
	double share; /* of the frees of this site that were looked at */
};

/* One place and class: sites whose stacks look the same are one. */
struct verdict_entry {
	struct verdict_site sum; /* its site is the first one's */
	uint32_t sites;
	const struct process *process; /* whose site it is */
	bool is_inherited;             /* it is a parent's */
	/* NULL: the stack is not known, as of a parent that is not there */
	const struct view_site *site;
	struct verdict_rate rate;
	/* who frees other blocks of this site, the most frequent first */
	struct verdict_freer freers[SEG_FREERS];
	size_t freer_count;
};

struct verdict_sum {
	uint64_t sites, blocks, bytes;
};

struct verdict_list {
	const struct process *process;
	const struct verdicts *verdicts;
	struct view *view;
	struct verdict_entry *at; /* in the order of the verdicts */
	size_t count;
	struct verdict_sum leaks, possible; /* of the entries */
	struct verdict_sum left_out;        /* by filters and suppressions */
	struct process_figures **figures;   /* for the view */
};

/*
 * The verdicts on one process of a session, as far as `options` choose them;
 * its metric and figures are ours. Parents are looked for in the session.
 * Borrows all. -ENOMEM.
 */
int verdict_list_new(const struct session *s, const struct process *process,
    const struct verdicts *v, struct names *names,
    const struct view_options *options, struct verdict_list **ret);

/* NULL is fine. */
void verdict_list_free(struct verdict_list *l);

/* Of a site of this process, whose blocks were born at these ticks. */
void verdict_rate(const struct seg_header *h, const struct verdicts *v,
    const struct verdict_site *site, struct verdict_rate *ret);

#endif
