/* deepbind_shares_the_heap.c - a plugin loaded with RTLD_DEEPBIND calls libc directly and exchanges blocks with the program: no crash, the flag is kept. */
/* SPDX-License-Identifier: Apache-2.0 */
/* torture: T66 */
/* flags: -fno-builtin -rdynamic */
/* allow: unknown_frees missed_frees (its calls pass us by; counted as such) */
/* counted: deepbind_loads */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

int deep_symbol = 1;

int main(void)
{
	char path[4096];
	void *(*alloc)(size_t), *(*resize)(void *, size_t);
	void (*release)(void *);
	int (*symbol)(void), sum = 0;

	snprintf(path, sizeof(path), "%s/deepbind_plugin.so", getenv("HOSTS"));
	void *lib = dlopen(path, RTLD_NOW | RTLD_DEEPBIND);

	if (!lib)
		return 1;
	*(void **)&alloc = dlsym(lib, "plugin_alloc");
	*(void **)&resize = dlsym(lib, "plugin_resize");
	*(void **)&release = dlsym(lib, "plugin_free");
	*(void **)&symbol = dlsym(lib, "plugin_symbol");
	printf("symbols %d %d\n", deep_symbol, symbol());
	for (size_t n = 1; n < 2000; n++) {
		char *p = alloc(n), *q = malloc(n);

		sum += p[n - 1];
		free(p);    /* the plugin's, freed here */
		release(q); /* ours, freed there */
		q = resize(malloc(n), 2 * n);
		q = realloc(q, 3 * n);
		release(q);
	}
	printf("sum %d\n", sum);
	return 0;
}
