/* proc_cache.h - what /proc said of processes, kept for a while. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_PROC_CACHE_H
#define SEEP_PROC_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "segments/find/proc.h"

/* Segments of one process that are kept; more: -E2BIG. */
enum { PROC_CACHE_FILES = 16384 };

struct proc_seen {
	pid_t pid;
	bool is_read;
	uint64_t read_ns; /* CLOCK_MONOTONIC, before it was read */
	bool start_known;
	int start_err; /* error of start_jiffies */
	uint64_t start_jiffies;
	bool inner_known;
	uint32_t inner; /* the pid that it sees itself; 0: not to be known */
	int err;        /* why the list of files is incomplete: negative errno */
	struct proc_file {
		uint64_t device, inode;
	} * files; /* segments that it maps */
	size_t count, room;
	/* of the segment that it has now */
	bool uuid_known, has_uuid;
	uint8_t uuid[16];
};

/*
 * The entry of this pid, empty if it is new; valid until the next call. NULL:
 * no memory.
 */
struct proc_seen *proc_cache_find(struct proc_cache *cache, pid_t pid);

/* What was seen is not true any more: it is read again. */
void proc_cache_forget(struct proc_seen *s);

/*
 * All processes have been read since begin_ns, or as many as there was time
 * for: from now on proc_cache_each() knows who maps a file. -ENOMEM.
 */
int proc_cache_finish(struct proc_cache *cache, uint64_t begin_ns, bool is_partial);
struct proc_cache_state {
	bool is_full; /* proc_cache_finish() was called */
	bool is_partial;
	uint64_t begin_ns;
	uint32_t times;    /* it was called */
	uint64_t until_ns; /* reading all takes no longer; 0: as it takes */
};
struct proc_cache_state *proc_cache_state(struct proc_cache *cache);

/* Nothing has been read; the state stays, but for is_full. */
void proc_cache_clear(struct proc_cache *cache);

/*
 * Calls `each` for all that map the file, and then for those of which it is not
 * known, until it returns true.
 */
bool proc_cache_each(const struct proc_cache *cache, uint64_t device, uint64_t inode,
    bool (*each)(pid_t pid, void *context), void *context);

/* -ENOMEM, -E2BIG. */
int proc_cache_add(struct proc_seen *s, uint64_t device, uint64_t inode);
bool proc_cache_has(const struct proc_seen *s, uint64_t device, uint64_t inode);

#endif
