/* net_table.c - the commands of seep-net. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "net/net_table.h"

#include "net/serve.h"

static const struct net_table table = {
    .serve = serve_run,
    .serve_guest = serve_guest,
};

const struct net_table *const net_table = &table;
