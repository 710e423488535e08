/* notify.c - tells the service manager how we are: the protocol of sd_notify. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "follow/history/notify.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

void notify_send(const char *lines)
{
	const char *path = getenv("NOTIFY_SOCKET");
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	size_t len = path ? strlen(path) : 0;
	int fd;

	/* "/run/..." or "@abstract" */
	if (len < 2 || len >= sizeof(to.sun_path) || (path[0] != '/' && path[0] != '@'))
		return;
	memcpy(to.sun_path, path, len);
	if (path[0] == '@')
		to.sun_path[0] = '\0';
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return;
	(void)sendto(fd, lines, strlen(lines), MSG_NOSIGNAL | MSG_DONTWAIT,
	    (const struct sockaddr *)&to,
	    (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len));
	close(fd);
}

uint64_t notify_watchdog_ns(void)
{
	const char *every = getenv("WATCHDOG_USEC");
	const char *pid = getenv("WATCHDOG_PID");
	char *end;
	uint64_t us;

	if (!every || !every[0] || (pid && strtol(pid, NULL, 10) != (long)getpid()))
		return 0;
	us = strtoull(every, &end, 10);
	if (*end || us > UINT64_MAX / 1000)
		return 0;
	return us * 1000 / 2; /* twice as often, as its manual says */
}
