/* errand.h - something done by a child process, while the screen lives on. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_ERRAND_H
#define SEEP_ERRAND_H

#include <stdbool.h>
#include <sys/types.h>

enum { ERRAND_TEXT = 512 };

/* One at a time. All zero: none is under way. */
struct errand {
	pid_t child;
	int fd;
	char text[ERRAND_TEXT]; /* what it has printed so far */
	size_t len;
	bool is_snapshot; /* the caller's note of what it is about */
};

/*
 * Forks; the child calls work(context), what it prints is its answer, and its
 * result its exit status. -EBUSY: another one is under way; or as helper_start() says.
 */
int errand_start(struct errand *e, int (*work)(void *context), void *context);

/* For poll(); -1: none is under way. */
int errand_fd(const struct errand *e);

/*
 * Takes what has come. True: it is over, and e->text has the first line of what
 * it printed, without "seep: "; untrusted text.
 */
bool errand_receive(struct errand *e, bool *ret_ok);

/* Ends it. */
void errand_stop(struct errand *e);

#endif
