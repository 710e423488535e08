/* own_memory.c - which memory of the host is the collector's. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/segment/mem.h"

#include <stdbool.h>
#include <stdint.h>

#include "base/cpu/cpu.h"
#include "collector/segment/segment.h"

struct own_memory_entry ours_table[OWN_MEMORY_MAX];
static uint32_t high; /* entries at and above it were never used */

/* False: another thread has it, or a signal handler interrupted the change. */
static bool claim(struct own_memory_entry *e, uint32_t kind)
{
	uint32_t sequence = LOAD_ACQUIRE(&e->sequence);

	if (sequence & 1 || LOAD(&e->kind) != kind || !CAS(&e->sequence, &sequence, sequence + 1))
		return false;
	if (LOAD(&e->kind) == kind)
		return true;
	STORE_RELEASE(&e->sequence, sequence + 2); /* it had just changed */
	return false;
}

static void publish(struct own_memory_entry *e)
{
	STORE_RELEASE(&e->sequence, LOAD(&e->sequence) + 1);
}

/*
 * Blocks of private memory are often next to each other. Both ends of such an
 * entry only move outwards, by one store each, so every copy of it is right.
 */
static bool joins(uint64_t start, uint64_t end)
{
	uint32_t i;

	for (i = 0; i < LOAD(&high); i++) {
		struct own_memory_entry *e = &ours_table[i];
		uint64_t its_start = end, its_end = start;

		if (LOAD_ACQUIRE(&e->sequence) & 1 || LOAD(&e->kind) != OWN_MEMORY_FOREVER)
			continue;
		if (CAS(&e->start, &its_start, start) || CAS(&e->end, &its_end, end))
			return true;
	}
	return false;
}

static void enter(uint64_t start, uint64_t end, enum own_memory_kind kind)
{
	uint32_t i;

	for (i = 0; i < OWN_MEMORY_MAX; i++) {
		struct own_memory_entry *e = &ours_table[i];

		if (!claim(e, OWN_MEMORY_NONE))
			continue;
		RAISE(&high, i + 1);
		STORE(&e->start, start);
		STORE(&e->end, end);
		STORE(&e->kind, kind);
		publish(e);
		return;
	}
	segment_count(SEG_LOST_RANGES, 1);
}

void own_memory_add(const void *start, size_t bytes, enum own_memory_kind kind)
{
	uint64_t from = cpu_page_down((uint64_t)(uintptr_t)start);
	uint64_t to = cpu_page_up((uint64_t)(uintptr_t)start + bytes);

	if (kind != OWN_MEMORY_FOREVER || !joins(from, to))
		enter(from, to, kind);
}

void own_memory_remove(const void *start, size_t bytes)
{
	uint64_t from = cpu_page_down((uint64_t)(uintptr_t)start);
	uint64_t to = cpu_page_up((uint64_t)(uintptr_t)start + bytes);
	uint32_t i;

	for (i = 0; i < LOAD(&high); i++) {
		struct own_memory_entry *e = &ours_table[i];
		uint64_t its_start = LOAD(&e->start), its_end = LOAD(&e->end);

		if (its_start >= to || its_end <= from || !claim(e, OWN_MEMORY_FOR_NOW))
			continue;
		its_start = LOAD(&e->start);
		its_end = LOAD(&e->end);
		if (its_start < from)
			STORE(&e->end, from); /* what is before stays */
		else if (its_end > to)
			STORE(&e->start, to); /* what is behind stays */
		else if (its_start < to && its_end > from)
			STORE(&e->kind, OWN_MEMORY_NONE);
		publish(e);
		if (its_start < from && its_end > to)
			enter(to, its_end, OWN_MEMORY_FOR_NOW);
	}
}

/* The linker's names for the first and the last byte of this library. */
extern const char __ehdr_start[] SEEP_HIDDEN;
extern const char _end[] SEEP_HIDDEN;

void own_memory_add_library(void)
{
	own_memory_add(
	    __ehdr_start, (size_t)((uintptr_t)_end - (uintptr_t)__ehdr_start), OWN_MEMORY_FOREVER);
}
