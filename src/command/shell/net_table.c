/* net_table.c - the commands of seep-net. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "command/shell/net.h"

#include "follow/push/post.h"
#include "follow/serve/serve.h"

static const struct net_table table = {
    .serve = serve_run,
    .serve_guest = serve_guest,
    .push = pusher_run,
    .push_guest = pusher_guest,
    .push_metrics = pusher_metrics,
};

const struct net_table *const net_table = &table;
