/* descriptor.h - sockets, and descriptors of other things. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_DESCRIPTOR_H
#define SEEP_DESCRIPTOR_H

#include "base/std.h"

#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>

#include "kit/os/fault.h"

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

/* ---- address: where a server listens ---- */

enum { ADDRESS_PORT = 7337, ADDRESS_TEXT = 160 };

/* Numbers alone: a name would have to be looked up, and may change. */
struct address {
	struct sockaddr_storage to;
	socklen_t len;
	bool is_unix;
	bool is_loopback; /* or a socket of the file system */
	char text[ADDRESS_TEXT];
};

/*
 * "127.0.0.1:7337", "127.0.0.1", ":7337" and "7337" (both of 127.0.0.1),
 * "[::1]:7337", "localhost:7337", "0.0.0.0:7337", "unix:PATH". -EINVAL, with
 * words.
 */
int address_parse(const char *text, struct address *ret, struct fault *where);

/*
 * A socket that listens and does not block. A path of a socket on which nobody
 * listens any more is replaced. Negative errno, with words.
 */
int address_listen(const struct address *a, struct fault *where);

/* Removes the path, if it is still the socket that `fd` listens on. */
void address_leave(const struct address *a, int fd);

/* ---- signals: the signals that end a command which runs for long, as a descriptor ---- */

/*
 * Blocks SIGTERM, SIGINT and SIGHUP, and SIGCHLD for who has children. Returns
 * a descriptor of signalfd() from which they are read, or a negative errno.
 */
int signals_take_over(bool has_children);

#endif
