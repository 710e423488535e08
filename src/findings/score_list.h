/* score_list.h - the sites of a process that leak, grow or are steady. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_SCORE_LIST_H
#define SEEP_SCORE_LIST_H

#include "base/std.h"
#include "analysis/score/score.h"
#include "recording/parts/aging.h"
#include "session/load/session.h"
#include "view/sites/verdict.h"
#include "view/sites/view.h"

struct score_line {
	const struct view_site *site;
	const struct score *score;
	/*
	 * By whom it is held, like "global `sessions`", printed below the line;
	 * NULL: not known. Of malloc; score_list_release() frees it. A recording
	 * may have it (recording/parts/inventory.h).
	 */
	char *held;
};

struct score_list {
	const struct view *view;  /* of the sites below */
	struct view *own;         /* the same, to be freed; or NULL */
	struct score_line *lines; /* LEAK, GROWTH, STEADY, each by size */
	size_t count, leaks, growths;
	struct forecast_rate rate; /* of all that leak or grow */
	/* the limit that is reached first; limit.kind 0: none in sight */
	struct aging_limit limit;
	struct forecast forecast;
	/*
	 * The forecast is of the heap. What the process grows by outside of it,
	 * in bytes an hour, by its readings of record --rss; has_outside is false
	 * if there are too few, or if it may be 0.
	 */
	bool has_outside;
	double outside;
};

/*
 * Of one process; empty if nothing can be said of it. Sites that are lost, as
 * looks have found, are left out. -ENOMEM.
 */
int score_list_make(const struct session *s, struct process *p, struct names *names,
    const struct view_options *options, struct score_list *ret);

/* The same of the sites of p in a view, where p has number `process`. */
int score_list_of_view(
    const struct view *v, uint32_t process, struct process *p, struct score_list *ret);
void score_list_release(struct score_list *l);

/* Fills rate, limit and forecast alone. */
void score_list_look_ahead(const struct session *s, struct process *p, struct score_list *l);

/* Does p have scores? If not, its list is empty. */
bool score_list_has(const struct session *s, struct process *p);

/* "Limit of the container" and the like. */
const char *score_list_limit_words(uint32_t kind);
const char *score_list_limit_key(uint32_t kind);

/* ---- score_began: when growth began, and which mark or snapshot was near ---- */

enum { SCORE_BEGAN_LABEL = SEG_SNAPSHOT_LABEL_BYTES };

struct score_began {
	uint64_t time_ns; /* since 1970; 0: not known */
	bool is_long_ago; /* more than 20 h before the last that is known */
	double at_s;      /* since the start of the process */
	/* "mark" or "snapshot", and its label or number; NULL: none was near */
	const char *near_kind;
	char near_label[SCORE_BEGAN_LABEL]; /* untrusted */
	double after_s;                     /* it began so long after that; negative: before */
};

/*
 * `process` is its number in s. False: it began with the process, the site
 * neither leaks nor grows, or it is one of several processes. Near is within a
 * sixteenth of the life of the process.
 */
bool score_began(
    const struct session *s, uint32_t process, const struct score *x, struct score_began *ret);

/* "growth began about 14:20, 3 min after mark `deploy-7`", and a newline. */
void score_began_print(FILE *out, const struct score *x, const struct score_began *b);

/* ---- verdict_list: the sites of a process that have verdicts ---- */

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
