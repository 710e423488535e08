/* signals.c - handlers that interrupt a hook allocate, free, or jump away: all sites but the abandoned one stay exact. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/time.h>

#define SITES(X) \
	X(alloc_main) \
	X(alloc_again) \
	X(resize_main) \
	X(alloc_in_handler) \
	X(alloc_after_jump)
#include "../lib/inside.h"
#include "../lib/ledger.h"

/*
 * signals allocate|jump EVENTS: a timer interrupts the main thread every 40
 * microseconds. "allocate": the handler allocates, and frees what it and the
 * main thread left for it. "jump": a call made in abandoned() is left by
 * siglongjmp; whether that one call counts is open, nothing else is.
 */
enum { LEFT = 16, TIMER_USEC = 40 };

static _Atomic(void *) left_by_main, left_by_handler[LEFT];
static sigjmp_buf back;
static volatile sig_atomic_t may_jump, handled, jumps;

#define ALLOC_FN(name) \
	SITE_FN static void *name(size_t size_bytes) \
	{ \
		return led_keep(malloc(size_bytes)); \
	}
ALLOC_FN(alloc_main)
ALLOC_FN(alloc_again)
ALLOC_FN(alloc_in_handler)
ALLOC_FN(alloc_after_jump)

SITE_FN static void *resize_main(void *p, size_t size_bytes)
{
	return led_keep(realloc(p, size_bytes));
}

/* exempt: not in the ledger; its blocks are freed here or never */
SITE_FN static void abandoned(int i)
{
	void *volatile p = malloc(56 + (size_t)i % 64);

	p = realloc(p, 300);
	free(p);
}

static void release(void *p)
{
	if (!p)
		return;
	led_free(L_alloc_in_handler, 90);
	free(p);
}

static void on_alarm(int sig, siginfo_t *info, void *context)
{
	(void)sig, (void)info;
	if (!inside_hook(context))
		return;
	handled++;
	if (may_jump) {
		jumps++;
		siglongjmp(back, 1);
	}
	void *p = alloc_in_handler(90);

	led_alloc(L_alloc_in_handler, 90);
	release(atomic_exchange(&left_by_handler[handled % LEFT], p));
	p = atomic_exchange(&left_by_main, NULL);
	if (p) {
		led_free(L_alloc_main, 70);
		free(p);
	}
}

static void busy_main(int i)
{
	size_t n = 16 + (size_t)i % 200;
	void *p = alloc_again(n);

	led_check(p, "malloc");
	led_alloc(L_alloc_again, n);
	p = resize_main(p, 2 * n);
	led_free(L_alloc_again, n);
	led_alloc(L_resize_main, 2 * n);
	led_free(L_resize_main, 2 * n);
	free(p);
	if (i % 4)
		return;
	p = alloc_main(70);
	led_alloc(L_alloc_main, 70);
	p = atomic_exchange(&left_by_main, p);
	if (p) { /* no handler came by */
		led_free(L_alloc_main, 70);
		free(p);
	}
}

static void jumping_main(int i)
{
	if (sigsetjmp(back, 1) == 0) {
		may_jump = 1;
		abandoned(i);
	}
	may_jump = 0;
	void *p = alloc_after_jump(40);

	led_check(p, "malloc");
	led_alloc(L_alloc_after_jump, 40);
	if (i % 5) {
		led_free(L_alloc_after_jump, 40);
		free(p);
	}
}

int main(int argc, char **argv)
{
	struct sigaction act = {.sa_sigaction = on_alarm, .sa_flags = SA_SIGINFO | SA_RESTART};
	struct itimerval every = {{0, TIMER_USEC}, {0, TIMER_USEC}};
	struct itimerval never = {{0, 0}, {0, 0}};
	bool jump = argc > 1 && argv[1][0] == 'j';
	int events = argc > 2 ? atoi(argv[2]) : 2000000;
	char line[64];

	inside_find();
	sigaction(SIGALRM, &act, NULL);
	setitimer(ITIMER_REAL, &every, NULL);
	for (int i = 0; i < events; i++)
		(jump ? jumping_main : busy_main)(i);
	setitimer(ITIMER_REAL, &never, NULL);
	led_print(1);
	snprintf(line, sizeof(line), "# handled=%d jumps=%d\n", (int)handled, (int)jumps);
	led_say(1, line);
	return 0;
}
