/* net_none.c - the table of seep-net in seep, which has none. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "command/shell/net.h"

const struct net_table *const net_table = NULL;
