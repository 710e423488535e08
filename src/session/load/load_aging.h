/* load_aging.h - matches ages and births in a recording to its processes. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_LOAD_AGING_H
#define SEEP_LOAD_AGING_H

#include "session/load/session.h"
#include "kit/data/dict.h"

/*
 * Entries RECORDING_AGING come while a process runs; the last one of a process
 * counts. All zero is an empty struct.
 */
struct load_aging {
	struct load_aging_item *items; /* one for each process */
	size_t count, room;
	struct dict index; /* by uuid */
	uint64_t bytes;    /* of all entries that are kept */
};

/*
 * Takes one entry; a damaged one is left out, because an earlier one will do.
 * `limit` is for the bytes of all entries that are kept. -ENOMEM.
 */
int load_aging_entry(struct load_aging *l, const void *bytes, size_t len, uint64_t limit);

/* Moves them to the processes of s from number `first` on. */
void load_aging_give(struct load_aging *l, const struct session *s, size_t first);

void load_aging_release(struct load_aging *l);

#endif
