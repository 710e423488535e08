/* write_all.h - writes a whole buffer, with as many calls as that needs. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_WRITE_ALL_H
#define SEEP_WRITE_ALL_H

#include <errno.h>
#include <stddef.h>
#include <unistd.h>

/* Returns 0 or a negative errno. Allocates nothing. */
static inline int write_all(int fd, const void *bytes, size_t len)
{
	const char *at = bytes;

	while (len > 0) {
		ssize_t n = write(fd, at, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		at += n;
		len -= (size_t)n;
	}
	return 0;
}

#endif
