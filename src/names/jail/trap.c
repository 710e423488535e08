/* trap.c - answers system calls that the jail does not execute. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "names/jail/jail.h"

#include <sys/syscall.h>

#include "base/cpu/elf_machine.h"
#include "names/jail/ask.h"

#define SUFFIX ".dwo"
#define LINKS  "/proc/self/fd/"

static int ask_fd = -1;
static const char *being_read = "";

void trap_set_path(const char *path)
{
	being_read = path;
}

/* Gets a descriptor of the file from the parent, or a negative errno. */
static long open_split(const char *path, int flags)
{
	struct ask question = {.kind = ASK_SPLIT, .name = path};
	struct ask_answer answer;
	size_t len = strnlen(path, ASK_NAME_BYTES);
	int err;

	if ((flags & (O_ACCMODE | O_CREAT | O_TRUNC)) != O_RDONLY || len >= ASK_NAME_BYTES ||
	    len < strlen(SUFFIX) || strcmp(path + len - strlen(SUFFIX), SUFFIX) != 0)
		return -EACCES;
	err = ask_file(ask_fd, &question, &answer);
	return err < 0 ? err : answer.fd;
}

/*
 * To find out which file a descriptor refers to, libdw calls realpath(), which
 * asks for each part of the path whether it is a link. Only the entry of the
 * descriptor is one.
 */
static long tell_path(const char *link, char *to, size_t room)
{
	size_t len = strlen(being_read);

	if (strncmp(link, LINKS, strlen(LINKS)) != 0 || len == 0)
		return -EINVAL;
	if (len > room)
		len = room;
	/* NOLINTNEXTLINE(bugprone-not-null-terminated-result): as readlink() */
	memcpy(to, being_read, len);
	return (long)len;
}

/* glibc's fstat() is fstatat() with an empty path. */
static long tell_status(int fd, const char *path, struct stat *to)
{
	if (path[0])
		return -EACCES;
	return syscall(SYS_fstat, fd, to) < 0 ? -errno : 0;
}

static long answer(int number, const unsigned long *args)
{
	const char *first = (const char *)args[0];
	const char *second = (const char *)args[1];

	switch (number) {
	case SYS_openat:
		return open_split(second, (int)args[2]);
	case SYS_newfstatat:
		return tell_status((int)args[0], second, (void *)args[2]);
	case SYS_readlinkat:
		return tell_path(second, (char *)args[2], args[3]);
#ifdef SYS_open
	case SYS_open:
		return open_split(first, (int)args[1]);
	case SYS_readlink:
		return tell_path(first, (char *)args[1], args[2]);
#endif
	default:
		(void)first;
		return -EPERM;
	}
}

/* No malloc here, because malloc itself may have made the call. */
static void handle(int signal_number, siginfo_t *info, void *context)
{
	unsigned long args[CPU_CALL_ARGS];
	int was = errno;

	(void)signal_number;
	cpu_call_args(context, args);
	cpu_call_answer(context, answer(info->si_syscall, args));
	errno = was;
}

int trap_install(int fd)
{
	struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO | SA_NODEFER};

	ask_fd = fd;
	return sigaction(SIGSYS, &action, NULL) < 0 ? -errno : 0;
}
