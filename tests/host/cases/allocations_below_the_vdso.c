/* allocations_below_the_vdso.c - a handler that interrupted code of the vDSO allocates: the stack passes through it, exact. */
/* SPDX-License-Identifier: Apache-2.0 */
/* torture: T64 */
/* modes: exact sampled */
/* ignore: ledger how often it comes is chance */
/* witness: no, each of the signals would stop twice */
#include <elf.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/time.h>
#include <time.h>
#include <ucontext.h>

#define SITES(X) X(alloc_in_handler)
#include "../../lib/ledger.h"

enum { WANTED = 50, SECONDS = 20, VDSO_BYTES = 8192 };

static volatile sig_atomic_t hits;
static uintptr_t vdso;

SITE_FN static void *alloc_in_handler(size_t n)
{
	return led_keep(malloc(n));
}

/* the vDSO is not malloc: nothing of libc is under way */
static void on_tick(int sig, siginfo_t *info, void *context)
{
	const ucontext_t *c = context;
	uintptr_t pc = (uintptr_t)c->uc_mcontext.gregs[REG_RIP];

	(void)sig;
	(void)info;
	if (pc - vdso >= VDSO_BYTES || hits >= WANTED)
		return;
	void *p = alloc_in_handler((size_t)hits);

	led_alloc(L_alloc_in_handler, (size_t)hits);
	led_free(L_alloc_in_handler, (size_t)hits);
	free(p);
	hits++;
}

int main(void)
{
	struct sigaction act = {.sa_sigaction = on_tick, .sa_flags = SA_SIGINFO | SA_RESTART};
	struct itimerval every = {{0, 200}, {0, 200}}, never = {{0, 0}};
	struct timespec now, end;

	vdso = getauxval(AT_SYSINFO_EHDR);
	if (!vdso) {
		puts("done");
		return 0;
	}
	sigaction(SIGALRM, &act, NULL);
	setitimer(ITIMER_REAL, &every, NULL);
	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_sec += SECONDS;
	do {
		for (int i = 0; i < 100; i++)
			clock_gettime(CLOCK_MONOTONIC, &now);
	} while (hits < WANTED && now.tv_sec < end.tv_sec);
	setitimer(ITIMER_REAL, &never, NULL);
	puts("done");
	fflush(stdout);
	led_print(1);
	return 0;
}
