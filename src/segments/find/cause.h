/* cause.h - the end of a process, and its cause, from a descriptor of it. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_CAUSE_H
#define SEEP_CAUSE_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * A descriptor that stays with this process if another one gets its pid, and
 * becomes readable when all threads have ended. -ESRCH; -ENOSYS: Linux before
 * 5.3; -EMFILE.
 */
int cause_open(pid_t pid);

/*
 * The status of wait(), which the kernel tells whoever holds the descriptor once
 * the parent has asked for it. -EAGAIN: it has not yet; -ENOTSUP: Linux before
 * 6.15.
 */
int cause_status(int pidfd, int *ret_status);

#endif
