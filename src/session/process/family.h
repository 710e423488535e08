/* family.h - relatives of a process, and what it shares with them. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_FAMILY_H
#define SEEP_FAMILY_H

#include "base/std.h"
#include "format/format.h"
#include "kit/os/fault.h"
#include "recording/file/recording.h"
#include "session/load/session.h"
#include "session/process/process.h"

/*
 * A forked child inherits blocks, whose sites are in its parents' segments.
 * Adds those parents whose segments are still in the directory of the child's
 * own segment, after the processes that the session has. Parents that cannot be
 * read are left out. pid is the child's pid in our namespace. -ENOMEM.
 */
int family_add(struct session *s, const struct process *child, pid_t pid, const char *segment_path);

/* The parent of p in the session. NULL: p has none, or it is not there. */
const struct process *family_parent(const struct session *s, const struct process *p);

/*
 * The process whose site this id is: p, or one from which it was forked. NULL:
 * the records of that one, or of two in between, are not there.
 */
const struct process *family_owner(const struct session *s, const struct process *p, uint32_t id);

/* ---- forked: a forked child that has no segment of its own yet ---- */

/*
 * A child gets a segment after some 64 events. Until then it has the live map
 * that it inherited, at the addresses that the header of its parent has, and all
 * of those blocks have stacks in the segment of the parent.
 *
 * A session with the process `pid` and the ancestors whose segments name what it
 * inherits. If it has no segment of its own, it has no sites and no uuid there.
 * Ages and sizes of live blocks are missing. -ENXIO: neither pid nor an ancestor
 * of it that runs has a segment; all else as of proc_open().
 */
int forked_load(pid_t pid, struct session **ret, struct fault *where);

/* Is it one of these? */
bool forked_is(const struct seg_header *h);

/* Is this process without a segment of its own, but forked from one that has one? */
bool forked_lacks_segment(pid_t pid);

/* ---- pools: visits the log of each process of an input ---- */

/* A result other than 0 of one of the functions ends the visit. */
struct pools_visitor {
	/* a process whose segment is the file `name`, or a slot of it */
	int (*pool)(void *context, int dir, const char *name, const struct seg_header *h);
	int (*recording)(void *context, struct recording *b);
	void *context;
};

/*
 * `path` without a pid (0): a recording, a segment file with its slots, or a
 * directory of segments and recordings, of which chapters come first and in
 * order. A pid without a path (NULL): a running process; errors as of
 * proc_open(). Both: the last process that had this pid, which has ended, and
 * whose segment is in the directory `path`, which our own user has chosen;
 * -ESRCH: there is none. 0, or the result of a function, or a negative errno.
 */
int pools_visit(const char *path, pid_t pid, const struct pools_visitor *v, struct fault *where);

/*
 * Gives all entries of one type to `each`, until its result is not 0.
 * *ret_damaged is set if a part cannot be read.
 */
int pools_entries(struct recording *b, enum recording_type type,
    int (*each)(void *context, const void *bytes, size_t len), void *context, bool *ret_damaged);

/* ---- relative: modules that the loader knows by a relative path ---- */

/*
 * After dlopen("./plugins/x.so"), or with a relative RPATH or LD_LIBRARY_PATH,
 * the loader keeps the path as it was given, and the program may have been in
 * any directory. The file is searched for in two places: below the directory
 * where the process started, and where /proc/PID/maps shows the file. The
 * caller that opens it must compare its build-id, because it may be another
 * file.
 */

/* Is this the relative path of a file, whose directory is not known? */
bool relative_is(const struct process_module *m);

/* Fills `full`, by header.start_dir. -ENOMEM. */
int relative_join(struct process *p);

/*
 * Fills `mapped` for a process that runs (running_pid), from its memory map.
 * Files that are deleted are left out. -ENOMEM; a map that cannot be read is
 * no error.
 */
int relative_look(struct process *p);

/*
 * The path under which the module's file is searched first. Not NULL if path is
 * not.
 */
const char *relative_path(const struct process_module *m);

/* Frees the texts of a module. */
void relative_release(struct process_module *m);

#endif
