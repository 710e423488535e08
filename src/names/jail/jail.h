/* jail.h - takes rights away from the process that reads foreign files. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_JAIL_H
#define SEEP_JAIL_H

#include "base/std.h"

enum { JAIL_FD = 3 };

/*
 * For a forked child, before it touches anything foreign. Afterwards it
 *  - dies with its parent, leaves no core file, cannot be traced;
 *  - has `fd` as JAIL_FD, /dev/null as 0 to 2, and no other descriptor;
 *  - may map so many bytes more and compute so many seconds;
 *  - has a user and a group of its own and no capabilities, where it was root;
 *  - can open no file: it asks its parent for descriptors (ask.h);
 *  - writes to JAIL_FD alone, maps nothing executable, and is refused every
 *    system call but those that jail.c lists.
 * 0; or a negative errno: the kernel refuses a part of this, and the caller
 * must not read anything complicated. What could be had holds nevertheless.
 */
int jail_enter(int fd, uint64_t memory_bytes, unsigned seconds);

/* ---- filter: the system calls that the jail may use ---- */

/*
 * Sanitizers make system calls of their own, and their reports must be visible.
 */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define FILTER_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define FILTER_SANITIZED 1
#endif
#endif
#ifndef FILTER_SANITIZED
#define FILTER_SANITIZED 0
#endif

/*
 * Cannot be undone; holds for the calling thread and its children. openat(),
 * readlink() and fstatat() are not executed either: they raise SIGSYS, and
 * jail.h answers. All other calls that are not listed return EPERM. 0, or a
 * negative errno: there is no filter; -ENOSYS: it is not written for this CPU.
 */
int filter_install(void);

/* ---- trap: answers system calls that the jail does not execute ---- */

/*
 * libdw opens .dwo files by itself, beside the file that names them. In the
 * jail these calls raise SIGSYS, and the handler answers instead of the kernel:
 * with a descriptor of the .dwo file from the parent (ask.h), the path of the
 * file that is being read, or the status of a descriptor. All other calls are
 * refused. Call this before filter_install(). 0, or a negative errno.
 */
int trap_install(int fd);

/* The file whose debug information is being read; must stay valid. */
void trap_set_path(const char *path);

#endif
