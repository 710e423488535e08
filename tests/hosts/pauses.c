/* pauses.c - threads, handlers and a child that pause: what was paused is counted, all else is exact. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "seep.h"

#define SITES(X) X(alloc_seen) X(alloc_child)
#include "../lib/inside.h"
#include "../lib/ledger.h"

enum { ROUNDS = 30000, UNSEEN = 1000 };

static volatile sig_atomic_t handled;
static uint64_t unseen; /* allocations while paused, of this process */

SITE_FN static void *alloc_seen(size_t size_bytes)
{
	void *p = led_keep(malloc(size_bytes));

	led_alloc(L_alloc_seen, size_bytes);
	return p;
}

SITE_FN static void alloc_child(size_t size_bytes)
{
	(void)led_keep(malloc(size_bytes));
	led_alloc(L_alloc_child, size_bytes);
}

SITE_FN static void *alloc_unseen(size_t size_bytes)
{
	__atomic_fetch_add(&unseen, 1, __ATOMIC_RELAXED);
	return led_keep(malloc(size_bytes));
}

static void on_signal(int number, siginfo_t *info, void *context)
{
	(void)number, (void)info;
	seep_pause();
	seep_pause();
	if (inside_hook(context)) {
		free(alloc_unseen(33));
		handled++;
	}
	seep_resume();
	seep_resume();
}

static void churn(int rounds)
{
	for (int i = 0; i < rounds; i++) {
		void *p = alloc_seen((size_t)i % 300);

		if (i % 5 == 0)
			continue;
		led_free(L_alloc_seen, (size_t)i % 300);
		free(p);
	}
}

static void *never_paused(void *arg)
{
	churn(ROUNDS);
	return arg;
}

/* dies while it is paused: the next thread at its place is not */
static void *dies_paused(void *arg)
{
	void *p = alloc_seen(50);

	churn(10);
	seep_pause();
	led_free(L_alloc_seen, 50);
	free(p);
	for (int i = 0; i < UNSEEN; i++)
		free(alloc_unseen(77));
	return arg;
}

static void run(void *(*fn)(void *))
{
	pthread_t t;

	led_check(!pthread_create(&t, NULL, fn, NULL), "pthread_create");
	pthread_join(t, NULL);
}

static void print_all(void)
{
	char line[64];

	led_print(1);
	snprintf(line, sizeof(line), "# unseen %llu\n", (unsigned long long)unseen);
	led_say(1, line);
}

/* forked in a pause: it goes on being paused until it resumes */
static void be_child(void)
{
	led_reset();
	unseen = 0;
	for (int i = 0; i < 100; i++)
		(void)alloc_unseen(5);
	seep_resume();
	for (int i = 0; i < 100; i++)
		alloc_child(6);
	print_all();
	exit(0);
}

int main(void)
{
	struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_RESTART | SA_SIGINFO};
	struct itimerval soon = {{0, 40}, {0, 40}}, never = {{0, 0}, {0, 0}};
	int status;

	inside_find();
	run(never_paused);
	for (int i = 0; i < 5; i++) {
		run(dies_paused);
		run(never_paused);
	}
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &soon, NULL);
	for (int i = 0; i < 100 && (i < 10 || (inside_end && handled < 20)); i++)
		churn(ROUNDS);
	setitimer(ITIMER_REAL, &never, NULL);
	seep_pause();
	(void)alloc_unseen(9);
	fflush(stdout);
	if (fork() == 0)
		be_child();
	led_check(wait(&status) > 0 && !status, "the child");
	seep_resume();
	churn(100);
	print_all();
	return 0;
}
