/* score_list.h - the sites of a process that leak, grow or are steady. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_SCORE_LIST_H
#define SEEP_SCORE_LIST_H

#include "view/sites/view.h"
#include "analysis/score/forecast.h"
#include "recording/parts/aging.h"

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

#endif
