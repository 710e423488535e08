/* early.c - its libraries allocate before main: in constructors, one of them initialised first of all. */
/* SPDX-License-Identifier: Apache-2.0 */
/* flags: -Wl,--no-as-needed,-rpath,'$ORIGIN' -Lbuild/hosts -l:early_plugin.so -l:early_plugin_first.so */
#include <stdio.h>
#include <stdlib.h>

int early_plain(void);
int early_first(void);
#ifdef WITH_RESOLVER
int early_user(void);
int early_count(void);
#endif

__attribute__((noinline)) static void *main_alloc(size_t n)
{
	void *volatile p = malloc(n);

	return p;
}

int main(void)
{
	void *p[10];

	for (int i = 0; i < 10; i++)
		p[i] = main_alloc(64);
	for (int i = 0; i < 5; i++)
		free(p[i]);
	printf("EXPECT main_alloc 10 5\n");
	printf("EXPECT plain_alloc %d %d\n", 300, early_plain());
	printf("EXPECT first_alloc %d %d\n", 200, early_first());
#ifdef WITH_RESOLVER
	if (early_user() != 7)
		return 1;
	printf("EARLY %d\n", early_count());
#endif
	return 0;
}
