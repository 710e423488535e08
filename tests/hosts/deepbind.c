/* deepbind.c - a module loaded with RTLD_DEEPBIND frees what the program allocates; nothing leaks. With an argument a forked child does the same. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BLOCKS = 100 };

static void (*release)(void *);

__attribute__((noinline)) static void *block_alloc(size_t n)
{
	void *volatile p = malloc(n);

	return p;
}

static void work(void)
{
	void *p[BLOCKS];

	/* sizes of their own: no address comes back, no free is found out */
	for (size_t i = 0; i < BLOCKS; i++)
		p[i] = block_alloc(100000 + 5000 * i);
	for (size_t i = 0; i < BLOCKS; i++)
		release(p[i]);
}

int main(int argc, char **argv)
{
	char path[4096];
	int status = 0;

	snprintf(path, sizeof(path), "%s/deepbind_plugin.so", getenv("HOSTS"));
	void *lib = dlopen(path, RTLD_NOW | RTLD_DEEPBIND);

	if (!lib)
		return 1;
	*(void **)&release = dlsym(lib, "plugin_free");
	if (argc > 1) {
		pid_t pid = fork();

		if (pid == 0) {
			work();
			exit(0);
		}
		waitpid(pid, &status, 0);
		(void)argv;
	} else {
		work();
	}
	/* by its own name: no second load */
	if (!dlopen(path, RTLD_NOW | RTLD_NOLOAD | RTLD_DEEPBIND))
		return 2;
	return status != 0;
}
