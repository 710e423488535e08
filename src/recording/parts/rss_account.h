/* rss_account.h - where the resident memory of a process is, and who keeps it. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_RSS_ACCOUNT_H
#define SEEP_RSS_ACCOUNT_H

#include "base/std.h"

/*
 * `seep report --rss` makes one of these; `seep snapshot` and `seep record
 * --rss` store it. It holds numbers, addresses and names of mappings, never a
 * byte of the heap. docs/RSS.md explains each class to users. The numbers are
 * on disk and never change their meaning.
 */
enum rss_class {
	RSS_LIVE = 0,      /* bytes of living blocks, as requested */
	RSS_ROUNDING = 1,  /* what the allocator adds to these blocks */
	RSS_PARTLY = 2,    /* the rest of pages with a living block */
	RSS_FREE = 3,      /* pages of the heap without one */
	RSS_HEAP = 4,      /* heap, if its pages were not split */
	RSS_STACKS = 5,    /* of all threads */
	RSS_MODULES = 6,   /* code and data of program and libraries */
	RSS_ANONYMOUS = 7, /* other private memory without a file */
	RSS_SHARED = 8,    /* shared memory */
	RSS_FILES = 9,     /* other mapped files */
	RSS_OURS = 10,     /* the collector's memory and library */
	RSS_CLASSES = 11,
	RSS_ROOM = 16, /* for classes, on disk */
};

/* Why the heap was not split, so that no site has held pages; 0: it was. */
enum rss_lack {
	RSS_SPLIT = 0,
	RSS_NO_RIGHT = 1,  /* the system does not let us read its memory */
	RSS_SAMPLED = 2,   /* it knows only some of its blocks */
	RSS_NO_MAP = 3,    /* it has no live map that we can read */
	RSS_NO_ANSWER = 4, /* reading its memory takes too long */
	RSS_OTHER = 5,
	/*
	 * nor its mappings: RSS_HEAP is all private memory that is not a
	 * file's, RSS_FILES also has code and data of modules
	 */
	RSS_NO_SMAPS = 6,
	RSS_LACKS = 7,
};

enum {
	RSS_FILLS = 4, /* pages up to 1/4, 1/2, 3/4 full, and fuller */
	RSS_SITES_MAX = 1 << 20,
	RSS_AREAS_MAX = 4096,
	RSS_NAME_MAX = 255,
	/* the table of a snapshot, docs/FORMAT.md: its kind, and its rows */
	RSS_TABLE = 64,
	RSS_ROW_BYTES = 64,
};

/* What one site has on resident pages of the heap. */
struct rss_site {
	uint32_t id; /* of the site, in the process's segment */
	uint64_t blocks;
	uint64_t live;  /* bytes of its blocks on these pages */
	uint64_t holds; /* its share of these pages, at least `live` */
	uint64_t thin;  /* of `holds`: on pages less than a quarter full */
};

/* A mapping of RSS_ANONYMOUS that is large enough for its own line. */
struct rss_area {
	uint64_t start, end, bytes; /* bytes: resident */
	const char *name;           /* as in smaps; "" if it has none */
};

struct rss_account {
	uint32_t lack; /* enum rss_lack */
	uint32_t page_bytes;
	bool is_glibc;    /* the allocator is glibc's */
	bool is_partial;  /* blocks may be missing: parts of the map are in swap */
	bool is_short;    /* sites below one percent were left out */
	uint64_t time_ns; /* since the process began (tick 0) */
	uint64_t took_ns;
	uint64_t rss_bytes; /* Rss of smaps_rollup, read last */
	uint64_t swap_bytes;
	int64_t moved_bytes; /* rss_bytes less the sum of all classes */
	uint64_t classes[RSS_ROOM];
	uint64_t fills[RSS_FILLS]; /* bytes of pages with living blocks */
	uint64_t heap_swap_bytes;
	uint64_t huge_bytes; /* of the heap, in huge pages */
	/* all blocks of the live map, resident or not */
	uint64_t blocks, block_bytes;
	/* heaps of glibc's other arenas: their number, free bytes in them */
	uint64_t arenas, arena_free_bytes;
	/* blocks that a parent allocated before the fork */
	uint64_t inherited_live, inherited_holds;
	/* of sites that began while it was read, or were left out */
	uint64_t rest_live, rest_holds;
	uint64_t areas_bytes, areas_count; /* of the class, listed or not */
	uint64_t hugetlb_bytes;            /* in pages of hugetlbfs, beside RSS */
	struct rss_site *sites;            /* by id */
	size_t site_count;
	struct rss_area *areas; /* the largest first */
	size_t area_count;
	char *text; /* the memory that names point into */
};

/* The sum of the classes that are heap. */
uint64_t rss_account_heap(const struct rss_account *r);

/* The row of a site; NULL: it has nothing on resident pages. */
const struct rss_site *rss_account_find(const struct rss_account *r, uint32_t id);

/* Keeps only sites that hold one percent of the heap; others become rest_*. */
void rss_account_shorten(struct rss_account *r);

/*
 * The bytes of an entry RECORDING_RESIDENCE after the uuid of the process, and
 * of the table RSS_TABLE of a snapshot; the caller frees them. -ENOMEM;
 * -EFBIG beyond the limits above.
 */
int rss_account_encode(const struct rss_account *r, uint8_t **ret, size_t *ret_len);

/*
 * Decodes untrusted bytes, which may be followed by zeros. -EBADMSG: they are
 * damaged; -ENOMEM.
 */
int rss_account_decode(const uint8_t *bytes, size_t len, struct rss_account *ret);
void rss_account_release(struct rss_account *r);

#endif
