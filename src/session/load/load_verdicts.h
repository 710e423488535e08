/* load_verdicts.h - matches the verdicts in a recording to its processes. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_LOAD_VERDICTS_H
#define SEEP_LOAD_VERDICTS_H

#include "session/load/session.h"
#include "kit/data/dict.h"

/*
 * Verdicts come before the end state of their process, and several times: the
 * last ones count. All zero is an empty struct.
 */
struct load_verdicts {
	struct load_verdicts_item *items; /* one for each process */
	size_t count, room;
	struct dict index; /* by uuid */
	uint64_t bytes;    /* of all entries that are kept */
	size_t left_out;   /* entries left out: too much memory, or damaged */
};

/*
 * Takes one entry RECORDING_VERDICTS; a damaged one is counted. `limit` is for
 * the bytes of all entries that are kept. -ENOMEM.
 */
int load_verdicts_entry(struct load_verdicts *l, const void *bytes, size_t len, uint64_t limit);

/* Moves them to the processes of s from number `first` on. */
void load_verdicts_give(struct load_verdicts *l, const struct session *s, size_t first);

void load_verdicts_release(struct load_verdicts *l);

#endif
