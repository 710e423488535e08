/* opened_and_closed.c - loads a library with dlopen, allocates with it, closes it, and forks. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TIMES = 6, STATUS = 3 };

static int status_of_child(void)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		free(malloc(10));
		_exit(STATUS);
	}
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int main(int argc, char **argv)
{
	for (int i = 0; argc > 1 && i < TIMES; i++) {
		int scope = i % 2 ? RTLD_GLOBAL : RTLD_LOCAL;
		void *library = dlopen(argv[1], RTLD_NOW | scope);
		void *(*allocate)(size_t);
		void (*release)(void *);

		if (!library) {
			puts(dlerror());
			return 1;
		}
		*(void **)(void *)&allocate = dlsym(library, "malloc");
		*(void **)(void *)&release = dlsym(library, "free");
		release(allocate(100));
		printf("%d ", status_of_child());
		dlclose(library);
		printf("%d\n", status_of_child());
	}
	return 0;
}
