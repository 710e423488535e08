/* verdicts.h - verdicts: which blocks of a process are lost. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_VERDICTS_H
#define SEEP_VERDICTS_H

#include "base/std.h"

/*
 * `seep leaks` makes one of these and prints it; `seep record --leaks` makes one
 * at each look and stores it in the recording, where the last one of a process
 * counts. It holds numbers and names of types, never a byte of the heap.
 */
enum verdict_class {
	VERDICT_LEAK = 1,     /* nothing points to these blocks: proven */
	VERDICT_POSSIBLE = 2, /* nothing certain points to them, see the notes */
};

/* Bits: why it is POSSIBLE, or what else a reader should know. */
enum verdict_note {
	VERDICT_MOVES = 1 << 0,        /* some candidates were held again */
	VERDICT_HIDES = 1 << 1,        /* seemed lost in two looks, then freed */
	VERDICT_PAST_END = 1 << 2,     /* held by a pointer one past the end */
	VERDICT_MISALIGNED = 1 << 3,   /* held by a pointer not at a multiple of 8 */
	VERDICT_BELOW_SP = 1 << 4,     /* held from the dead part of a stack */
	VERDICT_UNREAD = 1 << 5,       /* some memory could not be read */
	VERDICT_HEADS_ONLY = 1 << 6,   /* blocks are unknown: the heads of structures */
	VERDICT_ONE_LOOK = 1 << 7,     /* other threads ran, and there was only one look */
	VERDICT_UNLOADED = 1 << 8,     /* a library of its stack is unloaded */
	VERDICT_UNSEEN_FREES = 1 << 9, /* calls bypassed the collector: maybe it was freed */
};

/* One site and class; a site may have both. */
struct verdict_site {
	uint32_t site;                        /* id in the process's segment, inherited ones too */
	uint32_t class;                       /* enum verdict_class */
	uint32_t notes;                       /* bits of enum verdict_note */
	uint32_t first_birth, last_birth;     /* ticks */
	uint64_t blocks, bytes;               /* LEAK: direct + indirect */
	uint64_t direct_blocks, direct_bytes; /* cycles are counted here, too */
	uint64_t cycle_blocks, cycle_bytes;
	uint64_t indirect_blocks, indirect_bytes; /* held only by lost blocks */
	uint64_t held_again, freed_late;          /* candidates of earlier looks */
	const char *type; /* of most of its direct blocks; NULL: not known */
};

/* Why there is no verdict; 0: there is one. */
enum verdict_reason {
	VERDICT_JUDGED = 0,
	VERDICT_ENDED = 1,       /* it ended before a look, or in the first one */
	VERDICT_NO_RIGHT = 2,    /* the system does not let us read it */
	VERDICT_OLD_CELLS = 3,   /* its collector stores no exact addresses */
	VERDICT_NO_LIVE_MAP = 4, /* it records no blocks, or lost its live map */
	VERDICT_TOO_LARGE = 5,   /* above --max-memory */
	VERDICT_NO_ANSWER = 6,   /* reading its memory takes too long */
	VERDICT_FAILED = 7,
	VERDICT_NO_ROOM = 8, /* above --max-size of the recording */
};

struct verdicts {
	uint32_t reason; /* enum verdict_reason */
	uint32_t looks;
	bool at_exit;      /* the last look was at its exit */
	bool stopped;      /* all threads were stopped: registers are included */
	uint64_t pause_ns; /* for how long at most, if they were stopped */
	bool heads_only;
	/*
	 * from the first look to the last, since the start of the process (tick
	 * 0)
	 */
	uint64_t begin_ns, end_ns;
	uint64_t blocks, bytes;                 /* blocks that were looked at */
	uint64_t refused_blocks;                /* of the live map, implausible */
	uint64_t ignored_blocks, ignored_bytes; /* seep_ignore() */
	/* bytes that were not read, by cause */
	uint64_t swapped_bytes, unreadable_bytes, device_bytes, ring_bytes;
	struct verdict_site *sites; /* largest bytes first, LEAK before POSSIBLE */
	size_t count;
	char *text; /* the memory that `type` points into */
};

/*
 * The bytes of an entry RECORDING_VERDICTS after the uuid of the process; the
 * caller frees them. Names of types are cut to VERDICTS_TYPE_MAX. -ENOMEM;
 * -EFBIG beyond VERDICTS_SITES_MAX.
 */
enum { VERDICTS_SITES_MAX = 1 << 20, VERDICTS_TYPE_MAX = 1000 };
int verdicts_encode(const struct verdicts *v, uint8_t **ret, size_t *ret_len);

/* Decodes untrusted bytes. -EBADMSG: they are damaged; -ENOMEM. */
int verdicts_decode(const uint8_t *bytes, size_t len, struct verdicts *ret);
void verdicts_release(struct verdicts *v);

#endif
