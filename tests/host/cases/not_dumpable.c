/* not_dumpable.c - PR_SET_DUMPABLE 0, before and after forks and loads: the flag stays, modules are found, exact. */
/* SPDX-License-Identifier: Apache-2.0 */
/* torture: T85 */
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#define SITES(X) X(alloc_hidden) X(plugin_alloc)
#include "../../lib/ledger.h"

SITE_FN static void *alloc_hidden(size_t n)
{
	return led_keep(malloc(n));
}

int main(void)
{
	char path[4096];
	void *(*alloc)(size_t);
	int status;

	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	for (size_t n = 0; n < 1000; n++) {
		led_keep(alloc_hidden(n));
		led_alloc(L_alloc_hidden, n);
	}
	snprintf(path, sizeof(path), "%s/deepbind_plugin.so", getenv("HOSTS"));
	void *lib = dlopen(path, RTLD_NOW);

	led_check(lib, "dlopen");
	*(void **)&alloc = dlsym(lib, "plugin_alloc");
	for (size_t n = 1; n < 1000; n++) {
		led_keep(alloc(n));
		led_alloc(L_plugin_alloc, n);
	}
	printf("dumpable %d\n", prctl(PR_GET_DUMPABLE));
	fflush(stdout);
	pid_t pid = fork();

	if (pid == 0) {
		for (int i = 0; i < 500; i++)
			free(malloc((size_t)i));
		_exit(prctl(PR_GET_DUMPABLE));
	}
	waitpid(pid, &status, 0);
	printf("child %d dumpable %d\n", status, prctl(PR_GET_DUMPABLE));
	fflush(stdout);
	led_print(1);
	return 0;
}
