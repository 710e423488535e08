/* procfs.h - the files of /proc/PID: the one place that knows their text. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_PROCFS_H
#define SEEP_PROCFS_H

#include "base/std.h"

/*
 * Names, paths and environment in these files are the process's own words, so
 * they are untrusted. Files that are read under a lock of the process come from
 * foreign_text(), which does not wait for long. The others (stat, status,
 * statm, and the link exe) need no lock that a process can hold.
 */

/* The fields of /proc/PID/stat that somebody needs. */
struct procfs_stat {
	char name[32];
	char state;
	pid_t parent;
	uint64_t start_jiffies;                     /* since the boot */
	uint64_t code_start, code_end, stack_start; /* an exec changes these */
};

/*
 * -ENOENT: not in /proc; -ESRCH: a zombie, or it has ended. The second form
 * takes a descriptor of the directory /proc/PID.
 */
int procfs_stat(pid_t pid, struct procfs_stat *ret);
int procfs_stat_at(int process, struct procfs_stat *ret);

/*
 * A descriptor of the directory /proc/PID, by which files in it are opened; of a
 * thread that lives, if the first one has ended (procfs.h). It stays with this
 * process if another one gets its pid. -ESRCH, -errno.
 */
int procfs_open(pid_t pid);

/* The same from the text of the file. -ESRCH, -EBADMSG. */
int procfs_parse_stat(char *text, struct procfs_stat *ret);

/*
 * The status of wait() of a zombie that started then. It is 0 also if we may not
 * know it. -ESRCH: there is no such zombie.
 */
int procfs_zombie(pid_t pid, uint64_t start_jiffies, int *ret_status);

/*
 * The last number in a line of /proc/PID/status, 0 if it cannot be read. In
 * the line NSpid it is the pid that the process itself sees.
 */
uint32_t procfs_status(pid_t pid, const char *name);

/* A line with a size in that file, in KiB; 0: there is none. */
uint64_t procfs_status_kib(pid_t pid, const char *name);

/* The real, effective, saved and file system user id. -ESRCH. */
enum { PROCFS_UIDS = 4 };
int procfs_uids_at(int process, uid_t ret[PROCFS_UIDS]);

/* The effective user id. -ESRCH. */
int procfs_owner(pid_t pid, uid_t *ret);

/* Resident memory in bytes, 0 if it cannot be read. */
uint64_t procfs_resident(pid_t pid);

/* A line of /proc/PID/maps; inode 0 and "" if there is no file behind it. */
struct procfs_mapping {
	uint64_t start, end, device, inode;
	char rights[5]; /* "rwxp"; the last letter is s in a shared mapping */
	char *path;     /* inside the line */
};
bool procfs_parse_mapping(char *line, struct procfs_mapping *ret);

/*
 * All mappings, or those that have a file. Errors as of foreign_text(), but
 * -ESRCH for a process that is not there.
 */
struct procfs_maps {
	char *text, *next;
};
int procfs_maps_open(struct procfs_maps *m, pid_t pid);
bool procfs_maps_next(struct procfs_maps *m, struct procfs_mapping *ret);
bool procfs_maps_next_file(struct procfs_maps *m, struct procfs_mapping *ret);
void procfs_maps_close(struct procfs_maps *m);

/* 1: pid maps the file; 0: it does not; negative errno: we cannot tell. */
int procfs_maps_file(pid_t pid, uint64_t device, uint64_t inode);

/* Does the path of a mapping end in " (deleted)"? */
bool procfs_is_deleted(const char *path);

/*
 * Calls `each` for every mapping that has a file, until it returns false. The
 * path begins at procfs_root(). -ENOMEM: `each` returned false; -EACCES,
 * -ESRCH: the map cannot be read.
 */
int procfs_files(pid_t pid,
    bool (*each)(void *context, uint64_t start, const char *path, bool is_deleted), void *context);

/*
 * The root of the process's mount namespace, by a path that leads there from
 * ours: the paths of /proc/PID/maps begin there. /proc/PID/root is another
 * directory if the process is in a chroot. -ENOENT: it cannot be reached;
 * -ETIMEDOUT: not in time. The second form may never return: for helpers.
 */
enum { PROCFS_ROOT_BYTES = 1024 };
int procfs_root(pid_t pid, char ret_path[PROCFS_ROOT_BYTES]);
int procfs_walk_root(pid_t pid, char ret_path[PROCFS_ROOT_BYTES]);

/*
 * Was the process started with this NAME=VALUE in its environment? False also
 * if the environment cannot be read.
 */
bool procfs_has_variable(pid_t pid, const char *entry);

/*
 * Calls `each` for all processes until it returns true, which is then the
 * answer. -errno: /proc cannot be opened.
 */
int procfs_each(bool (*each)(pid_t pid, void *context), void *context);

/* ---- living: a process whose first thread has ended is seen through another one ---- */

/*
 * When main() calls pthread_exit(), /proc/PID is that of a zombie: no memory, no
 * files, no root. /proc/TID of a thread that lives has them, although /proc does
 * not list it; and system calls that take a pid take a thread id as well.
 *
 * The id of a thread that lives: pid itself, except if the first thread has
 * ended and another one has not. pid also for a process that is gone.
 */
pid_t living_thread(pid_t pid);

#endif
