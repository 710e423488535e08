/* constructors_allocate_under_dlopen.c - constructors and destructors allocate and load libraries while threads churn: no hang. */
/* SPDX-License-Identifier: Apache-2.0 */
/* torture: T68 T60 */
/* seconds: 90 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static atomic_bool stop;
static char path[4096];

static void *churn(void *arg)
{
	while (!stop)
		for (size_t n = 0; n < 200; n++)
			free(malloc(n));
	return arg;
}

static void *load(void *arg)
{
	size_t *sum = arg;

	for (int i = 0; i < 60; i++) {
		void *lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);
		size_t (*constructed)(void);

		if (!lib)
			return NULL;
		*(void **)&constructed = dlsym(lib, "constructed");
		*sum += constructed();
		dlclose(lib);
	}
	return NULL;
}

int main(void)
{
	pthread_t churner[3], loader[2];
	size_t sums[2] = {0, 0};

	snprintf(path, sizeof(path), "%s/constructor_plugin.so", getenv("HOSTS"));
	for (int i = 0; i < 3; i++)
		pthread_create(&churner[i], NULL, churn, NULL);
	for (int i = 0; i < 2; i++)
		pthread_create(&loader[i], NULL, load, &sums[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(loader[i], NULL);
	stop = true;
	for (int i = 0; i < 3; i++)
		pthread_join(churner[i], NULL);
	printf("sums %zu %zu\n", sums[0], sums[1]);
	return 0;
}
