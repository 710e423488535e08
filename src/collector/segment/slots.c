/* slots.c - room for forked children behind their ancestor's segment. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/segment/slots.h"

#include <stddef.h>
#include <string.h>

#include "base/attr.h"
#include "base/sys.h"

enum {
	MIB = 1 << 20,
	LARGE_COUNT = 64,
	SMALL_COUNT = SEG_SLOTS - LARGE_COUNT,
	LARGE_BYTES = 8 * MIB,
	SMALL_BYTES = 1 * MIB,
	BYTES_MIN = 512 << 10,  /* the head, and enough for the first events */
	SPARE_BYTES = 96 << 10, /* pages made in the slot for the next child */
	STEP_MAX = 1 << 30,     /* of address space, while a slot is being mapped */
	STEP_MIN = 1 << 20,
	LINES_PER_PAGE = CPU_PAGE / (int)sizeof(struct seg_early),
};

static uint64_t share(uint64_t bytes, uint64_t most)
{
	bytes &= ~(uint64_t)(SEG_EXTENT_STEP - 1);
	if (bytes > most)
		return most;
	return bytes < BYTES_MIN ? BYTES_MIN : bytes;
}

/*
 * A small budget makes slots small, so that all children together cannot take
 * much more than it.
 */
uint64_t slots_layout(struct slots *s, uint64_t segment_bytes)
{
	s->large_bytes = share(segment_bytes / 16, LARGE_BYTES);
	s->small_bytes = share(segment_bytes / 64, SMALL_BYTES);
	s->large_count = LARGE_COUNT;
	s->count = LARGE_COUNT + SMALL_COUNT;
	return slots_bytes(s);
}

uint64_t slots_bytes(const struct slots *s)
{
	if (!s->count)
		return 0;
	return SLOTS_HEAD_BYTES + s->large_count * s->large_bytes +
	    (s->count - s->large_count) * s->small_bytes;
}

void slots_map(struct slots *s, void *at)
{
	struct seg_slots *head = at;

	if (!head)
		return;
	if (sys_madvise(head, CPU_PAGE, MADV_POPULATE_WRITE) != 0) {
		sys_munmap(head, SLOTS_HEAD_BYTES + CPU_PAGE);
		return;
	}
	head->count = s->count;
	head->large_count = s->large_count;
	head->slot_bytes = s->large_bytes;
	head->small_bytes = s->small_bytes;
	head->first_offset = SLOTS_HEAD_BYTES;
	head->early_offset = SLOTS_EARLY_AT;
	head->early_count = SEG_EARLY;
	head->magic = SEG_SLOT_MAGIC;
	s->head = head;
}

static bool claim(const struct slots *s, uint32_t slot)
{
	uint8_t none = 0;

	return !LOAD(&s->head->taken[slot]) && CAS(&s->head->taken[slot], &none, 1);
}

uint32_t slots_claim(const struct slots *s)
{
	uint32_t i;

	if (s->head && s->spare.head && claim(s, s->spare_slot))
		return s->spare_slot;
	for (i = 0; s->head && i < s->count; i++) {
		if (claim(s, i))
			return i;
	}
	return UINT32_MAX;
}

void slots_give_back(const struct slots *s, uint32_t slot)
{
	STORE(&s->head->taken[slot], 0);
}

/*
 * Maps `bytes` that begin `distance` behind the page at `from`. A view begins
 * where its source does, so everything in between is mapped for a moment. This
 * is done in steps, as large as the address space allows, and each step leaves
 * one page from which the next one begins.
 */
uint8_t *slots_view_far(uint8_t *from, uint64_t distance, uint64_t bytes)
{
	uint64_t step = STEP_MAX;
	uint8_t *at = from, *p = NULL;

	for (;;) {
		uint64_t n = distance < step ? distance : step;
		bool last = n == distance;

		p = sys_view(at, n + (last ? bytes : CPU_PAGE));
		if (!p && step > STEP_MIN) {
			step /= 4;
			continue;
		}
		if (at != from)
			sys_munmap(at, CPU_PAGE);
		if (!p)
			return NULL;
		if (n)
			sys_munmap(p, n);
		at = p + n;
		distance -= n;
		if (last)
			return at;
	}
}

void slots_map_behind(struct slots *s, uint8_t *page, uint64_t distance)
{
	if (s->count && !s->head)
		slots_map(s, slots_view_far(page, distance, SLOTS_HEAD_BYTES + CPU_PAGE));
}

static uint64_t bytes_of(const struct slots *s, uint32_t slot)
{
	return slot < s->large_count ? s->large_bytes : s->small_bytes;
}

static bool map_slot(const struct slots *s, uint32_t slot, struct segment_memory *ret)
{
	const struct segment_layout l = segment_layout(s->large_bytes);
	uint32_t large = slot < s->large_count ? slot : s->large_count;
	uint64_t distance = large * s->large_bytes + (slot - large) * s->small_bytes;
	uint64_t window = bytes_of(s, slot) - l.first;
	uint8_t *at;

	window = window < SEGMENT_WINDOW ? window : SEGMENT_WINDOW;
	at = slots_view_far(
	    (uint8_t *)s->head + SLOTS_HEAD_BYTES, distance, l.first + window + CPU_PAGE);
	if (!at)
		return false;
	*ret =
	    (struct segment_memory){.head = at, .extents = at + l.first, .extents_bytes = window};
	return true;
}

bool slots_map_one(struct slots *s, uint32_t slot, struct segment_memory *ret, uint64_t *ret_bytes)
{
	*ret_bytes = bytes_of(s, slot);
	if (s->spare.head && slot == s->spare_slot) {
		*ret = s->spare;
		s->spare.head = NULL; /* it belongs to the caller from now on */
		return true;
	}
	return map_slot(s, slot, ret);
}

/*
 * Another thread may fork at any instant, and its child gets a copy of this
 * struct. So spare.head is set last and cleared first.
 */
static void drop_spare(struct slots *s)
{
	const struct segment_layout l = segment_layout(s->large_bytes);
	uint8_t *head = s->spare.head;

	STORE_RELEASE(&s->spare.head, NULL);
	if (head)
		sys_munmap(head, l.first + s->spare.extents_bytes + CPU_PAGE);
}

void slots_unmap(struct slots *s)
{
	if (!s->head)
		return;
	drop_spare(s);
	sys_munmap(s->head, SLOTS_HEAD_BYTES + CPU_PAGE);
	s->head = NULL;
	s->preparing = 0;
}

static void map_spare(struct slots *s, uint32_t slot)
{
	struct segment_memory m;
	uint8_t *head;

	if (!map_slot(s, slot, &m))
		return;
	head = m.head;
	m.head = NULL;
	s->spare = m;
	s->spare_slot = slot;
	STORE_RELEASE(&s->spare.head, head);
}

/*
 * A child that has dropped its privileges may have punched a hole into the page
 * that says which slots are taken. On a full medium a load would then raise
 * SIGBUS, but the kernel answers this call with an error.
 */
static void prepare(struct slots *s)
{
	uint32_t i;

	if (sys_madvise(s->head, CPU_PAGE, MADV_POPULATE_WRITE) != 0) {
		drop_spare(s);
		return;
	}
	if (s->spare.head && LOAD(&s->head->taken[s->spare_slot]))
		drop_spare(s);
	for (i = 0; !s->spare.head && i < s->count; i++) {
		if (LOAD(&s->head->taken[i]))
			continue;
		map_spare(s, i);
		break;
	}
	if (!s->spare.head)
		return;
	/*
	 * looked at each time, because a reader empties the slots of dead
	 * children
	 */
	STORE(&s->spare.made, 0);
	if (sys_madvise(s->spare.head, SEG_HEADER_BYTES + CPU_PAGE, MADV_POPULATE_WRITE) == 0 &&
	    sys_madvise(s->spare.extents, SPARE_BYTES, MADV_POPULATE_WRITE) == 0)
		STORE(&s->spare.made, SPARE_BYTES);
}

void slots_prepare(struct slots *s)
{
	uint32_t none = 0;

	if (!s->head || !CAS(&s->preparing, &none, 1))
		return; /* another thread is forking, too */
	prepare(s);
	STORE_RELEASE(&s->preparing, 0);
}

void slots_count_untraced(const struct slots *s)
{
	if (s->head)
		ADD(&s->head->untraced, 1);
}

void slots_count_unlisted(const struct slots *s, int by)
{
	if (s->head)
		ADD(&s->head->unlisted, (uint64_t)(int64_t)by);
}

struct seg_early *slots_claim_early(const struct slots *s)
{
	uint8_t *lines = (uint8_t *)s->head + SLOTS_EARLY_AT;
	uint32_t i, page;

	for (page = 0; s->head && page < SEG_EARLY / LINES_PER_PAGE; page++) {
		struct seg_early *e = (struct seg_early *)(void *)(lines + (size_t)page * CPU_PAGE);

		/*
		 * a full medium answers here with an error, and not with SIGBUS
		 * later
		 */
		if (sys_madvise(e, CPU_PAGE, MADV_POPULATE_WRITE) != 0)
			return NULL;
		for (i = 0; i < LINES_PER_PAGE; i++) {
			uint32_t none = SEG_EARLY_FREE;

			if (LOAD(&e[i].state) != none ||
			    !CAS(&e[i].state, &none, SEG_EARLY_COUNTING))
				continue;
			memset((uint8_t *)&e[i] + sizeof(e[i].state), 0,
			    sizeof(e[i]) - sizeof(e[i].state));
			return &e[i];
		}
	}
	return NULL;
}
