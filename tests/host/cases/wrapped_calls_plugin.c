/* wrapped_calls_plugin.c - wraps open, read, mmap and close, and allocates inside each. */
/* SPDX-License-Identifier: Apache-2.0 */
/* flags: -fno-builtin -w */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static void allocate(void)
{
	static __thread int inside;

	if (inside)
		return;
	inside = 1;
	free(malloc(123));
	inside = 0;
}

int open(const char *path, int flags, ...)
{
	va_list ap;

	va_start(ap, flags);
	int mode = va_arg(ap, int);

	va_end(ap);
	allocate();
	return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

ssize_t read(int fd, void *to, size_t n)
{
	allocate();
	return syscall(SYS_read, fd, to, n);
}

void *mmap(void *at, size_t n, int prot, int flags, int fd, off_t offset)
{
	allocate();
	return (void *)syscall(SYS_mmap, at, n, prot, flags, fd, offset);
}

int close(int fd)
{
	allocate();
	return (int)syscall(SYS_close, fd);
}
