/* snapshots.c - calls seep_snapshot as it goes: each file holds the books of its moment. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>

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

static void
moment(const char *label, int number)
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

int
main(void)
{
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
	moment(
	    "second, a label that is too long for a mark, but not for here", 2);
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
