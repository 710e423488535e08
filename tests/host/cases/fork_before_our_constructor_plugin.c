/* fork_before_our_constructor_plugin.c - initialised before everybody else, it allocates and forks. */
/* SPDX-License-Identifier: Apache-2.0 */
/* flags: -Wl,-z,initfirst -fno-builtin -w */
#include "early_calls.h"
#include <sys/wait.h>

static void *kept[100];

__attribute__((constructor)) static void fork_early(void)
{
	int status = -1;

	for (int i = 0; i < 100; i++)
		kept[i] = malloc(50);
	for (int round = 0; round < 3; round++) {
		pid_t pid = fork();

		if (pid == 0) {
			for (int i = 0; i < 200; i++)
				free(malloc(10));
			for (int i = 0; i < 100; i += 2)
				free(kept[i]);
			_exit(0);
		}
		if (waitpid(pid, &status, 0) != pid || status != 0)
			_exit(94);
	}
	for (int i = 0; i < 100; i += 3)
		free(kept[i]);
}
