/* in_use.h - does any process of this machine have a segment file mapped? */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_IN_USE_H
#define SEEP_IN_USE_H

#include <stdint.h>

enum in_use {
	IN_USE_NO,
	IN_USE_YES,
	IN_USE_UNKNOWN, /* not ours to ask, or the file system cannot say */
};

/*
 * /proc shows the processes of our pid namespace only, and not those that
 * hidepid= hides. The kernel knows better: a collector maps its file from a
 * descriptor that may write, and as long as such a mapping is there, in
 * whatever process, nobody gets a read lease on the file. Only the owner of the
 * file and root may ask; nobody else can remove it either.
 *
 * `name` is a regular file in the directory `dir`; another one than `device`
 * and `inode` say is IN_USE_UNKNOWN. The answer IN_USE_NO stays true, because
 * no process maps the file of another one later, unless it is the file of a
 * forked child without an event, which the next child may take (child_file.h).
 */
enum in_use in_use_check(int dir, const char *name, uint64_t device, uint64_t inode);

#endif
