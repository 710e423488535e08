/* descriptor.h - sends bytes over a socket, together with an open file. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_DESCRIPTOR_H
#define SEEP_DESCRIPTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/uio.h>

/*
 * Sends all parts in one message, together with the descriptor fd unless that
 * is -1. `flags` are those of sendmsg(); SIGPIPE is never raised. Returns false
 * if not everything was sent.
 */
bool descriptor_send(int to, const struct iovec *parts, size_t count, int fd, int flags);

/*
 * Receives exactly `len` bytes. *ret_fd is the descriptor that came with them,
 * or -1. `flags` are those of recvmsg(). Returns false if another number of
 * bytes came. Allocates nothing, because names/jail/trap.c needs that.
 */
bool descriptor_receive(int from, void *to, size_t len, int flags, int *ret_fd);

#endif
