/* crew.c - runs each argument as a command, one after the other: a family without a shell. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORDS = 8 };

/* It allocates before exec, so that it has a segment that exec ends. */
static void
run(char *command)
{
	char *words[WORDS + 1] = {0}, *copy = strdup(command);
	int count = 0;

	for (char *w = strtok(copy, " "); w && count < WORDS;
	     w = strtok(NULL, " "))
		words[count++] = w;
	execv(words[0], words);
	_exit(127);
}

int
main(int argc, char **argv)
{
	char **results = calloc((size_t)argc, sizeof(*results));

	for (int i = 1; results && i < argc; i++) {
		pid_t child = fork();
		int status;

		if (child == 0)
			run(argv[i]);
		if (child < 0 || waitpid(child, &status, 0) < 0)
			return 1;
		results[i] = strdup(argv[i]);
	}
	return 0;
}
