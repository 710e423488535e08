/* handlers_on_small_altstacks.c - handlers allocate on alternate stacks of 8 and 4 KiB behind a guard page: no fault. */
/* SPDX-License-Identifier: Apache-2.0 */
/* torture: T47 */
/* also: mappings */
/* flags: -fno-builtin -Wl,-z,now */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/mman.h>

static volatile int runs;

static void handler(int sig)
{
	(void)sig;
	for (size_t n = 0; n < 40; n++) {
		void *p = malloc(n * 50); /* raised: nothing interrupted */

		p = realloc(p, n * 70 + 1);
		free(p);
	}
	runs++;
}

static void use_stack(size_t bytes)
{
	size_t whole = (bytes + 4095) & ~(size_t)4095;
	char *base =
	    mmap(NULL, whole + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	stack_t ss = {.ss_sp = base + 4096, .ss_size = bytes};
	stack_t none = {.ss_flags = SS_DISABLE};

	mprotect(base, 4096, PROT_NONE);
	if (sigaltstack(&ss, NULL))
		perror("sigaltstack");
	runs = 0;
	for (int i = 0; i < 200; i++)
		raise(SIGUSR1);
	printf("%d runs\n", runs);
	sigaltstack(&none, NULL);
	munmap(base, whole + 4096);
}

int main(void)
{
	struct sigaction act = {.sa_handler = handler, .sa_flags = SA_ONSTACK};
	/*
	 * The kernel's frame on top is 1.5 KiB on classic CPUs (AVX); where it
	 * is larger, the stacks are larger by so much.
	 */
	size_t frame = getauxval(AT_MINSIGSTKSZ);
	size_t more = frame > 1536 ? frame - 1536 : 0;

	sigaction(SIGUSR1, &act, NULL);
	for (size_t n = 0; n < 40; n++)
		free(realloc(malloc(n * 50), n * 70 + 1));
	use_stack(8192 + more);
	use_stack(4096 + more);
	return 0;
}
