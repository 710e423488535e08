/* early.c - the first events of a forked child, before it has a segment. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/process/early.h"

#include "base/sys.h"
#include "collector/segment/config.h"
#include "collector/process/start.h"
#include "collector/segment/kernel.h"
#include "collector/heap/ledger.h"
#include "collector/lifecycle.h"
#include "collector/lifecycle_set.h"
#include "collector/log/log.h"
#include "collector/log/logpool.h"
#include "collector/event/mapping.h"
#include "collector/segment/mem.h"
#include "collector/segment/place.h"
#include "collector/segment/segment.h"
#include "collector/segment/slots.h"
#include "collector/thread.h"
#include "collector/process/fork.h"

enum {
	EVENTS_MAX = 64,
	ALLOCATED_MAX = 64 << 10, /* bytes */
	PLAIN_BYTES = 256 << 10,  /* ample for 64 events */
	FILE_BYTES = 8 << 20,     /* of a segment if there are no slots */
};

static uint32_t events;
static struct seg_early *line; /* NULL: none was free */

uint64_t early_layout(void)
{
	return place.slots.count ? place.slots.large_bytes : FILE_BYTES;
}

bool early_map_memory(void)
{
	struct segment_memory m;
	uint8_t *p;

	if (config.is_private)
		return segment_map_private(&m, place.segment_bytes) &&
		    segment_init(&m, place.segment_bytes, place.segment_bytes, false);
	p = sys_mmap(NULL, PLAIN_BYTES, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (sys_failed(p))
		return false;
	own_memory_add(p, PLAIN_BYTES, OWN_MEMORY_FOR_NOW);
	sys_madvise(p, PLAIN_BYTES, MADV_DONTDUMP);
	if (!segment_init_plain(p, PLAIN_BYTES, early_layout()))
		return false;
	segment.populate = kernel.populate; /* for the slot to come */
	return true;
}

void early_begin(void)
{
	STORE(&lifecycle_is_early, !config.is_private);
	events = 0;
}

void early_close(void)
{
	STORE(&lifecycle_is_early, false);
}

void early_claim_line(const struct seg_header *h)
{
	line = slots_claim_early(&place.slots);
	if (!line) {
		slots_count_unlisted(&place.slots, 1);
		return;
	}
	line->pid = h->pid;
	line->ppid = h->ppid;
	line->sequence = (uint32_t)h->sequence;
	STORE_RELEASE(&line->start_monotonic_ns, h->start_monotonic_ns);
}

void early_write_page(struct seg_header *h)
{
	h->slot_index = child_file.word;
	describe_slots(h, &place.slots, child_file.bytes);
	child_file_write_early(&child_file, h);
	child_file.has_early = true;
}

SEEP_COLD static struct ledger_sums note_sums(void)
{
	struct ledger_sums sums = ledger_sums();
	uint64_t peak_bytes = LOAD(&segment.header->peak_bytes);

	if (line) {
		STORE(&line->allocations, sums.allocations);
		STORE(&line->allocated_bytes, sums.allocated_bytes);
		STORE(&line->frees, sums.frees);
		STORE(&line->freed_bytes, sums.freed_bytes);
		STORE(&line->peak_bytes, peak_bytes);
	}
	if (child_file.has_early)
		child_file_update_early(&child_file, &sums, peak_bytes);
	return sums;
}

void early_note_sums(void)
{
	(void)note_sums();
}

/* ---- the move ------------------------------------------------------------ */

/* Of the one thread that moves; too large for a stack. */
static struct segment_table *tables[TABLES_MAX];

static bool move_into_slot(void)
{
	uint32_t slot = slots_claim(&place.slots);
	struct segment_memory m;
	uint64_t bytes;

	if (slot == UINT32_MAX)
		return false;
	segment.header->slot_index = slot;
	if (slots_map_one(&place.slots, slot, &m, &bytes) &&
	    segment_move(&m, bytes, tables, tables_all(tables))) {
		lifecycle_listen(&place.control->slot_command[slot], true);
		logpool_enter(slot);
		return true;
	}
	segment.header->slot_index = UINT32_MAX;
	slots_give_back(&place.slots, slot);
	return false;
}

/* The file was made in the handler of fork(): see fork.c. */
static bool move_into_child_file(void)
{
	if (!segment_move(&child_file.memory, child_file.bytes, tables, tables_all(tables)))
		return false;
	child_file.memory.head = NULL; /* it is the segment now */
	lifecycle_listen(&place.control->slot_command[child_file.word], true);
	return true;
}

/* The child came to its exit during its first events, so its sums are complete. */
static void mark_exited(void)
{
	if (line)
		STORE_RELEASE(&line->state, SEG_EARLY_EXITED);
	if (child_file.has_early)
		child_file_end_early(&child_file);
}

/*
 * Into a slot or a file of its own. Both need no system call but mremap, munmap
 * and madvise. A child that calls exec at once never comes here.
 */
SEEP_COLD static void leave(bool at_exit)
{
	bool moved = child_file.memory.head ? move_into_child_file() : move_into_slot();

	if (!moved && at_exit && (line || child_file.has_early)) {
		mark_exited();
		return;
	}
	log_move();
	/* half of its blocks would not be shown, so it counts as untraced */
	if (!moved) {
		fork_count_untraced();
		lifecycle_set_mode(SEG_MODE_OFF);
	}
	if (line)
		STORE_RELEASE(&line->state, SEG_EARLY_FREE);
	else if (!child_file.has_early && place.slots.head)
		slots_count_unlisted(&place.slots, -1);
	line = NULL;
	child_file.has_early = false;
}

/*
 * One thread moves while the others stay out. If one of them does not come out
 * of its hook, the child tries again after as many events as the first time.
 */
SEEP_COLD static void try_to_leave(uint32_t own, bool at_exit)
{
	if (!lifecycle_change_begins())
		return;
	STORE(&events, 0);
	if (LOAD(&lifecycle_is_early) && lifecycle_change_is_alone(own) && thread_hold_others()) {
		leave(at_exit);
		segment_refill(); /* as the start of its parent did */
		STORE(&lifecycle_is_early, false);
		thread_slow_down(false);
		thread_release_others();
		if (thread_gate)
			thread_change_home(lifecycle_mode());
	}
	lifecycle_change_ends();
}

/* Has the child done enough to be worth a segment of its own? */
SEEP_COLD static bool is_grown_up(void)
{
	return note_sums().allocated_bytes >= ALLOCATED_MAX || ADD(&events, 1) + 1 >= EVENTS_MAX;
}

void early_poll(void)
{
	if (is_grown_up())
		try_to_leave(thread_self ? thread_self->counted : 1, false);
}

void early_new_thread(void)
{
	if (LOAD(&lifecycle_is_early) && thread_any())
		try_to_leave(1, false);
}

void early_end(void)
{
	struct ledger_sums sums = note_sums();

	if (sums.allocations > sums.frees || mapping_any())
		try_to_leave(thread_self ? thread_self->counted : 0, true);
	else
		mark_exited();
}
