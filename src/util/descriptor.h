/* descriptor.h - bytes over a socket, with an open file beside them. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_UTIL_DESCRIPTOR_H
#define SEEP_UTIL_DESCRIPTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/uio.h>

/*
 * Sends all parts in one message, with the descriptor fd, -1: with none; flags
 * as of sendmsg(), without SIGPIPE. False: not all of it was sent.
 */
bool descriptor_send(
    int to, const struct iovec *parts, size_t count, int fd, int flags);

/*
 * Receives exactly `len` bytes, and the descriptor that came with them or -1;
 * flags as of recvmsg(). False: other bytes came, or none. Allocates nothing:
 * see names/trap.c.
 */
bool descriptor_receive(int from, void *to, size_t len, int flags, int *ret_fd);

#endif
