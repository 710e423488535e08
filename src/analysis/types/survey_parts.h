/* survey_parts.h - what the files of survey.h share. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_SURVEY_PARTS_H
#define SEEP_SURVEY_PARTS_H

#include "host/memory/foreign.h"
#include "kit/data/dict.h"
#include "analysis/leaks/heap.h"
#include "host/proc/roots.h"
#include "analysis/types/survey.h"

enum {
	SURVEY_PAGE = FOREIGN_PAGE_BYTES,
	SURVEY_HEAD = 64, /* bytes of a block's beginning that may be used */
};

struct survey_types; /* survey_types.c */
struct survey_spare; /* survey_spare.c */

/* Memory of a block, or of several, by address; out of order here and there. */
struct survey_piece {
	uint64_t address;
	const uint8_t *bytes; /* NULL: it is there, and could not be read */
	size_t len;
	size_t first; /* the first block that ends behind the beginning */
};

/* ---- survey_types.c: blocks by vtable ---- */

/* -ENOMEM. NULL is fine for the last one. */
int survey_types_new(
    const struct heap *heap, const struct roots_areas *areas, struct survey_types **ret);
int survey_types_piece(struct survey_types *t, const struct survey_piece *x);
/* Reads names, and sums up. Errors as of foreign_read(). */
int survey_types_finish(
    struct survey_types *t, const struct process *p, struct foreign *files, struct census *ret);
void survey_types_free(struct survey_types *t);

/* ---- survey_spare.c: equal blocks, pages never written, zeros ---- */

int survey_spare_new(const struct heap *heap, struct survey_spare **ret);
void survey_spare_piece(struct survey_spare *s, const struct survey_piece *x);
int survey_spare_finish(struct survey_spare *s, const struct process *p, struct census *ret);
void survey_spare_free(struct survey_spare *s);

/* ---- survey.c ---- */

/* Sites with equal stacks are one: the process has its lowest id. */
uint32_t survey_id(const struct process *p, uint32_t site);

/* Is the address in a file's mapping, or in the zeros behind one (bss)? */
bool survey_is_module(const struct roots_areas *a, uint64_t address);

#endif
