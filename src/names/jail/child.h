/* child.h - waits for the end of a child process, or kills it. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_CHILD_H
#define SEEP_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * Waits for its end: `grace_ms` for the process to end by itself, then SIGKILL
 * and one more second. False: it does not end even then, because it waits in
 * the kernel for a file system that does not answer. Such a process is left
 * behind.
 */
bool child_end(pid_t pid, unsigned grace_ms, int *ret_status);

#endif
