/* format_family.h - beside a segment: room for forked children, and the control block. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_FORMAT_FAMILY_H
#define SEEP_FORMAT_FAMILY_H

#include <stdint.h>

#include "format/format_words.h"

/*
 * The line of a forked child in its first events, when its stacks are still in
 * its private memory. A child that gets a slot takes back what it has counted
 * here. So the lines in use belong to children that are still in their first
 * events, or have ended there: by _exit, by a signal, by exec, or without a
 * free slot.
 */
struct seg_early {
	uint32_t state; /* enum seg_early_state; claimed by a CAS from 0 */
	uint32_t pid;   /* 0: not known */
	uint64_t start_monotonic_ns;
	uint64_t allocations;
	uint64_t allocated_bytes;
	uint64_t frees; /* of its own blocks */
	uint64_t freed_bytes;
	uint64_t peak_bytes;
	uint32_t ppid;
	uint32_t sequence; /* of the child's header: forks so far */
};
enum seg_early_state {
	SEG_EARLY_FREE = 0, /* also once the child has a slot */
	SEG_EARLY_COUNTING = 1,
	SEG_EARLY_EXITED = 2, /* its destructor ran */
};

/*
 * Room for forked children, behind the parent's own segment: this struct, at
 * early_offset SEG_EARLY lines of struct seg_early, at first_offset large_count
 * slots of slot_bytes, then the others of small_bytes. Pages that nobody
 * touched cost nothing.
 */
struct seg_slots {
	uint64_t magic; /* SEG_SLOT_MAGIC */
	uint32_t count; /* of both sizes, at most SEG_SLOTS */
	uint32_t large_count;
	uint64_t slot_bytes;
	uint64_t small_bytes;
	uint64_t first_offset;    /* of slot 0, from the start of this struct */
	uint64_t untraced;        /* children that found all slots taken */
	uint32_t early_offset;    /* from the start of this struct; 0: none */
	uint32_t early_count;     /* at most SEG_EARLY */
	uint64_t unlisted;        /* children that found no line, and no slot yet */
	uint8_t taken[SEG_SLOTS]; /* 0 free, 1 claimed; a reader that has merged
	                             a dead child's slot may set it back to 0 */
};

/*
 * The control block, a file of its own beside the segment (NAME.ctl). Anyone
 * with the right to write it may command the host, so the host takes an enum
 * and nothing else from it.
 */
struct ctl_block {
	uint64_t magic; /* SEG_CTL_MAGIC */
	uint32_t version;
	uint32_t command; /* enum seg_mode: ON or OFF; 0: nothing asked */
	/*
	 * CLOCK_MONOTONIC in ns when a reader last said that it is there. A
	 * process that ends with SEEP_LEAKS=1 waits for SEG_BEAT_SECONDS after
	 * it, until its own command word is seg_exit_answer(); the reader
	 * writes that, and calls FUTEX_WAKE on the word.
	 */
	uint64_t heartbeat;
	uint32_t reserved_twin[4]; /* were for a copy of the process: 0 */
	uint64_t reserved[59];
	uint8_t pad[4096 - 512];
	/* the command word of a child that lives in slot i of this file */
	uint32_t slot_command[SEG_SLOTS];
};

/*
 * The command that ends the wait of the process with this uuid. No answer to
 * an earlier process with the same command word is the same.
 */
#define SEG_CTL_EXIT UINT32_C(0x80000000)

static inline uint32_t seg_exit_answer(const uint8_t uuid[16])
{
	return SEG_CTL_EXIT | (uint32_t)(uuid[0] & 0x7f) << 24 | (uint32_t)uuid[1] << 16 |
	    (uint32_t)uuid[2] << 8 | uuid[3];
}

_Static_assert(sizeof(struct ctl_block) == SEG_CTL_BYTES, "ctl");
_Static_assert(sizeof(struct seg_slots) <= 4096, "slots");
_Static_assert(sizeof(struct seg_early) == 64, "early");

#endif
