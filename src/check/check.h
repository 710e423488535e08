/* check.h - does a run keep within the limits for its heap? */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_CHECK_CHECK_H
#define SEEP_CHECK_CHECK_H

#include <regex.h>
#include <stdbool.h>

#include "check/baseline.h"
#include "report/view.h"

/* The rules that a run can break; check_rules() has their texts. */
enum check_rule {
	CHECK_LEAK,  /* not freed at the end, and not suppressed */
	CHECK_NEW,   /* the baseline does not have it */
	CHECK_GROWN, /* the baseline has less of it */
	CHECK_MAX_LIVE,
	CHECK_MAX_LEAKED,
	CHECK_MAX_PEAK,
	CHECK_POSSIBLE, /* maybe lost: nothing certain points to it */
	CHECK_UNJUDGED, /* a process without a verdict */
	CHECK_RULES,
};

struct check_rule_text {
	const char *id;    /* for machines, never renamed */
	const char *title; /* a sentence */
	const char *help;  /* what to do about it */
};

/* By enum check_rule, CHECK_RULES of them. */
const struct check_rule_text *check_rules(void);

/* A limit in bytes that may not be there. */
struct check_limit {
	bool given;
	uint64_t bytes;
};

/* Zeros: no block may be live at the end. */
struct check_options {
	struct check_limit max_live; /* of all processes, all that is live */
	struct check_limit
	    max_leaked; /* of all processes, leaks that are not accepted */
	struct check_limit max_peak;     /* of any one process */
	const struct baseline *baseline; /* NULL: none; gets is_met */
	double tolerance_percent;        /* growth beyond the baseline ... */
	uint64_t tolerance_bytes;        /* ... up to the larger is fine */
	uint32_t pid;                    /* 0: all */
	const regex_t *exe;              /* NULL: all */
	bool any_live;         /* what is live counts, whatever looks found */
	bool fail_on_possible; /* with verdicts: what may be lost, too */
	bool fail_on_unjudged; /* and processes without one */
};

/* Sites of an ancestor, whose blocks a process has inherited and lost. */
struct check_inherited {
	struct view *view; /* suppressed ones are in it */
	uint32_t process;  /* that lost them, by number in the session */
};

/* One input; its view has what is live, grouped, with suppressions. */
struct check_input {
	const char *name;
	struct session *session;
	struct view *view;
	const struct suppress *suppress; /* one for all; NULL: none */
	struct check_inherited *inherited;
	size_t inherited_count;
};

enum check_standing {
	CHECK_JUDGED,
	CHECK_REPLACED, /* by exec: its heap went with it; its peak counts */
	CHECK_UNTRACED,
	CHECK_LEFT_OUT, /* by pid or exe */
};

struct check_process {
	const struct check_input *input;
	const struct process *process;
	enum check_standing standing;
	uint64_t leaked_bytes, leaked_blocks; /* leaks that are not accepted */
	/* go by what looks found: the command of its input had an exit look */
	bool by_verdict;
	bool is_unjudged; /* then: there is no verdict, see verdict_why_not() */
};

/* A site with blocks that count and are not suppressed: live, or lost. */
struct check_site {
	const struct check_input *input;
	const struct view *view; /* of the site */
	const struct view_site *site;
	uint32_t process; /* in check.processes */
	uint32_t place;   /* the frame that says most: number in the site */
	uint64_t fingerprint;
	char *text; /* of the fingerprint */
	enum check_rule rule;
	bool fails;
	bool by_verdict;
	uint64_t bytes, blocks;             /* that count */
	double variance;                    /* of the bytes */
	uint64_t known_bytes, known_blocks; /* in the baseline */
};

/* A limit, and the figure that it is compared with. */
struct check_bound {
	enum check_rule rule;
	bool fails;
	bool is_close; /* sampled: the opposite may be true as well */
	uint64_t value, error, limit; /* bytes; error: half the interval */
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
	struct check_site *sites; /* those that fail first, the largest first */
	size_t site_count, failed_count;
	struct check_bound bounds[3];
	size_t bound_count;
	struct check_sum live;   /* all that is live, suppressed or not */
	struct check_sum leaked; /* of sites that fail: all, or the growth */
	struct check_sum known;  /* of sites that the baseline accepts */
	struct baseline now;     /* what a new baseline would have */
	uint64_t sample_bytes;   /* 0: exact */
	size_t judged_count, left_out;
	size_t by_verdict_count;       /* processes that are judged by looks */
	size_t unjudged_count;         /* of these: without a verdict */
	size_t ends[PROCESS_GONE + 1]; /* processes by enum process_end */
	bool is_damaged;               /* a leak may be missing */
	bool fails;
	bool
	    lists_sites; /* sites are the reason for the verdict, or a part of it */
	char **notes; /* sentences */
	size_t note_count;
};

/*
 * Fills in->inherited, with the options of in->view. -ENOMEM; in any case for
 * check_inherited_release().
 */
int check_inherited_find(struct check_input *in, struct names *names,
    const struct view_options *options);
void check_inherited_release(struct check_input *in);

/* Borrows all as long as it lives. -ENOMEM. */
int check_new(const struct check_input *inputs, size_t count,
    const struct check_options *options, struct check **ret);

/* NULL is fine. */
void check_free(struct check *c);

/* Is this one to be named as "not judged"? */
bool check_is_unjudged(const struct check_process *x);

/* Adds a sentence to the notes. -ENOMEM. */
int check_note(struct check *c, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

#endif
