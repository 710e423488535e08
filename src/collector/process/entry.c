/* entry.c - what the loader and the first event call. */
/* SPDX-License-Identifier: Apache-2.0 */

#include <stdint.h>
#include <sys/auxv.h>

#include "base/attr.h"
#include "collector/process/start.h"
#include "collector/segment/kernel.h"
#include "collector/segment/loader.h"
#include "collector/event/next.h"

enum { ARGC_MAX = 1 << 20 };

extern const char *gnu_get_libc_version(void) SEEP_WEAK;
extern char **environ SEEP_WEAK;
extern void __asan_init(void) SEEP_WEAK;
extern void __tsan_init(void) SEEP_WEAK;
extern void __msan_init(void) SEEP_WEAK;

static uint32_t starting; /* 1: the start has begun, however it will end */

static enum seg_inert reason_to_decline(void)
{
	if (!gnu_get_libc_version)
		return SEG_INERT_LIBC;
	if (__asan_init || __tsan_init || __msan_init)
		return SEG_INERT_SANITIZER;
	return SEG_INERT_NONE;
}

/* The first event or the constructor starts us, whichever comes first. */
static void start_once(char **argv, char **envp)
{
	if (__atomic_exchange_n(&starting, 1, __ATOMIC_ACQ_REL))
		return;
	if (!kernel_auxval(AT_SECURE))
		start_process(argv, envp, reason_to_decline());
}

/*
 * glibc keeps one -z initfirst library, the last one that was loaded. If a
 * library of the host has the flag too, its constructor runs before ours, and
 * so may all others. That is why the first event starts us, as soon as we are
 * relocated. Neither libc nor we have been initialised then, so the arguments
 * and the environment are taken from where the kernel has put them.
 */
SEEP_COLD void entry_first_event(void)
{
	void **end;
	char **words;
	uint64_t argc;

	if (LOAD(&starting) || !next.complete || !gnu_get_libc_version)
		return;
	end = loader_symbol("__libc_stack_end");
	if (!end || !*end)
		return;
	words = (char **)*end;
	argc = (uint64_t)(uintptr_t)words[0];
	if (argc - 1 < ARGC_MAX && !words[argc + 1])
		start_once(words + 1, words + argc + 2);
}

/* -z initfirst: before the other constructors, when nothing allocates yet. */
__attribute__((constructor)) static void construct(int argc, char **argv, char **envp)
{
	(void)argc;
	next_ready();
	/* glibc hands argc, argv and envp to constructors; others do not */
	if (!gnu_get_libc_version) {
		argv = NULL;
		envp = environ;
	}
	start_once(argv, envp);
}

__attribute__((destructor)) static void destruct(void)
{
	exit_process();
}
