/* place.h - where segments live: directory, budget, files, mappings. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_COLLECTOR_PLACE_H
#define SEEP_COLLECTOR_PLACE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/fmt.h"
#include "collector/refusal.h"
#include "collector/segment.h"
#include "collector/slots.h"
#include "trace/format.h"

/*
 * Start-up calls only: the constructor and a forked child's set-up. Nothing
 * is kept open; every descriptor is closed before the function returns.
 */
struct place {
	struct segment_memory memory; /* mapped, nothing in it yet */
	uint64_t segment_bytes;
	struct slots slots; /* for forked children; .head is NULL: none */
	const struct ctl_block *control; /* never NULL after place_create() */
	enum seg_medium medium;
	enum refusal refusal; /* after a failure: why */
	bool is_taken;  /* the default directory belongs to another user */
	uint32_t owner; /* who that is */
};

/* What the kernel can do; probed once. */
struct place_kernel {
	bool honest;   /* an invalid advice is refused (qemu-user takes all) */
	bool wipe;     /* MADV_WIPEONFORK */
	bool populate; /* MADV_POPULATE_* */
};

struct place_kernel place_probe(void);

/* Room for forked children in the file. */
enum place_slots {
	PLACE_NO_SLOTS,
	PLACE_SLOTS_UNMAPPED, /* see slots_map_behind() */
	PLACE_SLOTS_MAPPED,
};

/*
 * Makes and maps a segment file and its control file, as large as limits,
 * tmpfs and memory cgroup allow. False: no place; nothing is left behind but a
 * note of the reason, where there is a directory for it.
 */
bool place_create(struct place *ret, uint64_t want_bytes,
    enum place_slots with_slots, bool populate);

/*
 * The same without files and shared memory, for SEEP_PRIVATE: what place_dir()
 * and place_name() say is for the file that is written at the end.
 */
bool place_private(struct place *ret, uint64_t want_bytes);

/*
 * How much private address space all our tables may take under the limit that
 * is set now (UINT64_MAX: no limit).
 */
uint64_t place_private_bytes(void);

/* Up to bytes - 1 of a small file, NUL terminated. Returns the length or -1. */
long place_read(const char *path, char *to, size_t bytes);

/* The directory of our segments, as it was opened. */
const char *place_dir(void);

/* One that we own and nobody else may write, or a negative errno. */
long place_open_dir(const char *path, struct stat *ret_st);

/* BEGIN-PID-RANDOM, how the names of our files begin. */
void place_name(struct fmt *f, const char *begin, uint64_t pid);

/* The name of the program when it started, fit for the name of a file. */
const char *place_program(void);

/*
 * Makes any text fit for that: letters, digits and "_.+" stay, dashes if wanted;
 * other bytes become '_', as does a dot or a dash at its beginning.
 */
void place_tame(char *text, bool dashes);

#define PLACE_SHM "/dev/shm"

enum {
	PLACE_TMPFS = 0x01021994, /* statfs f_type */
	PLACE_DIRENT = 20, /* what an entry adds to a tmpfs directory's size */
	PLACE_FILES_MAX = 3000,   /* in one directory, where it is half full */
	PLACE_FILES_MORE = 30000, /* where it is not */
};

enum { PLACE_PATH_BYTES = 4096 }; /* what a path may have, with its NUL */

/* Facts for the header; exe is what place_exe() found. */
void place_describe(struct seg_header *h, char **argv, const char *exe);

/* The path of the executable; empty: not known. */
void place_exe(char to[PLACE_PATH_BYTES]);
void place_random(void *to, uint64_t bytes);

#endif
