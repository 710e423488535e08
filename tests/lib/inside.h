/* inside.h - is this pc inside libseep's code? Then no malloc lock is held. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_TESTS_INSIDE_H
#define SEEP_TESTS_INSIDE_H

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

/*
 * malloc is not async-signal-safe, so a handler of a test may call it (or
 * jump away, or fork) only when it interrupted one of our hooks while the
 * real allocator was not running. Bare, that is never the case.
 */
static uintptr_t inside_start, inside_end;

/* reads /proc/self/maps into static memory; call it before the first signal */
static inline void inside_find(void)
{
	static char maps[1 << 18];
	size_t used = 0;
	ssize_t n;
	int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	while ((n = read(fd, maps + used, sizeof(maps) - 1 - used)) > 0)
		used += (size_t)n;
	close(fd);
	for (char *line = maps; line && *line;) {
		char *end = strchr(line, '\n');

		if (end)
			*end = '\0';
		if (strstr(line, "/libseep") && strstr(line, " r-xp ")) {
			char *rest;

			inside_start = strtoul(line, &rest, 16);
			inside_end = strtoul(rest + 1, NULL, 16);
		}
		line = end ? end + 1 : NULL;
	}
}

static inline int inside_hook(const void *context)
{
	const ucontext_t *uc = (const ucontext_t *)context;
	uintptr_t pc = (uintptr_t)uc->uc_mcontext.gregs[REG_RIP];

	return pc >= inside_start && pc < inside_end;
}

#endif
