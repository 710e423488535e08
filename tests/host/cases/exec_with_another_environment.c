/* exec_with_another_environment.c - exec with an empty environment, with one variable, and of ourselves: the next image runs as it does bare. */
/* SPDX-License-Identifier: Apache-2.0 */
/* torture: T43 */
/* status: 3 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

int main(int argc, char **argv)
{
	char one[] = "ONLY=this", step[16];
	char *none[] = {NULL}, *few[] = {one, NULL};
	int n = argc > 1 ? atoi(argv[1]) : 0, entries = 0;

	for (int i = 0; i < 200; i++)
		free(malloc((size_t)i * 10));
	for (char **e = environ; *e; e++)
		entries += strncmp(*e, "LD_PRELOAD=", 11) && strncmp(*e, "SEEP_", 5);
	printf("step %d with %d variables\n", n, entries);
	fflush(stdout);
	snprintf(step, sizeof(step), "%d", n + 1);
	char *words[] = {argv[0], step, NULL};

	if (n < 5)
		execv("/proc/self/exe", words);
	else if (n == 5)
		execve("/proc/self/exe", words, none);
	else if (n == 6)
		execve("/proc/self/exe", words, few);
	return n == 7 ? 3 : 1;
}
