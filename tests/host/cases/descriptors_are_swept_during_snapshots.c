/* descriptors_are_swept_during_snapshots.c - a thread closes all descriptors and opens its own files while another one takes snapshots: every file is as the host wrote it. */
/* SPDX-License-Identifier: Apache-2.0 */
/* flags: -pthread */
/* torture: T69 */
/* modes: exact */
/* env: SEEP_SNAPSHOTS=20 */
/* witness: no: a system call under ptrace takes longer than the race lasts */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ROUNDS = 1500, FILES = 3, BLOCKS = 3000, BYTES = 8 };

extern int seep_snapshot(const char *label) __attribute__((weak));

static atomic_bool done;

static void *take_snapshots(void *arg)
{
	while (seep_snapshot && !done)
		seep_snapshot("swept");
	return arg;
}

static int odd_files(void)
{
	static const char *const names[FILES] = {"a", "b", "c"};
	int fds[FILES], odd = 0;

	close_range(3, ~0U, 0);
	for (int i = 0; i < FILES; i++)
		fds[i] = open(names[i], O_RDWR | O_CREAT | O_TRUNC, 0600);
	for (int i = 0; i < FILES; i++)
		odd += write(fds[i], "12345678", BYTES) != BYTES;
	usleep(400);
	for (int i = 0; i < FILES; i++) {
		struct stat st;

		odd += stat(names[i], &st) != 0 || st.st_size != BYTES;
	}
	return odd;
}

int main(void)
{
	static void *kept[BLOCKS];
	pthread_t thread;
	int odd = 0;

	for (int i = 0; i < BLOCKS; i++)
		kept[i] = malloc((size_t)i + 1);
	pthread_create(&thread, NULL, take_snapshots, NULL);
	for (int i = 0; i < ROUNDS; i++)
		odd += odd_files();
	done = true;
	pthread_join(thread, NULL);
	for (int i = 0; i < BLOCKS; i++)
		free(kept[i]);
	printf("%d files or writes are not as they should be\n", odd);
	return 0;
}
