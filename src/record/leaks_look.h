/* leaks_look.h - a child of the recorder that looks at one process. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_RECORD_LEAKS_LOOK_H
#define SEEP_RECORD_LEAKS_LOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "reader/segfile.h"

/* A look that is running, or has ended. */
struct leaks_look {
	pid_t worker;      /* 0: none */
	int fd;            /* its result comes through here */
	uint64_t until_ns; /* in CLOCK_MONOTONIC: it must have ended by then */
	uint8_t *bytes;    /* verdicts_encode() or aging_encode() so far */
	size_t len, room;
};

enum leaks_look_kind {
	LEAKS_LOOK_RUNNING, /* verdicts */
	LEAKS_LOOK_AT_EXIT, /* the same; the process waits at its exit */
	LEAKS_LOOK_BIRTHS,  /* ages and births: trace/aging.h */
};

/*
 * Starts a look at the process with this header, which runs as `pid`. Negative
 * errno; then nothing is held.
 */
int leaks_look_start(struct leaks_look *k, const struct segfile *f, int slot,
    const struct seg_header *h, pid_t pid, enum leaks_look_kind kind);

/*
 * The same with other work for the child, which writes its result to fd; a
 * negative result means that there is none.
 */
typedef int leaks_look_work(int fd, const struct segfile *f, int slot,
    const struct seg_header *h, pid_t pid, enum leaks_look_kind kind);
int leaks_look_start_as(struct leaks_look *k, leaks_look_work *work,
    uint64_t limit_s, const struct segfile *f, int slot,
    const struct seg_header *h, pid_t pid, enum leaks_look_kind kind);

/*
 * Does not wait. 0: it is still running; 1: it has ended, and bytes and len are
 * its result, which is untrusted; -ETIMEDOUT: it was killed; -EIO, -ENOMEM.
 */
int leaks_look_poll(struct leaks_look *k);

/* Ends it, and frees its result. */
void leaks_look_release(struct leaks_look *k);

#endif
