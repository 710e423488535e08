/* executable_with_free_only.c - the program defines only free and passes blocks to libc's: it runs as bare. */
/* SPDX-License-Identifier: Apache-2.0 */
/* torture: T106 */
/* modes: exact sampled dormant */
/* trace: no */
/* flags: -fno-builtin -w */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern void __libc_free(void *);

static size_t frees;

void free(void *p)
{
	frees += p != NULL;
	__libc_free(p);
}

int main(void)
{
	size_t before = frees;
	char *kept = NULL;

	for (int i = 0; i < 2000; i++) {
		char *p = malloc(100 + (size_t)i % 50), *q = strdup("a copy");

		memset(p, 1, 100);
		free(p);
		free(q);
		kept = realloc(kept, (size_t)i + 1);
	}
	free(kept);
	printf("frees %zu\n", frees - before);
	return 0;
}
