/* another_namespace_has_its_own_heap.c - dlmopen loads a second libc, which the collector does not see: the program runs as bare, and counts of the first heap are exact. */
/* SPDX-License-Identifier: Apache-2.0 */
/* torture: T67 */
/* counted: namespaces */
#include <dlfcn.h>
#include <stdlib.h>

#define SITES(X) X(alloc_in_base)
#include "../../lib/ledger.h"

SITE_FN static void *alloc_in_base(size_t n)
{
	return led_keep(malloc(n));
}

int main(void)
{
	char path[4096];
	int sum = 0;

	snprintf(path, sizeof(path), "%s/deepbind_plugin.so", getenv("HOSTS"));
	for (int round = 0; round < 3; round++) {
		void *lib = dlmopen(LM_ID_NEWLM, path, RTLD_NOW);
		void *(*alloc)(size_t);
		void (*release)(void *);

		if (!lib)
			puts(dlerror());
		led_check(lib, "dlmopen");
		*(void **)&alloc = dlsym(lib, "plugin_alloc");
		*(void **)&release = dlsym(lib, "plugin_free");
		for (size_t n = 1; n < 1000; n++) {
			char *p = alloc(n), *q = alloc_in_base(n);

			led_alloc(L_alloc_in_base, n);
			sum += p[n - 1];
			release(p);
			led_free(L_alloc_in_base, n);
			free(q);
		}
		dlclose(lib);
	}
	printf("sum %d\n", sum);
	fflush(stdout);
	led_print(1);
	return 0;
}
