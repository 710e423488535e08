/* early_children.c - forked children with few events, which leave blocks and end in every way. */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * usage: early_children HOW CHILDREN BLOCKS BYTES [FREED]
 * HOW: exit, _exit, kill, exec, clone (then _exit), nested (a grandchild does it)
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void leave_blocks(int blocks, size_t bytes, int freed)
{
	for (int i = 0; i < blocks; i++) {
		void *volatile p = malloc(bytes);

		if (i < freed)
			free(p);
	}
}

static void end(const char *how)
{
	if (!strcmp(how, "exit"))
		exit(0);
	if (!strcmp(how, "kill"))
		raise(SIGKILL);
	if (!strcmp(how, "exec")) {
		execl("/bin/true", "true", NULL);
		_exit(9);
	}
	_exit(0);
}

static pid_t make_child(const char *how)
{
	if (!strcmp(how, "clone"))
		return (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
	return fork();
}

int main(int argc, char **argv)
{
	const char *how = argc > 4 ? argv[1] : "exit";
	int children = argc > 4 ? atoi(argv[2]) : 1;
	int blocks = argc > 4 ? atoi(argv[3]) : 10;
	size_t bytes = argc > 4 ? strtoul(argv[4], NULL, 10) : 1337;
	int freed = argc > 5 ? atoi(argv[5]) : 0;

	for (int i = 0; i < children; i++) {
		pid_t pid = make_child(how);

		if (pid == 0 && !strcmp(how, "nested")) {
			pid_t inner = fork();

			if (inner)
				waitpid(inner, NULL, 0);
			else
				leave_blocks(blocks, bytes, freed);
			_exit(0);
		}
		if (pid == 0) {
			leave_blocks(blocks, bytes, freed);
			end(how);
		}
		waitpid(pid, NULL, 0);
	}
	return 0;
}
