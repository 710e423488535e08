/* snapshots.c - calls seep_snapshot at several moments; each file has the counts of its moment. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "seep.h"

#define SITES(X) X(alloc_early) X(alloc_late) X(alloc_unseen)
#include "../lib/ledger.h"

/*
 * Prints its books three times: when snapshot 1 is taken, when snapshot 2 is,
 * and at the end; sections begin with MOMENT label. Without the collector it
 * does the same, and every snapshot answers 0.
 */
#define ALLOC_FN(name) \
	SITE_FN static void *name(size_t size_bytes) \
	{ \
		return led_keep(malloc(size_bytes)); \
	}
ALLOC_FN(alloc_early)
ALLOC_FN(alloc_late)
ALLOC_FN(alloc_unseen)

static void *early[1000], *late[500];

static void moment(const char *label, int number)
{
	char line[128];
	int answer;

	errno = 4711;
	answer = seep_snapshot(label);
	led_check(errno == 4711, "errno has changed");
	led_check(answer == 0 || answer == number, "number of the snapshot");
	snprintf(line, sizeof(line), "MOMENT %s\n", label);
	led_say(1, line);
	led_print(1);
}

/* a child takes one in its first events, and one when it has its own room */
static void be_child(void)
{
	led_reset();
	for (int i = 0; i < 5; i++) {
		(void)alloc_late(7);
		led_alloc(L_alloc_late, 7);
	}
	moment("nursery", 1);
	for (int i = 0; i < 300; i++) {
		(void)alloc_late(8);
		led_alloc(L_alloc_late, 8);
	}
	moment("slot", 2);
	_exit(0);
}

/* fork: in a child, too */
int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "fork")) {
		int status = 0;

		for (int i = 0; i < 100; i++) {
			(void)alloc_early(1);
			led_alloc(L_alloc_early, 1);
		}
		if (fork() == 0)
			be_child();
		led_check(wait(&status) > 0 && !status, "child");
		moment("parent", 1);
		return 0;
	}
	for (int i = 0; i < 1000; i++) {
		early[i] = alloc_early(100 + (size_t)i);
		led_alloc(L_alloc_early, 100 + (size_t)i);
	}
	seep_mark("one \xc3\xa4 mark");
	moment("first", 1);
	for (int i = 0; i < 500; i++) {
		led_free(L_alloc_early, 100 + (size_t)i);
		free(early[i]);
		late[i] = alloc_late(50);
		led_alloc(L_alloc_late, 50);
	}
	moment("second, a label that is too long for a mark, but not for here", 2);
	seep_pause();
	seep_pause();
	led_keep(alloc_unseen(10));
	seep_resume();
	free(alloc_unseen(20));
	led_free(L_alloc_late, 50);
	free(late[0]);
	seep_resume();
	seep_resume(); /* one too many: nothing happens */
	late[0] = alloc_late(60);
	led_alloc(L_alloc_late, 60);
	moment("third", 3);
	return 0;
}
