/* child.h - the end of a process that was started to do something risky. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_NAMES_CHILD_H
#define SEEP_NAMES_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * Waits for its end: `grace_ms` for it to come by itself, then SIGKILL and a
 * second more. False: it does not end even so, because it waits in the kernel
 * for a file system that does not answer. Such a process is left behind.
 */
bool child_end(pid_t pid, unsigned grace_ms, int *ret_status);

#endif
