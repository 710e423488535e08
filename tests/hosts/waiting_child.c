/* waiting_child.c - a child that has three blocks and waits; SIGUSR1 makes it sleep(1). */
/* SPDX-License-Identifier: Apache-2.0 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static volatile sig_atomic_t go;

static void on_signal(int number)
{
	(void)number;
	go = 1;
}

int main(void)
{
	char line[32];
	pid_t child = fork();

	if (child > 0) {
		sleep(60);
		return 0;
	}
	signal(SIGUSR1, on_signal);
	for (int i = 0; i < 3; i++) {
		void *p = malloc(100);

		__asm__ volatile("" : "+r"(p) : : "memory");
	}
	write(1, line, (size_t)snprintf(line, sizeof(line), "CHILD %d\n", (int)getpid()));
	while (!go)
		sleep(60);
	execlp("sleep", "sleep", "60", (char *)NULL);
	return 1;
}
