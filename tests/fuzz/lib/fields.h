/* fields.h - where the known fields of a segment are, as docs/FORMAT.md has. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_FUZZ_FIELDS_H
#define SEEP_FUZZ_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One field: of the header, the directory, the slots, or of rows. */
struct fields_place {
	size_t at;     /* offset in the segment */
	size_t width;  /* 1, 2, 4 or 8 bytes */
	size_t stride; /* with repeat > 1: the same field of many rows */
	size_t repeat;
};

/*
 * The n-th place of this segment, false beyond the last. The fields of every
 * table are there for its first row, its last row and all rows at once.
 */
bool fields_find(const uint8_t *seg, size_t len, size_t n, struct fields_place *ret);
size_t fields_count(const uint8_t *seg, size_t len);

uint64_t fields_get(const uint8_t *seg, const struct fields_place *p);
void fields_set(uint8_t *seg, const struct fields_place *p, uint64_t value);

/* The n-th field of a row of this kind; false beyond the last. */
bool fields_of_row(uint32_t kind, size_t n, struct fields_place *ret);

#endif
