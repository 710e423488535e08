/* proc.h - what /proc says of the process behind a segment. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_PROC_H
#define SEEP_PROC_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

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

#endif
