/* fs_fs_view.h - do two processes see the same files under the same paths? */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_FS_VIEW_H
#define SEEP_FS_VIEW_H

#include <stdint.h>
#include <sys/types.h>

/*
 * A number for the mount namespace and the root of a running process. 0: they
 * are the same as ours, or the process has ended (pid 0), or they cannot be
 * found out; in the last case no file is read there. Uses only /proc, never the
 * other file systems.
 */
uint64_t fs_view_of(pid_t pid);

#endif
