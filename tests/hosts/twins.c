/* twins.c - two plugins in turn at the same address: work_A's blocks are work_A's, work_B's are work_B's. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <dlfcn.h>
#include <stdlib.h>

#define SITES(X) X(work_A) X(work_B)
#include "../lib/ledger.h"

enum { TURNS = 50 };

static char folder[4096];
static void *kept[2 * TURNS];

static void *load(const char *name)
{
	char path[4200];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	void *lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);

	led_check(lib, "dlopen");
	return lib;
}

int main(void)
{
	ssize_t n = readlink("/proc/self/exe", folder, sizeof(folder) - 1);
	uintptr_t place = 0;
	int same = 0;
	char line[64];

	led_check(n > 0, "readlink");
	*strrchr(folder, '/') = '\0';
	for (int i = 0; i < 2 * TURNS; i++) {
		bool is_a = i % 2 == 0;
		void *lib = load(is_a ? "twin_plugin_a.so" : "twin_plugin_b.so");
		void *(*work)(size_t) = (void *(*)(size_t))dlsym(lib, is_a ? "work_A" : "work_B");
		int site = is_a ? L_work_A : L_work_B;

		led_check(work, "dlsym");
		same += (uintptr_t)work == place;
		place = (uintptr_t)work;
		for (int k = 0; k < 100; k++) {
			free(work(10 + (size_t)k));
			led_alloc(site, 10 + (size_t)k);
			led_free(site, 10 + (size_t)k);
		}
		kept[i] = work(is_a ? 1000 : 3000);
		led_alloc(site, is_a ? 1000 : 3000);
		dlclose(lib);
		if (i >= 10) { /* freed long after the code is gone */
			led_free(site, is_a ? 1000 : 3000);
			free(kept[i - 10]);
		}
	}
	led_print(1);
	snprintf(line, sizeof(line), "# same address %d times\n", same);
	led_say(1, line);
	led_check(same > TURNS, "the plugins did not share an address");
	return 0;
}
