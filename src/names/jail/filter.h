/* filter.h - the system calls that the jail may use. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_FILTER_H
#define SEEP_FILTER_H

#include <stdbool.h>

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
 * trap.h answers. All other calls that are not listed return EPERM. 0, or a
 * negative errno: there is no filter; -ENOSYS: it is not written for this CPU.
 */
int filter_install(void);

#endif
