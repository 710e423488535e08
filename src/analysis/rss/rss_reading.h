/* rss_reading.h - where the resident memory of a running process is. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_RSS_READING_H
#define SEEP_RSS_READING_H

#include "session/process/process.h"
#include "recording/parts/rss_account.h"
#include "kit/os/fault.h"

/*
 * Reads smaps, the live map and the state of the heap's pages, all from
 * outside: the process makes no system call and has no page fault for it. If
 * its memory cannot be read, the account has no split of the heap, and
 * ret->lack is the reason. Of a process of our own whose mappings cannot be read
 * either there are sums of three kinds (RESIDENCE_NO_SMAPS).
 *
 * p->running_pid runs. The process goes on meanwhile; what has changed is
 * ret->moved_bytes. *ret is for rss_account_release().
 * -EACCES: we may not look at all; -ESRCH: it has ended, or become another
 * program; -ETIMEDOUT; -ENODATA: no kernel tells; -ENOMEM.
 */
int rss_reading_read(const struct process *p, struct residence *ret, struct fault *where);

/* The same for a process whose struct shall keep it: p->residence. */
int rss_reading_attach(struct process *p, struct fault *where);

/* "the system does not let seep read ...": why there is no split, and what to do. */
const char *rss_reading_why(uint32_t lack);

#endif
