/* load_births.h - matches ages and births in a recording to its processes. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_READER_LOAD_BIRTHS_H
#define SEEP_READER_LOAD_BIRTHS_H

#include "reader/session.h"
#include "util/dict.h"

/*
 * Entries RECORDING_BIRTHS come while a process runs; the last one of a process
 * counts. All zero is an empty struct.
 */
struct load_births {
	struct load_births_item *items; /* one for each process */
	size_t count, room;
	struct dict index; /* by uuid */
	uint64_t bytes;    /* of all entries that are kept */
};

/*
 * Takes one entry; a damaged one is left out, because an earlier one will do.
 * `limit` is for the bytes of all entries that are kept. -ENOMEM.
 */
int load_births_entry(
    struct load_births *l, const void *bytes, size_t len, uint64_t limit);

/* Moves them to the processes of s from number `first` on. */
void load_births_give(
    struct load_births *l, const struct session *s, size_t first);

void load_births_release(struct load_births *l);

#endif
