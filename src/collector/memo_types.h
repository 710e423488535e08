/* memo_types.h - what a thread remembers of the stacks it has seen. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_MEMO_TYPES_H
#define SEEP_MEMO_TYPES_H

#include <stdint.h>

#include "collector/rule.h"

enum {
	OUTER_MAX = 512, /* outer frames of a stack: the depth limit */
	OUTER_CHECK_PAD = 4,
	MEMO_WORDS = 6,
	MEMO_MIN_BITS = 6,
	MEMO_MAX_BITS = 12,
	PATHS_SEEN = 256,
	OUTER_SEEN_BITS = 10,
	TURNS_BITS = 8,
	TURN_WAYS = 2,
	TURN_FRAMES = 38,
};
#define MEMO_NO_NODE  UINT32_MAX /* a chunk's outer part is not known yet */
#define MEMO_NO_STAMP UINT64_MAX /* no frame has it, see outer_drop() */

/*
 * A remembered piece of stack: up to six inner frames. It holds for a caller
 * (pc, sp, fp) when the words at sp[offset[i]] are still value[i].
 */
struct memo_chunk {
	/* a comparison that fails reads these */
	uint64_t key; /* pc and api; 0: empty, or being filled */
	uint64_t sp;
	uint64_t gen_flags;          /* generation of modules | enum memo_flags << 32 */
	uint16_t offset[MEMO_WORDS]; /* in words, from the hook's return address on */
	uint16_t frames;             /* how many it stands for */
	uint16_t pad16[1];
	uint64_t value[MEMO_WORDS]; /* the last is the outer part's pc */
	/* a comparison that succeeds reads these, too */
	/* stamp of the frame of the copy that it joined, or MEMO_NO_STAMP */
	uint64_t version;
	uint64_t fp;
	union {
		uint32_t site;  /* inner chunk: the site of (node, inner) */
		uint32_t above; /* outer chunk: the node above it, or 0 */
	};
	union {
		uint32_t node;    /* inner: the outer part seen with it last */
		uint32_t reached; /* outer: the node of its innermost frame, or 0 */
	};
	union {
		uint32_t inner;   /* inner: the record of its frames */
		uint32_t returns; /* outer: bits, which words are return addresses */
	};
	/* how many checks prove `node`, as an offset in bytes to a stamp */
	uint16_t checks_offset;
	uint16_t hint; /* index into frame[] to try first */
	uint16_t end_offset;
	uint16_t fp_offset; /* of the saved fp below the outer part, or ~0 */
	/* of a first place, see promote() in memo.c */
	uint16_t passed_over, changes;
} __attribute__((aligned(64)));

_Static_assert(sizeof(struct memo_chunk) == 128, "two cache lines");

/* One outer frame of the last stack seen. */
struct outer_frame {
	uint64_t pc, sp, fp;
	uint64_t frame; /* as in the segment */
	struct unwind_rule rule;
	uint32_t node;   /* 0: inside a run, see outer_node() */
	uint32_t checks; /* of outer_check that prove this frame and those above */
	uint64_t ra_slot, fp_slot, aux_slot; /* words its step loads, or 0 */
	uint64_t aux_value;
	uint64_t hash; /* of this frame and those above, see known.h */
	uint64_t top;  /* the argument of walk_prove() before these are loaded */
	uint8_t needs_fp, exact;
	uint8_t vouched; /* see memo.h */
	uint8_t guessed; /* its step was a guess */
	uint8_t pad[4];
};

struct outer_check {
	uint64_t address, value;
};

/* A frame that the copy once had, see outer_drop(). */
struct outer_seen {
	uint64_t above; /* stamp of the frame that it led to; 0: unused */
	uint64_t pc, sp;
	uint64_t fp; /* 0 if it does not need it */
	uint64_t fp_slot;
	uint64_t stamp;
	uint32_t node;
	uint32_t guessed;
};

/* A stack that takes turns with others, see known.h: all its outer frames. */
struct turn {
	uint32_t site, inner, count, reserved;
	uint64_t frames[TURN_FRAMES];
};

/* They are for few threads, so they are not a part of struct thread. */
struct turns {
	/* hash of the stack; 0: unused */
	uint64_t tag[1 << TURNS_BITS][TURN_WAYS];
	/* of the last one that was not there: only who comes twice gets in */
	uint32_t asked[1 << TURNS_BITS];
	struct turn at[1 << TURNS_BITS][TURN_WAYS];
};

_Static_assert(sizeof(struct turn) % 64 == 0, "whole cache lines");
_Static_assert(sizeof(struct outer_check) == 2 * sizeof(uint64_t),
    "an offset to a check is twice that to a stamp");

#endif
