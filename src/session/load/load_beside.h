/* load_beside.h - what a recording says of its processes beside their segments. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_LOAD_BESIDE_H
#define SEEP_LOAD_BESIDE_H

#include "session/load/session.h"
#include "kit/data/dict.h"

enum load_beside_kind {
	BESIDE_VERDICTS,
	BESIDE_AGING,
	BESIDE_INVENTORY,
	BESIDE_RSS, /* all readings count, of the others only the last one */
	BESIDE_KINDS
};

/*
 * Such an entry begins with the uuid of a process, and may come before the end
 * state of this process. All zero is an empty struct.
 */
struct load_beside {
	struct load_beside_item *items;
	size_t count, room;
	struct dict index;             /* of those that only count once: kind and uuid */
	uint64_t bytes[BESIDE_KINDS];  /* of all entries that are kept */
	size_t left_out[BESIDE_KINDS]; /* entries: too much memory, or damaged */
};

/*
 * Takes an entry of any type; those of other types are left alone. A damaged one
 * is left out and counted, and an earlier one stays. `limit` is for the bytes of
 * all entries of its kind that are kept. -ENOMEM.
 */
int load_beside_entry(
    struct load_beside *l, uint32_t type, const void *bytes, size_t len, uint64_t limit);

/* Moves them to the processes of s from number `first` on. -ENOMEM. */
int load_beside_give(struct load_beside *l, const struct session *s, size_t first);

void load_beside_release(struct load_beside *l);

#endif
