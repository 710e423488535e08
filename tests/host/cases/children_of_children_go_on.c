/* children_of_children_go_on.c - each process of a chain of forks counts its own events exactly, before and after it forks the next. */
/* SPDX-License-Identifier: Apache-2.0 */
/* torture: T108 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define SITES(X) X(alloc_before) X(alloc_after)
#include "../../lib/ledger.h"

enum { DEPTH = 6, EVENTS = 200, TURNS = 3 };

SITE_FN static void *alloc_before(size_t size_bytes)
{
	return led_keep(malloc(size_bytes));
}

SITE_FN static void *alloc_after(size_t size_bytes)
{
	return led_keep(malloc(size_bytes));
}

static void work(int depth, bool after)
{
	for (int i = 0; i < EVENTS; i++) {
		size_t n = (size_t)(10 + depth + i % 50);
		void *p = after ? alloc_after(n) : alloc_before(n);

		if (after)
			led_alloc(L_alloc_after, n);
		else
			led_alloc(L_alloc_before, n);
		if (i % 3) {
			if (after)
				led_free(L_alloc_after, n);
			else
				led_free(L_alloc_before, n);
			free(p);
		}
	}
}

/* What a process has told is not told again by its children. */
static void be(int depth)
{
	led_reset();
	work(depth, false);
	for (int turn = 0; depth > 0 && turn < (depth > 3 ? 1 : TURNS); turn++) {
		pid_t pid;
		int status;

		pid = fork();
		led_check(pid >= 0, "fork");
		if (pid == 0) {
			be(depth - 1);
			exit(0);
		}
		led_check(waitpid(pid, &status, 0) == pid && status == 0, "a child's end");
		work(depth, true);
	}
	led_print(1);
}

int main(void)
{
	be(DEPTH);
	return 0;
}
