/* proc.h - what /proc says of the process behind a segment. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_READER_PROC_H
#define SEEP_READER_PROC_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "reader/segfile.h"

enum proc_state {
	PROC_NO,      /* no such process any more */
	PROC_YES,     /* it runs and has the segment mapped */
	PROC_EXEC,    /* it runs, but as another program by now */
	PROC_UNKNOWN, /* we may not look, or cannot see it where we are */
};

/*
 * Alive = /proc/PID/maps shows the file's device and inode: pid and start time
 * alone survive an exec. A pid of another namespace, or none, is looked for in
 * all of /proc; where that does not have all processes of the machine, one that
 * is not found there may still run. *ret_pid: the pid as we see it, with
 * PROC_YES only.
 */
enum proc_state proc_check(
    const struct seg_header *h, const struct source *file, pid_t *ret_pid);

/*
 * The same without a search for the forked child of a process that lives in a
 * pid namespace below ours: PROC_NO and PROC_EXEC do not hold for it. For
 * callers with a list of all processes of their own.
 */
enum proc_state proc_check_own(
    const struct seg_header *h, const struct source *file);

/*
 * The same for who asks about thousands of slots within a second: what /proc
 * says of a process is kept in the look. NULL: it is not.
 */
struct proc_look;
struct proc_look *proc_look_new(void); /* NULL: out of memory */
void proc_look_free(struct proc_look *look);
void proc_look_until(struct proc_look *look, uint64_t until_ns);

/*
 * Reads the memory maps of all processes, for no longer than proc_look_until()
 * said. False: of some of them there was no time, or no memory.
 */
bool proc_look_at_all(struct proc_look *look);

/* Afterwards: each segment file that a process maps, in the order of files. */
void proc_look_each_file(const struct proc_look *look,
    void (*each)(void *context, uint64_t device, uint64_t inode, pid_t pid),
    void *context);
enum proc_state proc_check_in(struct proc_look *look,
    const struct seg_header *h, const struct source *file, pid_t *ret_pid);

/* Does any process at all that we may look at map this file? */
bool proc_mapped(struct proc_look *look, uint64_t device, uint64_t inode);

/*
 * Opens the segment of a running process, whatever root or pid namespace it
 * has; *ret_slot tells where in the file it is.
 * -ESRCH: no such process; -EACCES: not ours to look at; -ENXIO: not traced;
 * -EAGAIN: forked from a traced one, no event so far; -ENOSPC: likewise, but its
 * family has no room for it, or had none; -ESTALE: its file
 * was deleted and only root can still reach it; -E2BIG: it maps more segment
 * files than we care to look at; errors of segfile_open().
 */
int proc_open(pid_t pid, struct segfile **ret, int *ret_slot,
    char ret_path[4096], struct fault *where);

/*
 * May a process that started then have written this header? A forked child in
 * a slot does not know its start time, but a process that started later than
 * the header was written is not its writer.
 */
bool proc_may_have_written(const struct seg_header *h, uint64_t start_jiffies);

/* Is a the segment of the same process as b, before an exec to b? */
bool proc_superseded(const struct seg_header *a, const struct seg_header *b);

#endif
