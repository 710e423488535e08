/* altstack.c - a snapshot signal on an alternate stack of the least size and 2 KiB: no fault. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/*
 * The stack ends with the page, below it is nothing. Whoever uses more than
 * the kernel's own frame and 2 KiB, faults.
 */
int main(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t least = (size_t)sysconf(_SC_MINSIGSTKSZ) + 2048;
	size_t bytes = (least + page - 1) / page * page;
	char *p =
	    mmap(NULL, bytes + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	stack_t stack = {.ss_size = least};

	if (p == MAP_FAILED || mprotect(p, page, PROT_NONE))
		return 1;
	/* what is beyond the least is above it: no help to who digs down */
	stack.ss_sp = p + page;
	for (int i = 0; i < 100; i++) {
		void *q = malloc(100);

		__asm__ volatile("" : "+r"(q) : : "memory");
	}
	if (sigaltstack(&stack, NULL))
		return 1;
	for (int i = 0; i < 3; i++)
		kill(getpid(), SIGUSR2);
	puts("alive");
	return 0;
}
