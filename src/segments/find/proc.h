/* proc.h - what /proc says of the process behind a segment. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_PROC_H
#define SEEP_PROC_H

#include "base/std.h"
#include "segments/read/segfile.h"

enum proc_state {
	PROC_NO,      /* no such process any more */
	PROC_YES,     /* it runs and has the segment mapped */
	PROC_EXEC,    /* it runs, but has become another program */
	PROC_UNKNOWN, /* we may not read it, or cannot see it from here */
};

/*
 * A process is alive if /proc/PID/maps shows the file's device and inode; pid
 * and start time are not enough, because they survive an exec. A pid of another
 * namespace, or 0, is searched for in all of /proc. If that does not show all
 * processes of the machine, one that is not found may still run. *ret_pid: the
 * pid in our namespace, set with PROC_YES only.
 */
enum proc_state proc_check(const struct seg_header *h, const struct source *file, pid_t *ret_pid);

/*
 * The same without a search for the forked child of a process that is in a pid
 * namespace below ours: for such a child, PROC_NO and PROC_EXEC may be wrong.
 * For callers that have their own list of all processes.
 */
enum proc_state proc_check_own(const struct seg_header *h, const struct source *file);

/*
 * The same for callers that ask about thousands of slots within a second: the
 * cache keeps what /proc says of a process. NULL: no cache.
 */
struct proc_cache;
struct proc_cache *proc_cache_new(void); /* NULL: out of memory */
void proc_cache_free(struct proc_cache *cache);
void proc_cache_until(struct proc_cache *cache, uint64_t until_ns);

/*
 * Reads the memory maps of all processes, for no longer than proc_cache_until()
 * said. False: of some of them there was no time, or no memory.
 */
bool proc_cache_at_all(struct proc_cache *cache);

/* Afterwards: each segment file that a process maps, in the order of files. */
void proc_cache_each_file(const struct proc_cache *cache,
    void (*each)(void *context, uint64_t device, uint64_t inode, pid_t pid), void *context);
enum proc_state proc_check_in(struct proc_cache *cache, const struct seg_header *h,
    const struct source *file, pid_t *ret_pid);

/* Does any process that we may read map this file? */
bool proc_mapped(struct proc_cache *cache, uint64_t device, uint64_t inode);

/*
 * Opens the segment of a running process, whatever root or pid namespace it
 * has; *ret_slot is its slot in the file. -ESRCH: no such process; -EACCES: we
 * may not read it; -ENXIO: not traced; -EAGAIN: forked from a traced one, no
 * event so far; -ENOSPC: likewise, but its family has, or had, no room for it;
 * -ESTALE: its file was deleted and only root can still open
 * it; -E2BIG: it maps more segment files than the limit; errors of
 * segfile_open().
 */
int proc_open(
    pid_t pid, struct segfile **ret, int *ret_slot, char ret_path[4096], struct fault *where);

/*
 * May a process that started then have written this header? A forked child in
 * a slot does not know its start time, but a process that started later than
 * the header was written is not its writer.
 */
bool proc_may_have_written(const struct seg_header *h, uint64_t start_jiffies);

/* Is a the segment of the same process as b, before an exec to b? */
bool proc_superseded(const struct seg_header *a, const struct seg_header *b);

/* ---- proc_cache: what /proc said of processes, kept for a while ---- */

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
