/* jail.h - takes rights away from the process that reads foreign files. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_JAIL_H
#define SEEP_JAIL_H

#include <stdint.h>

enum { JAIL_FD = 3 };

/*
 * For a forked child, before it touches anything foreign. Afterwards it
 *  - dies with its parent, leaves no core file, cannot be traced;
 *  - has `fd` as JAIL_FD, /dev/null as 0 to 2, and no other descriptor;
 *  - may map so many bytes more and compute so many seconds;
 *  - has a user and a group of its own and no capabilities, where it was root;
 *  - can open no file: it asks its parent for descriptors (ask.h);
 *  - writes to JAIL_FD alone, maps nothing executable, and is refused every
 *    system call but those that filter.c lists.
 * 0; or a negative errno: the kernel refuses a part of this, and the caller
 * must not read anything complicated. What could be had holds nevertheless.
 */
int jail_enter(int fd, uint64_t memory_bytes, unsigned seconds);

#endif
