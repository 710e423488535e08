/* forks_nested_a_hundred_deep.c - each child forks the next, with atfork handlers registered on the way: no hang, every status passed up. */
/* SPDX-License-Identifier: Apache-2.0 */
/* torture: T34 */
/* ignore: signals a child may end before its parent has the signal */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { DEPTH = 100 };

static int prepared, in_parent, in_child;

static void prepare(void)
{
	prepared++;
	free(malloc(10));
}

static void parent(void)
{
	in_parent++;
	free(malloc(20));
}

static void child(void)
{
	in_child++;
	free(malloc(30));
}

static int descend(int depth)
{
	int status = 0;
	void *mine = malloc(1000);

	if (depth == DEPTH) {
		printf("deepest: %d children of their parents\n", in_child);
		fflush(stdout);
		return 42;
	}
	if (depth % 10 == 5)
		pthread_atfork(prepare, parent, child); /* late */
	pid_t pid = fork();

	if (pid < 0)
		return 1;
	if (pid == 0) {
		free(mine); /* our parent's copy */
		_exit(descend(depth + 1));
	}
	if (waitpid(pid, &status, 0) != pid)
		return 2;
	free(mine);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 3;
}

int main(void)
{
	int status = descend(0);

	printf("status %d prepared %d parent %d child %d\n", status, prepared, in_parent, in_child);
	return 0;
}
