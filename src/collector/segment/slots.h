/* slots.h - room for forked children behind their ancestor's segment. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_SLOTS_H
#define SEEP_SLOTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cpu/cpu.h"
#include "collector/segment/segment.h"
#include "format/format.h"

/*
 * Only the head of the slots is mapped. It says which slots are taken, and has
 * a line for each child in its first events. One more page behind it is mapped,
 * the first of slot 0, from which a child reaches its slot by mremap(), without
 * a descriptor. The process that made the file never writes here after its
 * start, and never relies on what it finds, because its children may have
 * dropped their privileges.
 */
enum {
	SLOTS_EARLY_AT = CPU_PAGE,
	SLOTS_HEAD_BYTES = SLOTS_EARLY_AT + SEG_EARLY * (int)sizeof(struct seg_early),
};

struct slots {
	struct seg_slots *head;      /* NULL: none, or not mapped */
	uint32_t count, large_count; /* 0: the file has none */
	uint64_t large_bytes, small_bytes;
	/* one that slots_prepare() has mapped; memory.head is NULL: none */
	struct segment_memory spare;
	uint32_t spare_slot;
	uint32_t preparing; /* 1: a thread is in slots_prepare() */
};

/*
 * Computes sizes by the ancestor's budget. Returns the bytes behind its
 * segment.
 */
uint64_t slots_layout(struct slots *s, uint64_t segment_bytes);

/* What slots_layout() has returned; 0 if there are no slots. */
uint64_t slots_bytes(const struct slots *s);

/* `at` has SLOTS_HEAD_BYTES and a page; it may be NULL. */
void slots_map(struct slots *s, void *at);

/* The same without a descriptor: they begin `distance` behind this page. */
void slots_map_behind(struct slots *s, uint8_t *page, uint64_t distance);

/*
 * Maps `bytes` of a file that begin `distance` behind a shared page of it,
 * without a descriptor. NULL: no address space.
 */
uint8_t *slots_view_far(uint8_t *from, uint64_t distance, uint64_t bytes);

/* In a forked child that must not share them: unmaps them. */
void slots_unmap(struct slots *s);

/*
 * Before a fork: maps a free slot and makes its first pages, so that a child
 * which takes it needs no system call for that, whatever its sandbox allows.
 */
void slots_prepare(struct slots *s);

/*
 * Claims a free slot and returns its number, or UINT32_MAX. Takes the slot that
 * was prepared, unless another child was faster. Lock-free.
 */
uint32_t slots_claim(const struct slots *s);
void slots_give_back(const struct slots *s, uint32_t slot);

/*
 * The beginning of a slot, mapped, for segment_move(). Segments in slots, large
 * or small, are laid out for large_bytes. False: no address space.
 */
bool slots_map_one(struct slots *s, uint32_t slot, struct segment_memory *ret, uint64_t *ret_bytes);

/* Counts one more child that is not recorded at all. */
void slots_count_untraced(const struct slots *s);

/*
 * Counts one more (1) or one less (-1) child in its first events without a
 * line.
 */
void slots_count_unlisted(const struct slots *s, int by);

/* A line for a child in its first events, zeroed; NULL: none is free. */
struct seg_early *slots_claim_early(const struct slots *s);

#endif
