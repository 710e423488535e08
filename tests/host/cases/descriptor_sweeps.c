/* descriptor_sweeps.c - close_range, a closefrom loop and dup2 over everything; then the files hold what the host wrote, and nothing else. */
/* SPDX-License-Identifier: Apache-2.0 */
/* torture: T69 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void allocate(void)
{
	static void *held[500];

	for (size_t n = 0; n < 500; n++) {
		free(held[n]);
		held[n] = malloc(n * 17);
	}
}

static void write_file(const char *name)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	char text[64];

	printf("%s has descriptor %d\n", name, fd);
	fflush(stdout);
	for (int i = 0; i < 200; i++) {
		allocate();
		int n = snprintf(text, sizeof(text), "line %d\n", i);

		if (write(fd, text, (size_t)n) != n)
			_exit(91);
	}
}

static void dup_over_all(void)
{
	int fd = open("swept", O_RDWR | O_CREAT | O_TRUNC, 0644);

	for (int to = 3; to < 40; to++)
		if (to != fd)
			dup2(fd, to);
	for (int to = 3; to < 40; to++) {
		allocate();
		if (write(to, "x", 1) != 1)
			_exit(92);
	}
}

int main(void)
{
	allocate();
	write_file("first");
	syscall(SYS_close_range, 3, ~0U, 0);
	write_file("second");
	for (int fd = 3; fd < 4096; fd++)
		close(fd);
	write_file("third");
	dup_over_all();
	pid_t pid = fork();

	if (pid == 0) {
		syscall(SYS_close_range, 3, ~0U, 0);
		write_file("of the child");
		exit(0);
	}
	int status;

	waitpid(pid, &status, 0);
	allocate();
	printf("child %d\n", status);
	return 0;
}
