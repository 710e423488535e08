/* descriptor.c - sends bytes over a socket, together with an open file. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/os/descriptor.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

union control {
	char bytes[CMSG_SPACE(sizeof(int))];
	struct cmsghdr align;
};

bool descriptor_send(int to, const struct iovec *parts, size_t count, int fd, int flags)
{
	union control control = {0};
	struct msghdr message = {.msg_iov = (struct iovec *)(uintptr_t)parts, .msg_iovlen = count};
	size_t all = 0;
	ssize_t n;

	for (size_t i = 0; i < count; i++)
		all += parts[i].iov_len;
	if (fd >= 0) {
		struct cmsghdr *c;

		message.msg_control = control.bytes;
		message.msg_controllen = sizeof(control.bytes);
		c = CMSG_FIRSTHDR(&message);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(c), &fd, sizeof(int));
	}
	do
		n = sendmsg(to, &message, flags | MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	return n == (ssize_t)all;
}

bool descriptor_receive(int from, void *to, size_t len, int flags, int *ret_fd)
{
	union control control;
	struct iovec part = {.iov_base = to, .iov_len = len};
	struct msghdr message = {.msg_iov = &part,
	    .msg_iovlen = 1,
	    .msg_control = control.bytes,
	    .msg_controllen = sizeof(control.bytes)};
	const struct cmsghdr *c;
	ssize_t n;

	*ret_fd = -1;
	do
		n = recvmsg(from, &message, flags | MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n != (ssize_t)len)
		return false;
	c = CMSG_FIRSTHDR(&message);
	if (c && c->cmsg_type == SCM_RIGHTS && c->cmsg_len == CMSG_LEN(sizeof(int)))
		memcpy(ret_fd, CMSG_DATA(c), sizeof(int));
	return true;
}
