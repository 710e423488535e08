/* births.c - blocks that stay, born at the beginning, in the middle and at the end. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noipa))

static void *kept[1000];
static int count;

NOINLINE static void make_kept(int n)
{
	for (; n > 0; n--) {
		kept[count] = malloc(50);
		__asm__ volatile("" : "+m"(kept[count]));
		count++;
	}
}

static void wait_ms(long ms)
{
	struct timespec t = {ms / 1000, ms % 1000 * 1000000};

	while (nanosleep(&t, &t))
		;
	/* up to 64 events after a pause may have the tick of before it */
	for (ms = 0; ms < 100; ms++) {
		void *p = malloc(10);

		__asm__ volatile("" : "+r"(p) : : "memory");
		free(p);
	}
}

int main(void)
{
	int c = 0;

	make_kept(100);
	wait_ms(1600);
	make_kept(70);
	wait_ms(1600);
	make_kept(30);
	if (write(1, "MADE\n", 5) != 5)
		return 1;
	while (read(0, &c, 1) > 0)
		;
	return 0;
}
