/* logfile.h - the log file beside a segment: opens it, and finds a pool in it. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_LOGFILE_H
#define SEEP_LOGFILE_H

#include <stddef.h>
#include <stdint.h>

/*
 * Opens NAME.log and what `end` adds ("", ".ctl") in the directory `dir`. It
 * must be a regular file. A descriptor, or a negative errno.
 */
int logfile_open(int dir, const char *name, const char *end, int flags);

/* All of these bytes, or -EBADMSG. */
int logfile_read(int fd, uint64_t at, void *to, size_t bytes);

/*
 * Where the pool number `pool` is in the file, and its first byte in the file
 * .ctl. -EBADMSG: there is no such pool.
 */
int logfile_find_pool(int fd, uint32_t pool, uint64_t *ret_offset, uint64_t *ret_control);

#endif
