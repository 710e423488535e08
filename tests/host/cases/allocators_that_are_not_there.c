/* allocators_that_are_not_there.c - a program that asks for functions of jemalloc, tcmalloc or mimalloc by weak symbol or dlsym finds none. */
/* SPDX-License-Identifier: Apache-2.0 */
/* flags: -fno-builtin */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#define NAMES(X) \
	X(mallocx) \
	X(rallocx) \
	X(xallocx) \
	X(sallocx) \
	X(nallocx) \
	X(dallocx) \
	X(sdallocx) \
	X(mallctl) \
	X(je_malloc) \
	X(tc_malloc) \
	X(tc_new) \
	X(tc_free) \
	X(MallocExtension_GetNumericProperty) \
	X(mi_malloc) \
	X(mi_free) \
	X(mi_new) \
	X(scalable_malloc) \
	X(malloc_size) \
	X(vfree)

#define DECLARE(name) extern void name(void) __attribute__((weak));
NAMES(DECLARE)

#define ENTRY(name) {#name, name},

int main(void)
{
	static const struct {
		const char *name;
		void (*address)(void);
	} all[] = {NAMES(ENTRY)};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		printf("%s: %s, dlsym %s\n", all[i].name, all[i].address ? "there" : "absent",
		    dlsym(RTLD_DEFAULT, all[i].name) ? "there" : "absent");
	free(malloc(100));
	return 0;
}
