/* early_plugin_resolver.c - its IFUNC resolver calls the whole family. */
/* SPDX-License-Identifier: Apache-2.0 */
/* flags: -fno-builtin -Wno-deprecated-declarations -Wl,-z,now */
#include "../host/cases/early_calls.h"

static int resolved; /* allocations */
static void *kept[64];

static int seven(void)
{
	return 7;
}

static void *large(void)
{
	char *p = realloc(realloc(malloc(100), 1 << 20), 2 << 20);

	if (!p)
		_exit(94);
	memset(p, 1, 2 << 20);
	return p;
}

static int (*resolve(void))(void)
{
	for (int i = 0; i < EARLY_KINDS; i++)
		early_call(i);
	resolved += 11; /* the last kind makes two, free(NULL) none */
	for (int i = 0; i < 64; i++)
		kept[i] = calloc(1, 64);
	for (int i = 0; i < 32; i++)
		free(kept[i]);
	resolved += 64;
	free(large());
	resolved += 3;
	return seven;
}

int early_count(void)
{
	return resolved;
}

int early_chosen(void) __attribute__((ifunc("resolve")));
