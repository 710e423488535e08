/* post.h - where and when pushes go. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_POST_H
#define SEEP_POST_H

#include "base/std.h"
#include "follow/engine/guest.h"
#include "follow/push/push.h"
#include "kit/os/fault.h"

/*
 * TLS with the certificates of the system, proxies as the environment says
 * (https_proxy, no_proxy). Redirects are not followed, so a token goes nowhere
 * else. Connecting takes 10 s at most, a request 30 s.
 */
struct post_plan {
	const char *url;        /* of the procedure */
	const char *token_file; /* read for each request; NULL: none */
	const char *tenant;     /* NULL: none */
	const char *version;    /* of seep */
};

struct post;

/* The texts of the plan stay the caller's. -ENOMEM. */
int post_new(const struct post_plan *plan, struct post **ret);
void post_free(struct post *p); /* NULL is fine */

/* Valid as long as p. */
struct push_transport post_transport(struct post *p);

/* ---- pusher: seep push, and the process that pushes for seep watch ---- */

/*
 * `seep push`. Negative errno, with words. -EINVAL: wrong use, and nothing was
 * sent; other errors as of push_run() and token_read().
 */
int pusher_run(const struct push_order *order, struct fault *where);

/*
 * `seep watch --push`: a guest of the loop of watch. It has a process of its own
 * in which names and servers may take their time; if that ends, it is started
 * again a minute later. One guest for a program; the order stays valid as long
 * as that. Negative errno, with words, as above.
 */
int pusher_guest(const struct push_order *order, struct guest *ret, struct fault *where);

/* How that goes, for /metrics: a metrics_source; context is not used. */
struct metrics;
void pusher_metrics(void *context, struct metrics *m);

/* The same; NULL: nothing is pushed. Valid as long as the program runs. */
const struct push_state *pusher_state(void);

/* ---- target: the URL of a server of profiles ---- */

enum { TARGET_BYTES = 2048 };

struct target {
	char url[TARGET_BYTES];   /* of the procedure Push */
	char shown[TARGET_BYTES]; /* as it was given; safe to print */
	bool is_encrypted;
	bool is_local; /* the host is this machine */
};

/*
 * http://HOST[:PORT][/PATH] or https://...; -EINVAL with words for all else. No
 * user and password: others can read the command line.
 */
int target_read(const char *text, struct target *ret, struct fault *where);

/* May it be sent as a header field: X-Scope-OrgID? */
bool target_is_tenant(const char *text);

/* ---- schedule: when a host pushes: its place in the interval, and back-off ---- */

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
