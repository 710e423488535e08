/* at_exit.c - a reader for whom processes wait as they end, for tests. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "segments/find/dead.h"
#include "segments/find/proc.h"
#include "segments/read/segfile.h"

/*
 * usage: at_exit PID read     beats; waits until the process waits, prints
 *                             WAITS, its tick and other threads; lets it go
 *        at_exit PID beat     the same, but it does not let it go
 * Says BEATS after the first beat. Ends after a minute in any case.
 */
enum { STEP_NS = 20000000, STEPS = 3000 };

static void watch(struct exit_wait *w, struct segfile *f, int slot, bool lets_go)
{
	const struct timespec step = {.tv_nsec = STEP_NS};
	bool is_told = false;
	struct seg_header h;

	for (int i = 0; i < STEPS; i++) {
		if (exit_hold_beat(w) < 0)
			exit(1);
		if (i == 0)
			(void)puts("BEATS");
		(void)fflush(stdout);
		if (segfile_header(f, slot, &h, NULL) == 0 && exit_hold_is_on(&h)) {
			if (!is_told)
				(void)printf(
				    "WAITS tick %u threads %u\n", h.exit_tick, h.exit_threads);
			is_told = true;
			if (lets_go && exit_hold_end(w, &h) == 0)
				return;
		}
		(void)nanosleep(&step, NULL);
	}
}

static int open_wait(char *path, struct exit_wait **ret)
{
	char *slash = strrchr(path, '/');
	int dir, err;

	*slash = '\0';
	dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	err = exit_hold_open(dir, slash + 1, ret);
	if (dir >= 0)
		(void)close(dir);
	return err;
}

int main(int argc, char **argv)
{
	pid_t pid = argc == 3 ? (pid_t)strtol(argv[1], NULL, 10) : 0;
	struct fault where = {""};
	struct exit_wait *w = NULL;
	struct segfile *f = NULL;
	char path[4096];
	int slot, err = pid > 0 ? proc_open(pid, &f, &slot, path, &where) : -1;

	if (err == 0)
		err = open_wait(path, &w);
	if (err == 0)
		watch(w, f, slot, strcmp(argv[2], "read") == 0);
	else
		(void)fprintf(stderr, "at_exit: %d %s\n", err, where.text);
	exit_hold_close(w);
	if (f)
		segfile_close(f);
	return err < 0;
}
