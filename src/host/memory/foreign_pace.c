/* foreign_pace.c - rests between reads, so that a process need not wait for its memory map. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "host/memory/foreign_ask.h"

#include <sys/resource.h>

#include "kit/os/clock.h"

enum {
	TIMES = 400,            /* what a call took that has slept */
	REST_LEAST_NS = 800000, /* a rest costs as much CPU time as a call */
	QUICK_NS = 15000,       /* who has slept takes longer */
	REST_MOST_NS = 20000000,
	BATCH_NS = 500000000, /* the reader waits 2 s for a batch */
};

#define LEFT_NS UINT64_C(10000000000)

void foreign_pace_init(struct foreign_pace *p, uint32_t rest_us)
{
	*p = (struct foreign_pace){.rest_us = rest_us, .left_ns = rest_us ? LEFT_NS : 0};
}

static long times_slept(void)
{
	struct rusage r;

	return getrusage(RUSAGE_THREAD, &r) == 0 ? r.ru_nvcsw : 0;
}

void foreign_pace_begin(struct foreign_pace *p)
{
	if (p->rest_us == 0)
		return;
	p->before_ns = clock_ns(CLOCK_MONOTONIC);
}

static void rest(uint64_t ns)
{
	struct timespec t = {
	    .tv_sec = (time_t)(ns / 1000000000), .tv_nsec = (long)(ns % 1000000000)};

	(void)clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL);
}

/* How long to rest because of a call that took so long, and has slept. */
static uint64_t make_up_for(struct foreign_pace *p, uint64_t ns)
{
	ns = ns < REST_MOST_NS / TIMES ? ns * TIMES : REST_MOST_NS;
	if (ns > p->left_ns)
		ns = p->left_ns;
	if (ns > p->batch_ns)
		ns = p->batch_ns;
	p->left_ns -= ns;
	p->batch_ns -= ns;
	return ns;
}

void foreign_pace_batch(struct foreign_pace *p)
{
	p->batch_ns = BATCH_NS;
	if (p->rest_us)
		p->slept = times_slept();
}

void foreign_pace_end(struct foreign_pace *p, size_t bytes)
{
	uint64_t took;

	if (p->rest_us == 0)
		return;
	took = clock_ns(CLOCK_MONOTONIC) - p->before_ns;
	p->due_ns += (uint64_t)p->rest_us * 1000 * bytes / FOREIGN_PACE_BYTES;
	if (took > QUICK_NS && times_slept() != p->slept) {
		p->due_ns += make_up_for(p, took);
		p->slept = times_slept();
	}
	if (p->due_ns < REST_LEAST_NS)
		return;
	rest(p->due_ns);
	p->due_ns = 0;
	p->slept = times_slept();
}
