/* stage.c - memory of the performer: made before the first operation. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/stage.h"

#include <sys/mman.h>

/*
 * Of a stack, the end is touched: a thread needs it and the static TLS of the
 * allocator. The rest is for an allocator that has more.
 */
enum { STACK_BYTES = 1 << 20, STACK_TOUCHED = 64 << 10, PAGE = 4096 };

int stage_read(const struct stage *s, void *to, size_t bytes, uint64_t at)
{
	char *out = to;

	while (bytes > 0) {
		ssize_t n = pread(s->script, out, bytes, (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EBADMSG;
		out += n;
		at += (uint64_t)n;
		bytes -= (size_t)n;
	}
	return 0;
}

/*
 * Zeroed memory, of which every page from byte `from` on is touched; NULL: there
 * is none.
 */
static void *memory(size_t count, size_t size, size_t from)
{
	size_t bytes;
	char *p;

	if (__builtin_mul_overflow(count, size, &bytes))
		return NULL;
	if (bytes == 0)
		bytes = 1;
	p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		return NULL;
	for (size_t i = from; i < bytes; i += PAGE)
		((volatile char *)p)[i] = 0;
	return p;
}

static int read_windows(struct stage *s)
{
	uint32_t some[1024] = {0};

	for (uint64_t i = 0; i < s->head.windows;) {
		uint64_t n = s->head.windows - i;
		int err;

		if (n > sizeof(some) / sizeof(some[0]))
			n = sizeof(some) / sizeof(some[0]);
		err = stage_read(
		    s, some, n * sizeof(some[0]), s->head.windows_at + i * sizeof(some[0]));
		if (err < 0)
			return err;
		for (uint64_t k = 0; k < n; k++)
			s->windows[i + k].threads = some[k];
		i += n;
	}
	return 0;
}

int stage_build(struct stage *s, int script)
{
	long least = sysconf(_SC_THREAD_STACK_MIN);
	int err;

	memset(s, 0, sizeof(*s));
	s->script = script;
	err = stage_read(s, &s->head, sizeof(s->head), 0);
	if (err < 0)
		return err;
	if (s->head.magic != SCRIPT_MAGIC || s->head.carriers == 0 ||
	    s->head.carriers > SCRIPT_CARRIERS_MAX)
		return -EBADMSG;
	s->stack_bytes = STACK_BYTES + ((size_t)(least > 0 ? least : 0) + PAGE - 1) / PAGE * PAGE;
	s->slots = memory(s->head.slots, sizeof(*s->slots), 0);
	s->windows = memory(s->head.windows, sizeof(*s->windows), 0);
	s->carriers = memory(s->head.carriers, sizeof(*s->carriers), 0);
	if (!s->slots || !s->windows || !s->carriers)
		return -ENOMEM;
	for (uint32_t i = 0; i < s->head.carriers; i++) {
		if (i > 0)
			s->carriers[i].stack =
			    memory(s->stack_bytes, 1, s->stack_bytes - STACK_TOUCHED);
		if (i > 0 && !s->carriers[i].stack)
			return -ENOMEM;
	}
	s->carriers[0].at = s->head.main_at;
	return read_windows(s);
}
