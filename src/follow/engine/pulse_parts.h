/* pulse_parts.h - what the files of pulse.h share. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_PULSE_PARTS_H
#define SEEP_PULSE_PARTS_H

#include "follow/engine/pulse.h"
#include "segments/read/extent_list.h"

enum {
	PULSE_BLOCK_BITS = ID_GROUP_BITS,
	PULSE_BLOCK_ROWS = ID_GROUP_ROWS,
	PULSE_UNLISTED = UINT16_MAX, /* a site that moved, without room */
};

/* The first words of struct seg_row. */
struct pulse_sum {
	uint64_t allocations, allocated_bytes, frees, freed_bytes;
};

/* What is kept of the sites of a block; there is none without want_sites. */
struct pulse_sites {
	struct pulse_sum sums[PULSE_BLOCK_ROWS];
	uint16_t moved[PULSE_BLOCK_ROWS]; /* number in moved[] + 1; 0: none */
	bool is_pool[PULSE_BLOCK_ROWS];
};

/* What is kept of a block of ids. */
struct pulse_block {
	uint64_t image; /* hash of all counters, as read last */
	/* all counters of the sums are from one image, which was not changing */
	bool is_settled;
	bool is_known;             /* has been read at least once */
	struct pulse_sum total;    /* without pools */
	struct pulse_sites *sites; /* NULL: not wanted, or no room */
	size_t uncounted;          /* sites in use, if that is so */
};

/*
 * Live bytes in the last looks, in units of 2^shift bytes. Looks behind `last`
 * had the value of `last`, which is that of the site.
 */
struct engine_trend {
	uint64_t last;           /* look in which the site moved last */
	uint64_t scaled_at;      /* look in which the shift was chosen */
	uint16_t at[LIVE_LOOKS]; /* by number of the look modulo LIVE_LOOKS */
	uint8_t shift;
};

struct pulse {
	struct pulse_room *room;
	size_t charged; /* of that room */
	bool want_sites;
	bool is_begun; /* the first look was made */
	struct extent_list directory;
	size_t site_count;
	struct engine_site *moved;
	size_t moved_count, moved_room;
	uint64_t unlisted;
};

/* One look at the segment. */
struct pulse_look {
	struct pulse *pulse;
	struct extent_list_place at;
	uint64_t number;
	bool changed;
};

/* false: no room. */
bool pulse_charge(struct pulse *p, size_t bytes);
void pulse_refund(struct pulse *p, size_t bytes);

/*
 * Finds new rows in the directory, and reads all; adds to the totals. -EFBIG: no
 * room, and the totals are those of a part; -EBADMSG, -ENOMEM.
 */
int pulse_ledger(struct pulse_look *l, const struct seg_header *h, struct pulse_sum *ret);

/*
 * A site has other counters than in the last look; `was` has those, and in the
 * first look all sites are as they were.
 */
void pulse_move(
    struct pulse_look *l, struct pulse_sites *s, uint32_t id, const struct pulse_sum *was);

#endif
