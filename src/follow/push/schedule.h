/* schedule.h - when a host pushes: its place in the interval, and back-off. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_SCHEDULE_H
#define SEEP_SCHEDULE_H

#include <stdint.h>

/*
 * A thousand hosts with the same interval must not push in the same second. So
 * each has a place in the interval, which follows from its host id and the wall
 * clock and stays the same when hosts are started together. After a failure it
 * comes again at random, half an interval to one and a half later, and again
 * after each further one. So a server that returns is not met by all at once.
 *
 * All times are nanoseconds of CLOCK_REALTIME: clock_gettime() is the caller's.
 */
struct schedule {
	uint64_t every_ns;
	uint64_t place_ns; /* in the interval */
	uint64_t next_ns;
	uint64_t random; /* state of the generator */
};

/* `host`: see schedule_host(). `random`: any number. */
void schedule_init(
    struct schedule *s, uint64_t every_ns, uint64_t host, uint64_t random, uint64_t now_ns);

/* All was accepted. */
void schedule_success(struct schedule *s, uint64_t now_ns);

/*
 * The server was not there, or has too much to do. not_before_ns: what it asks
 * for, from now on; 0: nothing.
 */
void schedule_failure(struct schedule *s, uint64_t now_ns, uint64_t not_before_ns);

/* If the clock was set back, no push is further away than this allows. */
void schedule_check(struct schedule *s, uint64_t now_ns);

/*
 * A number for this host: a hash of /etc/machine-id, else of the host name. The
 * id itself is confidential, machine-id(5), and is not sent.
 */
uint64_t schedule_host(void);

/* A number from 0 to below `below`, which is not 0. */
uint64_t schedule_random(struct schedule *s, uint64_t below);

#endif
