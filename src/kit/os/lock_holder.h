/* lock_holder.h - which process holds an flock() on a file. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_LOCK_HOLDER_H
#define SEEP_LOCK_HOLDER_H

#include <sys/stat.h>
#include <sys/types.h>

/*
 * The process that took the lock on this file, as /proc/locks says. 0: it
 * is not known, because there is no /proc, the process is in another pid
 * namespace, or the file system has a device number of its own for the file.
 * Use it for messages only.
 */
pid_t lock_holder_find(const struct stat *st);

#endif
