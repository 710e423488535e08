/* rss_grows - keeps 40 bytes of each 8 KiB that it frees, 20 times a second, so that held pages grow with time. */
/* flags: -O1 -g -fno-builtin */
/* SPDX-License-Identifier: Apache-2.0 */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* usage: rss_grows STEPS; each frees 100 fillers between 100 notes */
#define OWN static __attribute__((noinline))

enum { AT_ONCE = 100, STEP_US = 50000, FILLER = 8000 };

OWN void *
grow_note(void)
{
	void *p = malloc(40);

	return p ? memset(p, 1, 40) : NULL;
}

OWN void *
grow_filler(void)
{
	void *p = malloc(FILLER);

	return p ? memset(p, 1, FILLER) : NULL;
}

int
main(int argc, char **argv)
{
	long steps = argc > 1 ? strtol(argv[1], NULL, 10) : 60;
	static void *volatile last;
	void *fillers[AT_ONCE];

	(void)mallopt(M_TRIM_THRESHOLD, 1 << 30);
	for (long s = 0; s < steps; s++) {
		/* larger than any hole, so that holes stay as they are */
		for (int i = 0; i < AT_ONCE; i++) {
			last = grow_note();
			fillers[i] = grow_filler();
			last = malloc(FILLER / 8);
		}
		for (int i = 0; i < AT_ONCE; i++)
			free(fillers[i]);
		(void)usleep(STEP_US);
	}
	return 0;
}
