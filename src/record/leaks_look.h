/* leaks_look.h - a child of the recorder that looks at one process. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_RECORD_LEAKS_LOOK_H
#define SEEP_RECORD_LEAKS_LOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "reader/segfile.h"

/* A look that is under way, or has ended. */
struct leaks_look {
	pid_t worker;      /* 0: none */
	int fd;            /* what it says comes here */
	uint64_t until_ns; /* of CLOCK_MONOTONIC: it has to be done by then */
	uint8_t *bytes;    /* verdicts_encode(), so far; for free() */
	size_t len, room;
};

/*
 * Starts it for the process with this header, which runs as `pid`. at_exit: it
 * waits at its end. Negative errno; then nothing is held.
 */
int leaks_look_start(struct leaks_look *k, const struct segfile *f, int slot,
    const struct seg_header *h, pid_t pid, bool at_exit);

/*
 * Does not wait. 0: it goes on; 1: it has ended, bytes and len are what it said,
 * which is untrusted; -ETIMEDOUT: it was ended; -EIO, -ENOMEM.
 */
int leaks_look_poll(struct leaks_look *k);

/* Ends it, and frees what it said. */
void leaks_look_release(struct leaks_look *k);

#endif
