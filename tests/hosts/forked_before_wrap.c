/* forked_before_wrap.c - a child with the last pid there is, whose threads have the first ones: it is in the report under its own pid. */
/* SPDX-License-Identifier: Apache-2.0 */
/* flags: -pthread */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * forked_before_wrap
 *   Needs a pid namespace of its own, as its root. The threads of the parent
 *   leave their stacks to those of the child, so that pthread_create()
 *   allocates nothing there, and the first event of the child is in a thread.
 *   Prints PID, CHILD and the child's pid; status 77: pids cannot be chosen.
 */
enum { THREADS = 3, EVENTS = 10000, BLOCKS = 100 };

static pthread_barrier_t begun, over;
static pthread_barrier_t child_begun;
static void *volatile keep;
static _Thread_local void *volatile keep_of_parent;

static void *of_parent(void *arg)
{
	(void)arg;
	for (int i = 0; i < EVENTS; i++) {
		keep_of_parent = malloc(50);
		free(keep_of_parent);
	}
	pthread_barrier_wait(&begun);
	pthread_barrier_wait(&over);
	return NULL;
}

__attribute__((noipa)) static void allocate(void)
{
	for (int i = 0; i < BLOCKS; i++)
		keep = malloc(32);
}

/* It is there while the other one allocates. */
static void *wait_in_child(void *arg)
{
	pthread_barrier_wait(&child_begun);
	pause();
	return arg;
}

static void *allocate_in_child(void *arg)
{
	pthread_barrier_wait(&child_begun);
	allocate();
	return arg;
}

static long read_number(const char *path)
{
	char text[32] = "";
	int fd = open(path, O_RDONLY);

	if (fd < 0 || read(fd, text, sizeof(text) - 1) <= 0)
		return -1;
	close(fd);
	return atol(text);
}

static int write_number(const char *path, long n)
{
	char text[32];
	int fd = open(path, O_WRONLY);
	int len = snprintf(text, sizeof(text), "%ld\n", n);

	if (fd < 0 || write(fd, text, (size_t)len) != len)
		return -1;
	close(fd);
	return 0;
}

int main(void)
{
	long most = read_number("/proc/sys/kernel/pid_max");
	pthread_t t[THREADS], c[2] = {0};
	pid_t child;
	int status;

	pthread_barrier_init(&begun, NULL, THREADS + 1);
	pthread_barrier_init(&over, NULL, THREADS + 1);
	pthread_barrier_init(&child_begun, NULL, 2);
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&t[i], NULL, of_parent, NULL))
			return 1;
	pthread_barrier_wait(&begun);
	if (most < 1000 || write_number("/proc/sys/kernel/ns_last_pid", most - 2) < 0)
		return 77;
	child = fork();
	if (child == 0) {
		if (pthread_create(&c[0], NULL, wait_in_child, NULL) ||
		    pthread_create(&c[1], NULL, allocate_in_child, NULL))
			_exit(1);
		pthread_join(c[1], NULL);
		_exit(0);
	}
	waitpid(child, &status, 0);
	pthread_barrier_wait(&over);
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	printf("PID %d\nCHILD %d of %ld, status %d\n", (int)getpid(), (int)child, most, status);
	return status != 0 || child != most - 1;
}
