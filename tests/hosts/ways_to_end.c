/* ways_to_end.c - loses blocks, forks, and ends as its words say, one after the other. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define OWN __attribute__((noinline, noclone))

void *volatile sink, *volatile kept;

/* The last one may be held by what a frame leaves on the stack: two more. */
OWN static void lose(void)
{
	for (int i = 0; i < 12; i++) {
		sink = malloc(100);
		sink = NULL;
	}
}

OWN static void *take(void)
{
	void *p = malloc(50);

	sink = NULL; /* no tail call */
	return p;
}

OWN static void give_back(void *p)
{
	free(p);
	sink = NULL;
}

/* Of 20,000 blocks of one place one in a hundred is not given back. */
OWN static void forget_some(void)
{
	for (int i = 0; i < 20000; i++) {
		void *p = take();

		if (i % 100)
			give_back(p);
	}
}

/* So that the collector takes a forked child for more than a start of exec. */
OWN static void be_busy(void)
{
	for (int i = 0; i < 300; i++) {
		sink = malloc(1);
		free(sink);
	}
	sink = NULL;
}

static void *stay(void *arg)
{
	(void)arg;
	for (;;)
		(void)pause();
	return NULL;
}

static void with_child(char **argv, const char *how)
{
	pid_t pid = fork();

	if (pid == 0 && strcmp(how, "spawn") == 0) {
		(void)execl(argv[0], argv[0], "lose", (char *)NULL);
		_exit(127);
	}
	if (pid == 0) {
		be_busy();
		lose();
		if (strcmp(how, "child_exits") == 0)
			exit(0);
		_exit(0);
	}
	(void)waitpid(pid, NULL, 0);
}

int main(int argc, char **argv)
{
	kept = malloc(1000);
	for (int i = 1; i < argc; i++) {
		const char *word = argv[i];
		pthread_t t;

		if (strcmp(word, "lose") == 0)
			lose();
		else if (strcmp(word, "forget") == 0)
			forget_some();
		else if (strcmp(word, "thread") == 0)
			(void)pthread_create(&t, NULL, stay, NULL);
		else if (strcmp(word, "_exit") == 0)
			_exit(3);
		else if (strcmp(word, "kill") == 0)
			(void)raise(SIGKILL);
		else if (strcmp(word, "exec") == 0)
			(void)execl(argv[0], argv[0], "lose", (char *)NULL);
		else if (strcmp(word, "wait") == 0) {
			(void)printf("ready %d\n", (int)getpid());
			(void)fflush(stdout);
			(void)getchar();
		} else {
			with_child(argv, word);
		}
	}
	return 7;
}
