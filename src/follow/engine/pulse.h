/* pulse.h - the counters of one segment, read again and again. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_PULSE_H
#define SEEP_PULSE_H

#include "follow/engine/engine.h"

/*
 * A look reads the whole ledger, because the header has no totals. Blocks of
 * rows in which nothing happened are read once and only hashed; in all others
 * frees are read before allocations, as segment_copy_read() does. What the segment
 * says is untrusted: no content crashes or hangs the reader, and memory comes
 * from the room alone.
 */
struct pulse;

/* What all pulses of an engine may take together. */
struct pulse_room {
	size_t left; /* bytes */
};

/* false: there is not so much left, and nothing was taken. */
bool pulse_room_take(struct pulse_room *room, size_t bytes);

/* The room is the caller's and outlives the pulse. -ENOMEM. */
int pulse_new(struct pulse_room *room, bool want_sites, struct pulse **ret);
void pulse_free(struct pulse *p); /* NULL is fine */

/*
 * A look at the segment of a slot. h is in and out: texts of it are read by the
 * first look alone. *ret: the ledger's totals; its other fields stay. `look` is
 * the number of this look, from 0 on, for the trends.
 * -ESTALE: the slot is somebody else's by now (another uuid than in h, unless
 * that is 0); -EFBIG: the room is used up, and the totals are those of a part of
 * the sites; -ENOMEM; or errors of segfile_header() and of reading.
 */
int pulse_look(struct pulse *p, const struct segfile *f, int slot, uint64_t look,
    struct seg_header *h, struct engine_totals *ret, bool *ret_changed);

/* Bytes that a look reads. */
uint64_t pulse_bytes(const struct pulse *p);

/* Sites in use; sites that moved; those that moved beyond LIVE_SITES. */
size_t pulse_site_count(const struct pulse *p);
const struct engine_site *pulse_moved(const struct pulse *p, size_t *ret_count);
uint64_t pulse_unlisted(const struct pulse *p);

/* See engine_site_then(). */
uint64_t pulse_then(const struct engine_site *s, uint64_t look);

void pulse_each(
    const struct pulse *p, bool (*each)(void *context, const struct engine_site *s), void *context);

/* From now on the base of all sites is what they have now. */
void pulse_set_base(struct pulse *p);

/* Gives back the trends of sites that have not moved for LIVE_LOOKS looks. */
void pulse_rest(struct pulse *p, uint64_t look);

#endif
