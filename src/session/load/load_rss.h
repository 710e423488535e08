/* load_rss.h - matches readings of resident pages to processes of a recording. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_LOAD_RSS_H
#define SEEP_LOAD_RSS_H

#include "session/load/session.h"

/* They come before the end state of their process. All zero is empty. */
struct load_residence {
	struct load_residence_item *items;
	size_t count, room;
	uint64_t bytes;  /* of all that are kept */
	size_t left_out; /* entries: damaged, or too much memory */
};

/*
 * Takes one entry RECORDING_RESIDENCE; a damaged one is counted. `limit` is for
 * the bytes of all entries that are kept. -ENOMEM.
 */
int load_rss_entry(struct load_residence *l, const void *bytes, size_t len, uint64_t limit);

/* Moves them to the processes of s from number `first` on, by time. -ENOMEM. */
int load_rss_give(struct load_residence *l, const struct session *s, size_t first);

void load_rss_release(struct load_residence *l);

#endif
