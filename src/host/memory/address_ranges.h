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

/* After address_ranges_settle(): sorted, and no two of them touch. */
struct ranges {
	struct range *at;
	size_t count, room;
};

/* In any order; they may overlap. Empty ranges are left out. -ENOMEM. */
int address_ranges_add(struct ranges *r, uint64_t start, uint64_t end);

void address_ranges_settle(struct ranges *r);

/* What is in a and not in b, which are both settled. *ret begins empty. */
int address_ranges_subtract(const struct ranges *a, const struct ranges *b, struct ranges *ret);

/* Of a settled set. */
bool address_ranges_hold(const struct ranges *r, uint64_t address);
uint64_t address_ranges_bytes(const struct ranges *r);

void address_ranges_release(struct ranges *r);

#endif
