/* signals.h - the signals that end a command which runs for long, as a descriptor. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_SIGNALS_H
#define SEEP_SIGNALS_H

#include <stdbool.h>

/*
 * Blocks SIGTERM, SIGINT and SIGHUP, and SIGCHLD for who has children. Returns
 * a descriptor of signalfd() from which they are read, or a negative errno.
 */
int signals_take_over(bool has_children);

#endif
