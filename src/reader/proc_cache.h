/* proc_cache.h - what /proc said of processes, kept for a while. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_READER_PROC_CACHE_H
#define SEEP_READER_PROC_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "reader/proc.h"

/* Segments of one process that are kept; more: -E2BIG. */
enum { PROC_CACHE_FILES = 16384 };

struct proc_seen {
	pid_t pid;
	bool is_read;
	int start_err; /* error of start_jiffies */
	uint64_t start_jiffies;
	int err; /* why the list of files is incomplete: negative errno */
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

/* -ENOMEM, -E2BIG. */
int proc_cache_add(struct proc_seen *s, uint64_t device, uint64_t inode);
bool proc_cache_has(const struct proc_seen *s, uint64_t device, uint64_t inode);

#endif
