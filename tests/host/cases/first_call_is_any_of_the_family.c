/* first_call_is_any_of_the_family.c - the very first call of a process is each function in turn, from .preinit_array and from main. */
/* SPDX-License-Identifier: Apache-2.0 */
/* torture: T19 T11 */
/* flags: -fno-builtin -Wno-deprecated-declarations */
#include "early_calls.h"
#include <stdio.h>
#include <sys/wait.h>

/* runs before every constructor, ours included; there is no stdio yet */
static void call_before_constructors(int argc, char **argv, char **envp)
{
	(void)envp;
	if (argc == 3 && argv[1][0] == 'p')
		early_call(atoi(argv[2]));
}

__attribute__((section(".preinit_array"), used)) static void (*const early)(
    int, char **, char **) = call_before_constructors;

static void run(char *self, char *when, int which)
{
	char number[16];
	char *argv[] = {self, when, number, NULL};
	int status;

	snprintf(number, sizeof(number), "%d", which);
	pid_t pid = vfork();

	if (pid == 0) {
		execv("/proc/self/exe", argv);
		_exit(90);
	}
	waitpid(pid, &status, 0);
	printf("%s %d: %d\n", when, which, status);
}

int main(int argc, char **argv)
{
	char preinit[] = "preinit", in_main[] = "main";

	if (argc == 3) {
		if (argv[1][0] == 'm')
			early_call(atoi(argv[2]));
		early_call(0);
		return 0;
	}
	for (int which = 0; which < EARLY_KINDS; which++) {
		run(argv[0], preinit, which);
		run(argv[0], in_main, which);
	}
	return 0;
}
