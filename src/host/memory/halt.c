/* halt.c - a stop of all threads that does not wait for the process for ever. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "host/memory/halt.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

/*
 * A process of 32,000 threads is stopped in less than that; what is above is a
 * process that does not answer.
 */
enum { HALT_SECONDS = 10 };

enum state {
	HALT_GOES_ON,
	HALT_IS_DONE, /* .err is valid, and so is .stop if that is 0 */
	HALT_IS_LEFT, /* nobody waits for it any more: the thread frees it */
};

struct halt {
	pid_t pid;
	_Atomic int state;
	sem_t done, resume;
	pthread_t thread; /* only the one that stops may let go */
	struct threads_stop stop;
	struct fault where;
	uint64_t stopped_ns;
	int err;
};

static void drop(struct halt *h)
{
	(void)sem_destroy(&h->done);
	(void)sem_destroy(&h->resume);
	free(h);
}

static void *work(void *arg)
{
	int before = HALT_GOES_ON;
	struct halt *h = arg;

	h->err = threads_halt(h->pid, &h->stop, &h->where);
	if (!atomic_compare_exchange_strong(&h->state, &before, HALT_IS_DONE)) {
		if (h->err == 0)
			(void)threads_resume(&h->stop);
		drop(h);
		return NULL;
	}
	(void)sem_post(&h->done);
	if (h->err < 0)
		return NULL;
	while (sem_wait(&h->resume) < 0 && errno == EINTR)
		;
	h->stopped_ns = threads_resume(&h->stop);
	return NULL;
}

/* false: it takes too long. */
static bool await(struct halt *h)
{
	int before = HALT_GOES_ON;
	struct timespec until;

	(void)clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += HALT_SECONDS;
	while (sem_timedwait(&h->done, &until) < 0)
		if (errno != EINTR)
			return !atomic_compare_exchange_strong(&h->state, &before, HALT_IS_LEFT);
	return true;
}

int halt_begin(pid_t pid, struct halt **ret, struct fault *where)
{
	struct halt *h = calloc(1, sizeof(*h));
	int err;

	if (!h || sem_init(&h->done, 0, 0) < 0 || sem_init(&h->resume, 0, 0) < 0) {
		free(h);
		return -ENOMEM;
	}
	h->pid = pid;
	if (pthread_create(&h->thread, NULL, work, h) != 0) {
		drop(h);
		return -ENOMEM;
	}
	if (!await(h)) {
		/* the thread frees h, perhaps already */
		return fault_set(where, -ETIMEDOUT,
		    "it does not stop within %d s: it calls exec, or its "
		    "threads hang in the kernel",
		    HALT_SECONDS);
	}
	if (h->err == 0) {
		*ret = h;
		return 0;
	}
	err = h->err;
	*where = h->where;
	(void)pthread_join(h->thread, NULL);
	drop(h);
	return err;
}

const struct threads_stop *halt_stop(const struct halt *h)
{
	return &h->stop;
}

uint64_t halt_end(struct halt *h)
{
	uint64_t ns;

	(void)sem_post(&h->resume);
	(void)pthread_join(h->thread, NULL);
	ns = h->stopped_ns;
	drop(h);
	return ns;
}
