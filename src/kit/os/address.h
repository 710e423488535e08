/* address.h - where a server listens. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_ADDRESS_H
#define SEEP_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "kit/os/fault.h"

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

#endif
