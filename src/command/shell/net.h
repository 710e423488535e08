/* net.h - from seep to seep-net, for commands that speak HTTP. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_NET_H
#define SEEP_NET_H

#include "follow/engine/guest.h"

/*
 * A copy of the arguments of a command, from before opts_parse() has put them
 * into another order. Kept as long as the program runs.
 */
char **net_keep(int argc, char **argv);

/*
 * In seep: becomes seep-net with these arguments; if it is missing, one line and
 * exit 3. In seep-net: returns. Call it after opts_parse(), so that --help and
 * mistakes need no seep-net.
 */
void net_enter(const char *command, char **kept);

/* ---- net_table: what the executable seep-net has and seep has not ---- */

/*
 * Two executables are made of the same objects. seep-net has
 * src/follow/serve and push in addition, and is linked with libmicrohttpd and libcurl, which
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
	/* `seep push` and `seep watch --push`: see post.h. */
	int (*push)(const struct push_order *order, struct fault *where);
	int (*push_guest)(const struct push_order *order, struct guest *ret, struct fault *where);
	void (*push_metrics)(void *context, struct metrics *m);
};

/* NULL in seep. */
extern const struct net_table *const net_table;

#endif
