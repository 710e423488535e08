/* root_threads.h - the stacks and the thread-local storage of threads. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_ROOT_THREADS_H
#define SEEP_ROOT_THREADS_H

#include "host/memory/foreign.h"
#include "session/process/process.h"
#include "analysis/holders/root_notes.h"

/*
 * glibc puts a thread's control block at the upper end of its stack, and its
 * thread-local storage right below that. Each module that was loaded at the start
 * has one part of it, in the order in which modules with thread-local storage
 * were loaded, and a table that the control block points to (dtv) has their
 * addresses. All of this is read while it may change, and is only believed where
 * addresses, order and sizes agree.
 */
enum { ROOT_THREADS_TLS_MAX = 64 };

struct root_tls {
	uint64_t start, end; /* 0: not known */
	uint32_t module;     /* number in the process */
};

struct root_thread {
	uint64_t tcb;
	pid_t tid;    /* 0: not known */
	uint64_t low; /* where its thread-local storage begins; tcb: none */
	char name[16];
	struct root_tls tls[ROOT_THREADS_TLS_MAX];
	size_t tls_count;
};

/* Fills n->threads, by address, from n->tcbs. -ENOMEM. */
int root_threads_read(
    struct root_notes *n, const struct process *p, pid_t pid, struct foreign *memory);

/* The thread to whose control block or storage an address in this area belongs,
 * or on whose stack it may be: the next control block above. NULL: none. */
const struct root_thread *root_threads_at(
    const struct root_notes *n, const struct roots_area *a, uint64_t address);

/* The part of a thread's storage that an address is in; NULL: not known. */
const struct root_tls *root_threads_tls(const struct root_thread *t, uint64_t address);

enum { ROOT_THREADS_TCB_BYTES = 2560 }; /* of struct pthread, or less */

#endif
