/* libc_controls_reach_libc.c - mallopt, mallinfo2, malloc_info, malloc_stats and malloc_trim return and do the same as bare. */
/* SPDX-License-Identifier: Apache-2.0 */
/* torture: T14 */
/* flags: -fno-builtin */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void *held[600];

static void show(const char *when)
{
	struct mallinfo2 m = mallinfo2();

	printf("%s: arena %zu in use %zu free %zu mapped %zu in %zu\n", when, m.arena, m.uordblks,
	    m.fordblks, m.hblkhd, m.hblks);
	fflush(stdout);
	malloc_stats(); /* stderr */
}

int main(void)
{
	setvbuf(stdout, NULL, _IONBF, 0);
	show("start");
	printf("threshold %d\n", mallopt(M_MMAP_THRESHOLD, 8192));
	for (size_t i = 0; i < 600; i++)
		held[i] = malloc(i * 31);
	show("held");
	printf("perturb %d\n", mallopt(M_PERTURB, 0x5a));
	unsigned char *p = malloc(64);
	int filled = 0;

	for (int i = 0; i < 64; i++)
		filled += p[i] == (unsigned char)~0x5a;
	printf("filled %d of 64\n", filled);
	free(p);
	mallopt(M_PERTURB, 0);
	for (size_t i = 0; i < 600; i += 2)
		free(held[i]);
	show("half");
	printf("trim %d\n", malloc_trim(0));
	malloc_info(0, stdout);
	for (size_t i = 1; i < 600; i += 2)
		free(held[i]);
	show("end");
	return 0;
}
