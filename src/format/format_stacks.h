/* format_stacks.h - rows of a segment that say what called: modules, frames, sites. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_FORMAT_STACKS_H
#define SEEP_FORMAT_STACKS_H

#include <stdbool.h>
#include <stdint.h>

#include "format/format_words.h"

/*
 * A frame: bits 0..46 the address, bit 47 set when it is the interrupted
 * instruction itself (below a signal frame) and not a return address,
 * bits 48..63 the module number, 0 when the address is in no known module.
 * Offset in the module's file image (ELF vaddr) = address - seg_module.base.
 */
#define SEG_FRAME_PC(f)     ((f)&UINT64_C(0x7fffffffffff))
#define SEG_FRAME_EXACT     (UINT64_C(1) << 47)
#define SEG_FRAME_MODULE(f) ((uint32_t)((f) >> 48))

struct seg_module {
	uint64_t base;  /* load bias */
	uint64_t start; /* mapped range */
	uint64_t end;
	uint64_t path;       /* offset into the strings */
	uint32_t path_bytes; /* without the NUL; 0: name not known */
	uint32_t generation; /* value of the unload counter when first seen */
	uint32_t first_tick;
	uint32_t gone_tick; /* 0: still loaded as far as the collector knows */
	uint8_t build_id[32];
	uint8_t build_id_bytes;
	uint8_t is_main;
	uint8_t pad[6];
	uint64_t reserved[5];
};

/* The outer frames of stacks form a trie; node 0 is the root (no frame). */
struct seg_node {
	uint64_t frame;  /* 0 with a flag below; of a run: an inner number */
	uint32_t parent; /* node nearer to the thread's start */
	uint32_t flags;  /* enum seg_node_flags */
};
enum seg_node_flags {
	SEG_NODE_TRUNCATED = 1,     /* "(stack deeper than the limit)" */
	SEG_NODE_OUTER_DROPPED = 2, /* shown as "(outer frames dropped)" */
	SEG_NODE_NO_ROOM = 4,       /* shown as "(no room)" */
	SEG_NODE_CUT = 8,           /* no unwind information beyond this frame */
	SEG_NODE_EARLY = 16,        /* child that ended early: its stacks are lost */
	/* with a frame: its caller, the parent, was reached by a guess */
	SEG_NODE_GUESSED = 32,
	/* stands for the frames of an inner, which has no flags */
	SEG_NODE_RUN = 64,
};

/* The innermost frames, innermost first; inner 0 is empty. */
struct seg_inner {
	uint64_t frames[SEG_INNER_FRAMES];
	uint32_t count;
	uint32_t flags; /* enum seg_node_flags */
	/*
	 * 1: filled. Copies leave out rows of zeros, and an inner may be all
	 * zero
	 */
	uint64_t is_filled;
};

/* A site = inner frames, then the node and its parents up to the root. */
struct seg_site {
	uint32_t node;
	uint32_t inner; /* 0: id given out but never filled */
	uint32_t first_tick;
	uint8_t kind; /* enum seg_site_kind */
	uint8_t api;  /* enum seg_api */
	/* number of a seg_pool, enum seg_mapping; 0 for sites of the heap */
	uint16_t pool;
};
enum seg_site_kind {
	SEG_SITE_HEAP = 1,
	SEG_SITE_USER = 2,
	SEG_SITE_MAPPING = 3, /* private anonymous mappings, by caller */
};

/* Is it part of the heap's totals? Pools and mappings are apart. */
static inline bool seg_is_heap(uint8_t kind)
{
	return kind != SEG_SITE_USER && kind != SEG_SITE_MAPPING;
}

/* The same for the number of an array. */
static inline bool seg_is_heap_array(uint32_t owner)
{
	return owner != SEG_USER_ARRAY && owner != SEG_MAPPING_ARRAY;
}

/* seg_site.pool of a mapping; pools have lower numbers */
enum seg_mapping {
	SEG_MAPPING_OF_ALLOCATOR = 65534, /* its stack is empty */
	SEG_MAPPING_OF_CALLER = 65535,
};
enum seg_api {
	SEG_API_NONE = 0,
	SEG_API_MALLOC = 1,
	SEG_API_CALLOC = 2,
	SEG_API_REALLOC = 3,
	SEG_API_REALLOCARRAY = 4,
	SEG_API_MEMALIGN = 5,
	SEG_API_ALIGNED_ALLOC = 6,
	SEG_API_POSIX_MEMALIGN = 7,
	SEG_API_VALLOC = 8,
	SEG_API_PVALLOC = 9,
	SEG_API_NEW = 10,
	SEG_API_NEW_ARRAY = 11,
	SEG_API_MALLOCX = 12, /* these three are jemalloc's */
	SEG_API_RALLOCX = 13,
	SEG_API_XALLOCX = 14,
};

_Static_assert(sizeof(struct seg_module) == 128, "module");
_Static_assert(sizeof(struct seg_node) == 16, "node");
_Static_assert(sizeof(struct seg_inner) == 64, "inner");
_Static_assert(sizeof(struct seg_site) == 16, "site");

#endif
