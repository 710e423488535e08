/* check.h - does a run keep within the limits for its heap? */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_CHECK_H
#define SEEP_CHECK_H

#include "base/std.h"

#include <regex.h>

#include "findings/baseline.h"
#include "view/sites/view.h"

/* The rules that a run can break; check_rules() has their texts. */
enum check_rule {
	CHECK_LEAK,  /* not freed at the end, and not suppressed */
	CHECK_NEW,   /* the baseline does not have it */
	CHECK_GROWN, /* the baseline has less of it */
	CHECK_MAX_LIVE,
	CHECK_MAX_LEAKED,
	CHECK_MAX_PEAK,
	CHECK_POSSIBLE, /* possibly lost: no certain pointer to it */
	CHECK_UNJUDGED, /* a process without a verdict */
	CHECK_GROWTH,   /* the score says that it leaks or grows */
	CHECK_RULES,
};

struct check_rule_text {
	const char *id;    /* for machines, never renamed */
	const char *title; /* a sentence */
	const char *help;  /* what to do about it */
};

/* By enum check_rule, CHECK_RULES of them. */
const struct check_rule_text *check_rules(void);

/* An optional limit in bytes. */
struct check_limit {
	bool given;
	uint64_t bytes;
};

/* All zero: no block may be live at the end. */
struct check_options {
	struct check_limit max_live;     /* of all processes, all that is live */
	struct check_limit max_leaked;   /* of all processes, leaks that are not accepted */
	struct check_limit max_peak;     /* of any one process */
	const struct baseline *baseline; /* NULL: none; is_met is set */
	double tolerance_percent;        /* growth beyond the baseline ... */
	uint64_t tolerance_bytes;        /* ... allowed, up to the larger */
	uint32_t pid;                    /* 0: all */
	const regex_t *exe;              /* NULL: all */
	bool any_live;                   /* live blocks count, looks do not */
	bool fail_on_possible;           /* with verdicts: possible leaks fail too */
	bool fail_on_unjudged;           /* and so do processes without a verdict */
	bool fail_on_growth;             /* sites that probably leak, by their score */
};

/* Sites of an ancestor, whose blocks a process has inherited and lost. */
struct check_inherited {
	struct view *view; /* includes suppressed ones */
	uint32_t process;  /* process that lost them, in the session */
};

/* One input; its view contains live blocks, grouped, with suppressions. */
struct check_input {
	const char *name;
	struct session *session;
	struct view *view;
	const struct suppress *suppress; /* one for all inputs; NULL: none */
	struct check_inherited *inherited;
	size_t inherited_count;
};

enum check_standing {
	CHECK_JUDGED,
	CHECK_REPLACED, /* by exec: its heap is gone, but its peak counts */
	CHECK_UNTRACED,
	CHECK_LEFT_OUT, /* by pid or exe */
};

struct check_process {
	const struct check_input *input;
	const struct process *process;
	enum check_standing standing;
	uint64_t leaked_bytes, leaked_blocks; /* leaks that are not accepted */
	/*
	 * judged by what looks found, because the command of its input had a
	 * look at its exit
	 */
	bool by_verdict;
	bool is_unjudged; /* by_verdict, but there is none: verdict_why_not() */
};

/* A site with blocks that count (live, or lost) and are not suppressed. */
struct check_site {
	const struct check_input *input;
	const struct view *view; /* of the site */
	const struct view_site *site;
	uint32_t process; /* index in check.processes */
	uint32_t place;   /* the most telling frame: its number in the site */
	uint64_t fingerprint;
	char *text; /* of the fingerprint */
	enum check_rule rule;
	bool fails;
	bool by_verdict;
	uint64_t bytes, blocks;             /* that count */
	double variance;                    /* variance of the bytes */
	uint64_t known_bytes, known_blocks; /* in the baseline */
};

/* A limit and the figure that is compared with it. */
struct check_bound {
	enum check_rule rule;
	bool fails;
	bool is_close;                       /* sampled: the opposite may also be true */
	uint64_t value, error, limit;        /* bytes; error: half of the interval */
	const struct check_process *process; /* NULL: all together */
};

struct check_sum {
	uint64_t sites, bytes, blocks;
	double variance;
};

struct check {
	const struct check_options *options;
	const struct check_input *inputs;
	size_t input_count;
	struct check_process *processes;
	size_t process_count;
	struct check_site *sites; /* failing ones first, then by size */
	size_t site_count, failed_count;
	struct check_bound bounds[3];
	size_t bound_count;
	struct check_sum live;   /* all live blocks, suppressed or not */
	struct check_sum leaked; /* of failing sites: all, or the growth */
	struct check_sum known;  /* of sites that the baseline accepts */
	struct baseline now;     /* entries of a new baseline */
	uint64_t sample_bytes;   /* 0: exact */
	size_t judged_count, left_out;
	size_t by_verdict_count;       /* processes that are judged by looks */
	size_t unjudged_count;         /* of these, without a verdict */
	size_t ends[PROCESS_GONE + 1]; /* processes by enum process_end */
	bool is_damaged;               /* a leak may have been missed */
	bool fails;
	bool lists_sites; /* the verdict depends on sites, at least in part */
	char **notes;     /* sentences */
	size_t note_count;
};

/*
 * Fills in->inherited, using the options of in->view. -ENOMEM; the caller calls
 * check_inherited_release() in any case.
 */
int check_inherited_find(
    struct check_input *in, struct names *names, const struct view_options *options);
void check_inherited_release(struct check_input *in);

/* The inputs must outlive the result. -ENOMEM. */
int check_new(const struct check_input *inputs, size_t count, const struct check_options *options,
    struct check **ret);

/* NULL is allowed. */
void check_free(struct check *c);

/* Does the report name this process as "not judged"? */
bool check_is_unjudged(const struct check_process *x);

/* Adds a sentence to the notes. -ENOMEM. */
int check_note(struct check *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
