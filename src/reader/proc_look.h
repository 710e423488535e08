/* proc_look.h - what /proc said of processes, kept for a while. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_READER_PROC_LOOK_H
#define SEEP_READER_PROC_LOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "reader/proc.h"

/* More segments than these of one process are not kept: -E2BIG. */
enum { PROC_LOOK_FILES = 16384 };

struct proc_seen {
	pid_t pid;
	bool is_read;
	int start_err; /* of start_jiffies */
	uint64_t start_jiffies;
	int err; /* why the files are not all known: negative errno */
	struct proc_file {
		uint64_t device, inode;
	} * files; /* segments that it maps */
	size_t count, room;
	/* of the segment that it has now */
	bool uuid_known, has_uuid;
	uint8_t uuid[16];
};

/* An empty one for a pid that is new; valid until the next call. NULL: no memory. */
struct proc_seen *proc_look_find(struct proc_look *look, pid_t pid);

/* -ENOMEM, -E2BIG. */
int proc_look_add(struct proc_seen *s, uint64_t device, uint64_t inode);
bool proc_look_has(const struct proc_seen *s, uint64_t device, uint64_t inode);

#endif
