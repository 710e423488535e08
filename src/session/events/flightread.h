/* flightread.h - reads the rings of a flight recorder out of its pool. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_FLIGHTREAD_H
#define SEEP_FLIGHTREAD_H

#include <stdbool.h>
#include <stdint.h>

#include "format/seg_flight.h"

/*
 * The file is untrusted, and may belong to a process that runs. Whatever is in
 * it, one ring is in memory at a time, at most FLIGHTREAD_BYTES_MAX are read,
 * and reading ends.
 */
struct flightread;

#define FLIGHTREAD_BYTES_MAX (UINT64_C(4) << 30)

/*
 * As logread_open() without draining: -ENOENT, -ESTALE, -EBADMSG, -ENOTSUP.
 */
int flightread_open(
    int dir, const char *name, uint32_t pool, const uint8_t uuid[16], struct flightread **ret);
void flightread_close(struct flightread *r); /* NULL is fine */

/* The head of the pool. */
const struct log_head *flightread_head(const struct flightread *r);

/* Is this a sound head of a pool with rings? */
bool flightread_is_sound(const struct log_head *h);

/*
 * The next ring, by the number of its thread, the one of several threads last.
 * 1: *ret_head and *ret_entries (head.entries of them) are valid until the next
 * call; 0: there are no more; -ENOMEM. What cannot be read is left out, see
 * flightread_is_damaged().
 */
int flightread_next(
    struct flightread *r, struct log_chunk *ret_head, const struct flight_entry **ret_entries);
bool flightread_is_damaged(const struct flightread *r);

#endif
