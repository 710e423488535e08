/* many_libraries_with_tls.c - 64 libraries with TLS, loaded late, then new threads: the loader's own mallocs in __tls_get_addr. */
/* SPDX-License-Identifier: Apache-2.0 */
/* torture: T25 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "../../lib/copy_file.h"

enum { LIBS = 64, THREADS = 6 };

static int (*touch[LIBS])(int);
static int sums[THREADS];

static void *work(void *arg)
{
	int *sum = arg;

	for (int round = 0; round < 20; round++)
		for (int i = 0; i < LIBS; i++)
			*sum += touch[i](round * i);
	return NULL;
}

int main(void)
{
	char name[64];
	void *lib[LIBS];
	pthread_t t[THREADS];

	for (int i = 0; i < LIBS; i++) {
		snprintf(name, sizeof(name), "./tls%d.so", i);
		copy_file("tls_plugin.so", name);
		lib[i] = dlopen(name, RTLD_NOW | RTLD_LOCAL);
		if (!lib[i]) {
			puts(dlerror());
			return 1;
		}
		*(void **)&touch[i] = dlsym(lib[i], "touch_tls");
		unlink(name);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_create(&t[i], NULL, work, &sums[i]);
	for (int i = 0; i < THREADS; i++) {
		pthread_join(t[i], NULL);
		printf("thread %d: %d\n", i, sums[i]);
	}
	for (int i = 0; i < LIBS; i++)
		dlclose(lib[i]);
	return 0;
}
