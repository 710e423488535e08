/* forked_copy.h - for unit tests: a forked copy of this process, whose memory a reader can read. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_TESTS_FORKED_COPY_H
#define SEEP_TESTS_FORKED_COPY_H

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * The copy waits until it is told to go on or ended, so the tables that the
 * test has built do not change in its memory. Include this after test.h.
 */
struct forked_copy {
	pid_t pid;
	int go; /* the copy goes on when this descriptor is closed */
};

/* When told to, the copy calls `then`, which may be NULL, and ends. */
static inline struct forked_copy forked_copy_start(void (*then)(void))
{
	struct forked_copy c;
	int both[2];
	char byte;

	assert_int_equal(pipe2(both, O_CLOEXEC), 0);
	c.pid = fork();
	assert_true(c.pid >= 0);
	if (c.pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(both[1]);
		(void)!read(both[0], &byte, 1);
		if (then)
			then();
		_exit(0);
	}
	close(both[0]);
	c.go = both[1];
	return c;
}

static inline void forked_copy_end(struct forked_copy *c)
{
	close(c->go);
	(void)kill(c->pid, SIGKILL);
	(void)waitpid(c->pid, NULL, 0);
}

#endif
