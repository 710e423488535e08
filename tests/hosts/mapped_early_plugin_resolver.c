/* mapped_early_plugin_resolver.c - its IFUNC resolver maps, moves and unmaps. */
/* SPDX-License-Identifier: Apache-2.0 */
/* flags: -D_GNU_SOURCE -Wl,-z,now */
#include <stddef.h>
#include <sys/mman.h>

int mapped_early_chosen(void);

static int chosen_if_right(void)
{
	return 1;
}

static int chosen_if_wrong(void)
{
	return 0;
}

static void *resolve(void)
{
	enum { FEW = 8192, MANY = 1 << 20 };
	char *p = mmap(NULL, FEW, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return (void *)chosen_if_wrong;
	p[0] = 1;
	p = mremap(p, FEW, MANY, MREMAP_MAYMOVE);
	if (p == MAP_FAILED || p[0] != 1 || p[MANY - 1] || munmap(p, MANY) ||
	    munmap((void *)1, 1) != -1)
		return (void *)chosen_if_wrong;
	return (void *)chosen_if_right;
}

int mapped_early_chosen(void) __attribute__((ifunc("resolve")));
