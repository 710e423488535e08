/* descriptor.c - sends bytes over a socket, together with an open file. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/os/descriptor.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/signalfd.h>
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

/* ---- address: where a server listens ---- */

enum { BACKLOG = 128 };

static int parse_unix(const char *path, struct address *a, struct fault *where)
{
	struct sockaddr_un *to = (struct sockaddr_un *)&a->to;

	if (*path == '\0')
		return fault_set(where, -EINVAL, "unix: needs a path");
	if (strlen(path) >= sizeof(to->sun_path))
		return fault_set(where, -EINVAL, "the path of a socket has at most %zu bytes",
		    sizeof(to->sun_path) - 1);
	to->sun_family = AF_UNIX;
	memcpy(to->sun_path, path, strlen(path) + 1);
	a->len = sizeof(*to);
	a->is_unix = a->is_loopback = true;
	return 0;
}

/* 1 to 65535; "" is the usual one; -1: it is none. */
static long parse_port(const char *text)
{
	char *end;
	long port;

	if (*text == '\0')
		return ADDRESS_PORT;
	if (strspn(text, "0123456789") != strlen(text) || strlen(text) > 5)
		return -1;
	port = strtol(text, &end, 10);
	return port >= 1 && port <= 65535 ? port : -1;
}

static bool set_v4(struct address *a, const char *host, long port)
{
	struct sockaddr_in *to = (struct sockaddr_in *)&a->to;

	if (inet_pton(AF_INET, host, &to->sin_addr) != 1)
		return false;
	to->sin_family = AF_INET;
	to->sin_port = htons((uint16_t)port);
	a->len = sizeof(*to);
	a->is_loopback = ntohl(to->sin_addr.s_addr) >> 24 == 127;
	return true;
}

static bool set_v6(struct address *a, const char *host, long port)
{
	struct sockaddr_in6 *to = (struct sockaddr_in6 *)&a->to;

	if (inet_pton(AF_INET6, host, &to->sin6_addr) != 1)
		return false;
	to->sin6_family = AF_INET6;
	to->sin6_port = htons((uint16_t)port);
	a->len = sizeof(*to);
	a->is_loopback = IN6_IS_ADDR_LOOPBACK(&to->sin6_addr);
	return true;
}

/* Cuts "HOST:PORT", "[HOST]:PORT", "HOST" and "PORT" into two. */
static bool cut(const char *text, char host[64], char port[8])
{
	const char *colon = strrchr(text, ':'), *end;
	size_t len;

	if (text[0] == '[') {
		end = strchr(text, ']');
		if (!end || end == text + 1 || (end[1] != '\0' && end[1] != ':'))
			return false;
		text++;
		colon = end[1] == ':' ? end + 1 : NULL;
	} else if (strspn(text, "0123456789") == strlen(text)) {
		end = text;
		colon = text - 1;
	} else {
		end = colon ? colon : text + strlen(text);
	}
	len = (size_t)(end - text);
	if (len >= 64 || (colon && strlen(colon + 1) >= 8))
		return false;
	memcpy(host, text, len);
	host[len] = '\0';
	(void)strcpy(port, colon ? colon + 1 : "");
	if (*host == '\0' || strcmp(host, "localhost") == 0)
		(void)strcpy(host, "127.0.0.1");
	return true;
}

int address_parse(const char *text, struct address *ret, struct fault *where)
{
	char host[64], port_text[8];
	struct address a = {.len = 0};
	long port;

	if (strncmp(text, "unix:", 5) == 0) {
		int err = parse_unix(text + 5, &a, where);

		if (err < 0)
			return err;
		(void)snprintf(a.text, sizeof(a.text), "%s", text);
		*ret = a;
		return 0;
	}
	if (*text == '\0' || !cut(text, host, port_text))
		return fault_set(where, -EINVAL,
		    "\"%s\" is no address: it is 127.0.0.1:%d, [::1]:%d or "
		    "unix:PATH",
		    text, ADDRESS_PORT, ADDRESS_PORT);
	port = parse_port(port_text);
	if (port < 0)
		return fault_set(
		    where, -EINVAL, "\"%s\": a port is a number from 1 to 65535", text);
	if (!set_v4(&a, host, port) && !set_v6(&a, host, port))
		return fault_set(where, -EINVAL,
		    "\"%s\" is no address of this machine: it is a number, "
		    "as 127.0.0.1 or [::1], or unix:PATH",
		    text);
	(void)snprintf(
	    a.text, sizeof(a.text), a.to.ss_family == AF_INET6 ? "[%s]:%ld" : "%s:%ld", host, port);
	*ret = a;
	return 0;
}

/* A socket that a killed server has left is in the way of the next one. */
static void remove_stale(const struct address *a)
{
	const struct sockaddr_un *to = (const struct sockaddr_un *)&a->to;
	struct stat st;
	int fd;

	if (lstat(to->sun_path, &st) < 0 || !S_ISSOCK(st.st_mode) || st.st_uid != geteuid())
		return;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return;
	if (connect(fd, (const struct sockaddr *)&a->to, a->len) < 0 && errno == ECONNREFUSED)
		(void)unlink(to->sun_path);
	(void)close(fd);
}

int address_listen(const struct address *a, struct fault *where)
{
	int fd = socket(a->to.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int on = 1, err;
	mode_t mask = 0;

	if (fd < 0)
		return fault_set(where, -errno, "%s: %s", a->text, strerror(errno));
	if (a->is_unix) {
		remove_stale(a);
		/* who may read our files may not therefore talk to us */
		mask = umask(0177);
	} else {
		(void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	}
	if (a->to.ss_family == AF_INET6)
		(void)setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on));
	err = bind(fd, (const struct sockaddr *)&a->to, a->len) < 0 || listen(fd, BACKLOG) < 0
	    ? -errno
	    : 0;
	if (a->is_unix)
		(void)umask(mask);
	if (err == 0)
		return fd;
	(void)close(fd);
	return fault_set(where, err, "%s: %s", a->text,
	    err == -EADDRINUSE ? "somebody else listens there" : strerror(-err));
}

void address_leave(const struct address *a, int fd)
{
	const struct sockaddr_un *to = (const struct sockaddr_un *)&a->to;
	struct sockaddr_un bound = {.sun_family = AF_UNSPEC};
	socklen_t len = sizeof(bound);
	struct stat st;

	if (!a->is_unix || fd < 0 || getsockname(fd, (struct sockaddr *)&bound, &len) < 0 ||
	    strcmp(bound.sun_path, to->sun_path) != 0)
		return;
	if (lstat(to->sun_path, &st) == 0 && S_ISSOCK(st.st_mode) && st.st_uid == geteuid())
		(void)unlink(to->sun_path);
}

/* ---- signals: the signals that end a command which runs for long, as a descriptor ---- */

int signals_take_over(bool has_children)
{
	sigset_t set;
	int fd;

	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGTERM);
	(void)sigaddset(&set, SIGINT);
	(void)sigaddset(&set, SIGHUP);
	if (has_children)
		(void)sigaddset(&set, SIGCHLD);
	if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
		return -errno;
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return fd < 0 ? -errno : fd;
}
