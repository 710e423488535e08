/* roots.h - the mappings of a process: which may hold pointers, and what is resident. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_ROOTS_H
#define SEEP_ROOTS_H

#include "base/std.h"
#include "host/memory/address_ranges.h"

/*
 * Roots are all memory of the process that is neither the allocator's nor ours:
 * data and bss of modules, anonymous and shared mappings, stacks. Whether a page
 * was ever written is for the reader of pages to say (host/memory/foreign.h).
 */
enum roots_kind {
	ROOTS_MEMORY, /* private: anonymous, or of a file */
	ROOTS_SHARED, /* MAP_SHARED: shared memory, or a file */
	ROOTS_HEAP,   /* "[heap]": what brk() gives */
	ROOTS_STACK,  /* "[stack]": of the first thread */
	ROOTS_RING,   /* io_uring: the kernel and the process share it */
	ROOTS_DEVICE, /* to read it may do something */
	ROOTS_KERNEL, /* vdso and the like: no pointer of the program */
};

/* One line of /proc/PID/maps. */
struct roots_area {
	uint64_t start, end;
	enum roots_kind kind;
	bool can_read, can_write, can_execute;
	bool is_libc; /* of the C library's file */
	bool is_file; /* there is a file behind it */
};

struct roots_areas {
	struct roots_area *at; /* in order, apart from each other */
	size_t count, room;
};

/*
 * The text of /proc/PID/maps, NUL terminated, which is cut into lines. Lines
 * that make no sense or are out of order are left out. -ENOMEM.
 */
int roots_parse(char *text, struct roots_areas *ret);
void roots_release(struct roots_areas *a);

/*
 * Of the text of /proc/PID/smaps: bytes of shared memory that are swapped out.
 * /proc/PID/pagemap does not have these: their entries are empty, as those of
 * pages that were never touched.
 */
uint64_t roots_swapped_shared(const char *smaps);

/* The area that holds an address, NULL: none. */
const struct roots_area *roots_at(const struct roots_areas *a, uint64_t address);

/*
 * What to scan: `certain`, `code` for what can be executed, and `weak` for the
 * parts of stacks below the stack pointer. `pointers` are those of threads that do not run; a
 * stack without one is scanned whole. Without what is in `not`, which is settled. The results,
 * empty before, are settled. -ENOMEM.
 */
struct roots_plan {
	struct ranges certain, code, weak;
};
int roots_plan(const struct roots_areas *a, const struct ranges * not, const uint64_t *pointers,
    size_t count, struct roots_plan *ret);
void roots_plan_release(struct roots_plan *p);

/*
 * The state of glibc's first arena lies in libc's data. Its lists point to free
 * chunks, whose headers overlap the block before. Finds it in `bytes`, memory of
 * libc at `address`; false: it is not there.
 */
enum { ROOTS_ARENA_TOP = 12 }; /* word: the chunk new ones are cut from */

bool roots_find_arena(uint64_t address, const void *bytes, size_t len, struct range *ret);

/* ---- smaps: /proc/PID/smaps: the mappings of a process and what is resident ---- */

/* What is known of a mapping by its line and by its neighbours. */
enum smaps_kind {
	SMAPS_ANONYMOUS, /* private, without a file */
	SMAPS_HEAP,      /* [heap] */
	SMAPS_STACK,     /* [stack], or a mapping right above a guard page */
	SMAPS_MODULE,    /* of a file that is executed, or of the kernel */
	SMAPS_SHARED,    /* shared memory: shm, memfd, shared anonymous */
	SMAPS_FILE,      /* of any other file */
	SMAPS_COLLECTOR, /* a library of seep */
};

struct smaps_area {
	uint64_t start, end;
	uint64_t rss, swap, huge; /* bytes; huge: anonymous, in huge pages */
	uint32_t kind;            /* enum smaps_kind */
	const char *name;         /* "" if it has none; inside the text */
};

/* By address. The text of the file must live as long. */
struct smaps {
	struct smaps_area *at;
	size_t count, room;
};

/*
 * Parses untrusted text, and changes it: names end with a NUL. Lines that make
 * no sense are left out, and so are mappings that are not in order. -ENOMEM.
 */
int smaps_parse(char *text, struct smaps *ret);
void smaps_release(struct smaps *s);

/* The mapping at this address; NULL: none. */
const struct smaps_area *smaps_at(const struct smaps *s, uint64_t address);

/* /proc/PID/smaps_rollup, in bytes. */
struct smaps_sums {
	uint64_t rss, swap;
	uint64_t hugetlb; /* private and shared; the kernel has it beside Rss */
};

/* False: there is no Rss. */
bool smaps_rollup(const char *text, struct smaps_sums *ret);

#endif
