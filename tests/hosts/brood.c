/* brood.c - forks children that keep different numbers of blocks, and ends them, as its standard input says. */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Commands, one in a line, each answered by a line:
 *   fork N   a child that keeps N blocks of 100 bytes: "child PID"
 *   use N M  N children, one after the other, that keep M blocks and end by
 *            _exit: "used N"
 *   idle     a child that has no event at all: "child PID"
 *   kill PID ends a child by SIGKILL and waits for it: "gone PID"
 *   leave    exits, and leaves its children behind: "left"
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void say(const char *word, int number)
{
	char line[64];
	int n = snprintf(line, sizeof(line), "%s %d\n", word, number);

	(void)!write(1, line, (size_t)n);
}

static __attribute__((noinline)) void keep_blocks(int count)
{
	for (int i = 0; i < count; i++) {
		void *volatile p = malloc(100);

		(void)p;
	}
}

static void beget(int blocks, int is_idle)
{
	int ready[2];
	char c;
	pid_t pid;

	if (pipe(ready) < 0)
		_exit(1);
	pid = fork();
	if (pid == 0) {
		if (!is_idle)
			keep_blocks(blocks);
		(void)!write(ready[1], "", 1);
		for (;;)
			pause();
	}
	close(ready[1]);
	(void)!read(ready[0], &c, 1);
	close(ready[0]);
	say("child", (int)pid);
}

static void use_up(int children, int blocks)
{
	for (int i = 0; i < children; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			keep_blocks(blocks);
			_exit(0);
		}
		waitpid(pid, NULL, 0);
	}
	say("used", children);
}

int main(void)
{
	char line[64];
	size_t n = 0;

	keep_blocks(100);
	say("ready", (int)getpid());
	/* no stdio: children must not have what it has read */
	while (read(0, line + n, 1) == 1) {
		int number, blocks;

		if (line[n] != '\n') {
			n = n < sizeof(line) - 2 ? n + 1 : n;
			continue;
		}
		line[n] = '\0';
		n = 0;
		if (sscanf(line, "fork %d", &number) == 1) {
			beget(number, 0);
		} else if (sscanf(line, "use %d %d", &number, &blocks) == 2) {
			use_up(number, blocks);
		} else if (strcmp(line, "idle") == 0) {
			beget(0, 1);
		} else if (sscanf(line, "kill %d", &number) == 1) {
			kill(number, SIGKILL);
			waitpid(number, NULL, 0);
			say("gone", number);
		} else if (strcmp(line, "leave") == 0) {
			say("left", 0);
			return 0;
		}
	}
	return 0;
}
