/* takes_all_memory.c - prints how many KiB it gets from malloc before the limit. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>

enum { KIB_MAX = 1 << 20 };

int main(void)
{
	static char out[64];
	long kib = 0;

	setvbuf(stdout, out, _IOFBF, sizeof(out));
	while (kib < KIB_MAX && malloc(1000))
		kib++;
	printf("%ld\n", kib);
	return 0;
}
