/* load_inventory.h - matches inventories in a recording to its processes. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_LOAD_INVENTORY_H
#define SEEP_LOAD_INVENTORY_H

#include "session/load/session.h"
#include "kit/data/dict.h"

/*
 * Entries RECORDING_INVENTORY come while a process runs and at its exit; the last
 * one of a process counts. All zero is an empty struct.
 */
struct load_inventory {
	struct load_inventory_item *items; /* one for each process */
	size_t count, room;
	struct dict index; /* by uuid */
	uint64_t bytes;    /* of all entries that are kept */
};

/*
 * Takes one entry; a damaged one is left out, because an earlier one will do.
 * `limit` is for the bytes of all entries that are kept. -ENOMEM.
 */
int load_inventory_entry(struct load_inventory *l, const void *bytes, size_t len, uint64_t limit);

/* Moves them to the processes of s from number `first` on. */
void load_inventory_give(struct load_inventory *l, const struct session *s, size_t first);

void load_inventory_release(struct load_inventory *l);

#endif
