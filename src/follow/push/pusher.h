/* pusher.h - seep push, and the process that pushes for seep watch. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_PUSHER_H
#define SEEP_PUSHER_H

#include "follow/engine/guest.h"
#include "follow/push/push_order.h"
#include "follow/push/push_state.h"
#include "kit/os/fault.h"

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

#endif
