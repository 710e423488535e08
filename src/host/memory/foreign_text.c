/* foreign_text.c - reads files of /proc/PID, with a deadline. */
/* SPDX-License-Identifier: Apache-2.0 */

#include "host/memory/foreign.h"
#include "host/memory/foreign_ask.h"
#include "host/proc/procfs.h"

enum {
	TEXT_MAX = 64 << 20, /* the deadline of foreign_ask() */
	CHUNK = 65536,
};

static bool is_mine(int process)
{
	uid_t uids[PROCFS_UIDS];
	struct stat st;

	/* the owner of /proc/PID is cheap to find, and usually is not us */
	if (fstat(process, &st) < 0 || st.st_uid != geteuid() || procfs_uids_at(process, uids) < 0)
		return false;
	for (size_t i = 0; i < PROCFS_UIDS; i++)
		if (uids[i] != geteuid())
			return false;
	return true;
}

bool foreign_text_is_mine(pid_t pid)
{
	int process = procfs_open(pid);
	bool answer = process >= 0 && is_mine(process);

	if (process >= 0)
		(void)close(process);
	return answer;
}

static int read_here(int process, const char *name, char **ret, size_t *ret_len)
{
	int fd = openat(process, name, O_RDONLY | O_CLOEXEC), err = 0;
	size_t room = 0, len = 0;
	char *text = NULL, *more;
	ssize_t n = 1;

	if (fd < 0)
		return -errno;
	while (n > 0 && err == 0) {
		if (room - len <= CHUNK) {
			room = room ? room * 2 : (size_t)CHUNK * 2;
			more = realloc(text, room);
			err = more ? 0 : -ENOMEM;
			text = more ? more : text;
		}
		if (err == 0 && (n = read(fd, text + len, CHUNK)) > 0)
			len += (size_t)n;
		if (n < 0 && errno == EINTR)
			n = 1;
		else if (n < 0)
			err = -errno;
		if (len > TEXT_MAX)
			err = -EFBIG;
	}
	(void)close(fd);
	if (err < 0) {
		free(text);
		return err;
	}
	text[len] = '\0';
	*ret = text;
	*ret_len = len;
	return 0;
}

int foreign_text(pid_t pid, const char *name, char **ret, size_t *ret_len)
{
	struct foreign_request r = {.kind = FOREIGN_TEXT, .pid = pid};
	int process, err;

	if (strlen(name) >= FOREIGN_NAME_BYTES)
		return -EINVAL;
	process = procfs_open(pid);
	if (process < 0)
		return process;
	(void)snprintf(r.path, sizeof(r.path), "%s", name);
	err = is_mine(process) ? read_here(process, name, ret, ret_len)
	                       : foreign_ask(&r, ret, ret_len);
	(void)close(process);
	return err == -EPERM ? -EACCES : err;
}
