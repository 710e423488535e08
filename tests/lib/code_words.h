/* code_words.h - addresses of code, for stacks that a test fills at random. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_TESTS_CODE_WORDS_H
#define SEEP_TESTS_CODE_WORDS_H

#include <link.h>
#include <signal.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The state of draw(). A test sets it to repeat a sequence; never 0. */
static uint64_t draw_seed = 88172645463325252;

/* A random number below the bound. */
static inline uint64_t draw(uint64_t below)
{
	draw_seed ^= draw_seed << 13;
	draw_seed ^= draw_seed >> 7;
	draw_seed ^= draw_seed << 17;
	return draw_seed % below;
}

static inline void code_words_on_signal(int number)
{
	(void)number;
}

/* The code that signal handlers return to, above the kernel's frame. 0: error. */
static inline uint64_t code_words_restorer(void)
{
	struct {
		void *handler;
		uint64_t flags;
		void *restorer;
		uint64_t mask;
	} kernel = {0};
	struct sigaction act = {.sa_handler = code_words_on_signal}, old;
	long err;

	sigaction(SIGUSR2, &act, &old);
	err = syscall(SYS_rt_sigaction, SIGUSR2, NULL, &kernel, 8);
	sigaction(SIGUSR2, &old, NULL);
	return err ? 0 : (uint64_t)(uintptr_t)kernel.restorer;
}

struct code_words {
	uint64_t *words;
	int count, max;
	int each; /* at most so many of one segment */
};

/* For dl_iterate_phdr(): addresses in mapped code, PLT and mid-function. */
static inline int code_words_add(struct dl_phdr_info *info, size_t bytes, void *arg)
{
	struct code_words *c = arg;

	(void)bytes;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (p->p_type != PT_LOAD || !(p->p_flags & PF_X))
			continue;
		for (int k = 0; k < c->each && c->count < c->max; k++)
			c->words[c->count++] = info->dlpi_addr + p->p_vaddr + draw(p->p_memsz);
	}
	return 0;
}

#endif
