/* page_faults_drive_the_host.c - a SIGSEGV handler that allocates and opens pages, as garbage collectors do, works as bare. */
/* SPDX-License-Identifier: Apache-2.0 */
/* torture: T53 */
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>

#define SITES(X) X(alloc_in_fault) X(alloc_between)
#include "../../lib/ledger.h"

enum { PAGES = 500, PAGE = 4096 };

static char *heap;
static void *noted[PAGES];
static int faults;

SITE_FN static void *alloc_in_fault(size_t n)
{
	return led_keep(malloc(n));
}

SITE_FN static void *alloc_between(size_t n)
{
	return led_keep(malloc(n));
}

/* synchronous: the store below faulted, no malloc was under way */
static void on_fault(int sig, siginfo_t *info, void *context)
{
	size_t at = (size_t)((char *)info->si_addr - heap) / PAGE;

	(void)context;
	if (sig != SIGSEGV || at >= PAGES)
		_exit(95);
	faults++;
	noted[at] = alloc_in_fault(48);
	led_alloc(L_alloc_in_fault, 48);
	mprotect(heap + at * PAGE, PAGE, PROT_READ | PROT_WRITE);
}

int main(void)
{
	struct sigaction act = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_NODEFER};

	heap = mmap(NULL, PAGES * PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	sigaction(SIGSEGV, &act, NULL);
	for (int round = 0; round < 4; round++) {
		for (size_t i = 0; i < PAGES; i++) {
			heap[i * PAGE + i] = 1;
			void *p = alloc_between(i);

			led_alloc(L_alloc_between, i);
			led_free(L_alloc_between, i);
			free(p);
			led_free(L_alloc_in_fault, 48);
			free(noted[i]);
		}
		mprotect(heap, PAGES * PAGE, PROT_READ);
	}
	printf("faults %d\n", faults);
	fflush(stdout);
	led_print(1);
	return 0;
}
