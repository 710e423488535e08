/* address_address_ranges.h - sets of addresses as ranges: joined, subtracted. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_ADDRESS_RANGES_H
#define SEEP_ADDRESS_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct range {
	uint64_t start, end; /* [start, end) */
};

/* After ranges_settle(): sorted, and no two of them touch. */
struct ranges {
	struct range *at;
	size_t count, room;
};

/* In any order; they may overlap. Empty ranges are left out. -ENOMEM. */
int ranges_add(struct ranges *r, uint64_t start, uint64_t end);

void ranges_settle(struct ranges *r);

/* What is in a and not in b, which are both settled. *ret begins empty. */
int ranges_subtract(
    const struct ranges *a, const struct ranges *b, struct ranges *ret);

/* Of a settled set. */
bool ranges_hold(const struct ranges *r, uint64_t address);
uint64_t ranges_bytes(const struct ranges *r);

void ranges_release(struct ranges *r);

#endif
