/* net_table.h - what the executable seep-net has and seep has not. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_NET_TABLE_H
#define SEEP_NET_TABLE_H

#include "follow/engine/guest.h"

/*
 * Two executables are made of the same objects. seep-net has src/net and
 * src/push in addition, and is linked with libmicrohttpd and libcurl, which
 * alone take 4 ms to load. seep runs it for the commands below.
 *
 * To add a command: a function here, its line in net_table.c, and net_enter()
 * in its cmd_NAME.c.
 */
struct serve_plan;
struct push_order;
struct metrics;

struct net_table {
	/*
	 * `seep serve`: until SIGTERM, SIGINT or SIGHUP. Negative errno, with
	 * words.
	 */
	int (*serve)(const struct serve_plan *plan, struct fault *where);
	/*
	 * `seep watch --listen`: a guest of the loop of watch, which ends it.
	 * Negative errno, with words.
	 */
	int (*serve_guest)(const struct serve_plan *plan, struct guest *ret, struct fault *where);
	/* `seep push` and `seep watch --push`: see pusher.h. */
	int (*push)(const struct push_order *order, struct fault *where);
	int (*push_guest)(const struct push_order *order, struct guest *ret, struct fault *where);
	void (*push_metrics)(void *context, struct metrics *m);
};

/* NULL in seep. */
extern const struct net_table *const net_table;

#endif
