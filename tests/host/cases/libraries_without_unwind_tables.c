/* libraries_without_unwind_tables.c - no .eh_frame_hdr, .debug_frame only, stripped: stacks end there, marked; no fault, exact. */
/* SPDX-License-Identifier: Apache-2.0 */
/* torture: T61 */
/* cut: odd_no_header odd_debug_frame odd_stripped */
#include <dlfcn.h>
#include <stdlib.h>

#define SITES(X) X(alloc_called_back)
#include "../../lib/ledger.h"

SITE_FN static void *alloc_called_back(size_t n)
{
	return led_keep(malloc(n));
}

static void use(const char *file, const char *name)
{
	char path[4096];
	void *(*call)(void *(*)(size_t), size_t);

	snprintf(path, sizeof(path), "%s/%s", getenv("HOSTS"), file);
	void *lib = dlopen(path, RTLD_NOW);

	if (!lib)
		puts(dlerror());
	led_check(lib, file);
	*(void **)&call = dlsym(lib, name);
	for (size_t n = 0; n < 500; n++) {
		void *p = call(alloc_called_back, n);

		led_alloc(L_alloc_called_back, n);
		if (n % 3) {
			led_free(L_alloc_called_back, n);
			free(p);
		}
	}
	dlclose(lib);
}

int main(void)
{
	for (int i = 0; i < 3; i++) {
		use("no_header_plugin.so", "odd_no_header");
		use("debug_frame_plugin.so", "odd_debug_frame");
		use("stripped_plugin.so", "odd_stripped");
	}
	led_print(1);
	return 0;
}
