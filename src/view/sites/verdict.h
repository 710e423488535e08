/* verdict.h - verdicts on sites, as all reports use them. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_VERDICT_H
#define SEEP_VERDICT_H

#include "session/load/session.h"
#include "recording/parts/verdicts.h"

/* Blocks of one class at a site, or at several sites that are shown as one. */
struct verdict_part {
	uint64_t blocks, bytes; /* 0: all that it found is in the notes */
	uint64_t direct_blocks, direct_bytes;
	uint64_t cycle_blocks, cycle_bytes;
	uint64_t indirect_blocks, indirect_bytes;
	uint64_t held_again, freed_late;
	uint32_t notes;               /* bits of enum verdict_note */
	uint32_t looks;               /* the fewest of its processes; 0: nothing is there */
	uint64_t first_ns, last_ns;   /* births, since 1970 */
	uint64_t first_age, last_age; /* their age at the look, ns */
	const char *type;             /* NULL: not known */
};

/*
 * Functions that free other blocks of a site, from a sample; the most frequent
 * first.
 */
struct verdict_freer {
	uint32_t frame; /* a number of the view's */
	uint64_t count;
};

enum { VERDICT_FREERS = SEG_FREERS };

struct verdict_found {
	struct verdict_part leak, possible;
	struct verdict_freer freers[VERDICT_FREERS];
	uint32_t freer_count;
};

/* Verdicts of one process, by the sites of a process (see below). */
struct verdict_index {
	struct verdict_found *found; /* for free() */
	uint32_t *at;                /* by site of the process: number + 1; 0: none */
	size_t count;
};

/*
 * The verdicts of `judged` for sites of p: p itself, or a descendant that has
 * inherited the sites of p with ids below `below`. -ENOMEM; empty without
 * verdicts.
 */
int verdict_index_make(const struct process *p, const struct process *judged, uint32_t below,
    struct verdict_index *ret);
void verdict_index_release(struct verdict_index *x);

/* Of a site, by its number; NULL: none. */
struct verdict_found *verdict_index_find(const struct verdict_index *x, size_t site);

/*
 * Adds another function that frees; the rarest is dropped if there are too
 * many.
 */
void verdict_add_freer(struct verdict_found *f, uint32_t frame, uint64_t count);

/* Adds the verdict of another site; the sums do not wrap. */
void verdict_join(struct verdict_found *to, const struct verdict_found *from);

/*
 * Bytes lost in an hour, with the 95 % interval that the number of losses
 * gives. False: it is not a matter of time, or too little is known (fewer than
 * three losses, less than a minute, or none in the second half of that time).
 */
struct verdict_rate {
	double bytes, low, high;
};
bool verdict_rate(const struct verdict_part *p, struct verdict_rate *ret);

/* Is there a verdict, or should there be one? */
enum verdict_state {
	/* no look was wanted; or a fork that only called exec */
	VERDICT_STATE_NONE,
	VERDICT_STATE_JUDGED,
	VERDICT_STATE_UNJUDGED, /* see verdict_why_not() */
};
enum verdict_state verdict_state(const struct session *s, const struct process *p);

/* enum verdict_reason of one that is not judged. */
uint32_t verdict_why_not(const struct process *p);

/* Sums of all sites of a class, inherited ones included. */
void verdict_total(const struct verdicts *v, uint32_t class, uint64_t *ret_places,
    uint64_t *ret_blocks, uint64_t *ret_bytes);

/* Bytes that were not read, for any cause. */
uint64_t verdict_unread_bytes(const struct verdicts *v);

/*
 * The process whose segment has site `id` of p; NULL: it is not in the session.
 */
const struct process *verdict_owner(const struct session *s, const struct process *p, uint32_t id);

/* "leak", "possible" */
const char *verdict_class_key(uint32_t class);

/* "ended" and the like, and a clause that follows "not judged: ". */
const char *verdict_reason_key(uint32_t reason);
const char *verdict_reason_words(uint32_t reason);

/* The clause for this process, which is not judged. */
const char *verdict_why_not_words(const struct process *p);

/*
 * Notes by number from 0 on, the most important first: bit, key, and a clause
 * about blocks, with "@" for "them" and "~" for "their". NULL after the last.
 */
struct verdict_note_text {
	uint32_t bit;
	const char *key, *words;
};
const struct verdict_note_text *verdict_note_text(size_t number);

#endif
