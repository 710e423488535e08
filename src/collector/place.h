/* place.h - where segments live: directory, budget, files, mappings. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_COLLECTOR_PLACE_H
#define SEEP_COLLECTOR_PLACE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/fmt.h"
#include "trace/format.h"

/*
 * Start-up calls only: the constructor and a forked child's set-up. Nothing
 * is kept open; every descriptor is closed before the function returns.
 */
struct place {
	uint8_t *segment; /* mapped shared, PROT_NONE */
	uint64_t segment_bytes;
	struct seg_slots *slots; /* NULL: none */
	uint32_t slot_count, large_count;
	uint64_t slot_bytes, small_bytes;
	uint64_t slots_offset;
	struct ctl_block *control; /* never NULL after place_create() */
	enum seg_medium medium;
};

/* What the kernel can do; probed once. */
struct place_kernel {
	bool honest;   /* an invalid advice is refused (qemu-user takes all) */
	bool wipe;     /* MADV_WIPEONFORK */
	bool populate; /* MADV_POPULATE_* */
};

struct place_kernel place_probe(void);

/*
 * Makes and maps a segment file and its control file, as large as limits,
 * tmpfs and memory cgroup allow, with room for forked children when
 * with_slots. False: no place; nothing is left behind.
 */
bool place_create(
    struct place *ret, uint64_t want_bytes, bool with_slots, bool populate);

/* Slot i as the host knows it, from private memory. */
uint8_t *place_slot(const struct place *p, uint32_t i, uint64_t *ret_bytes);

/*
 * The same for a child's segment of `bytes` that starts as plain memory at
 * `at`: the file takes its place there.
 */
bool place_replace(struct place *ret, void *at, uint64_t bytes, uint64_t used);

/*
 * How much private address space one reserve may take under the limits, and
 * all of them together (UINT64_MAX: no limit).
 */
uint64_t place_reserve_bytes(void);
uint64_t place_private_bytes(void);

/* The directory of our segments, as it was opened. */
const char *place_dir(void);

/* One that we own and nobody else may write, or a negative errno. */
long place_open_dir(const char *path, struct stat *ret_st);

/* COMM-PID-RANDOM, how the names of our files begin. */
void place_name(struct fmt *f, uint64_t pid);

enum {
	PLACE_TMPFS = 0x01021994, /* statfs f_type */
	PLACE_DIRENT = 20, /* what an entry adds to a tmpfs directory's size */
	PLACE_FILES_MAX = 3000, /* in one directory: about 1,000 processes */
};

enum { PLACE_PATH_BYTES = 4096 }; /* what a path may have, with its NUL */

/* Facts for the header; exe is what place_exe() found. */
void place_describe(struct seg_header *h, char **argv, const char *exe);

/* The path of the executable; empty: not known. */
void place_exe(char to[PLACE_PATH_BYTES]);
void place_random(void *to, uint64_t bytes);

#endif
