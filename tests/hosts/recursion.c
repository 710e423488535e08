/* recursion.c - comes and goes far below the depth limit; for verify_programs.sh. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { SPAN = 40 }; /* how far from the deepest it turns round */

static uint64_t state = UINT64_C(88172645463325252);
static long events, limit, deepest;

static uint64_t next_random(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

__attribute__((noinline)) static void descend(long depth)
{
	char *p = malloc(24 + (size_t)depth % 7);

	if (!p)
		abort();
	p[0] = 1;
	events++;
	if (depth < deepest && events < limit)
		descend(depth + 1);
	if (depth > deepest - SPAN && depth < deepest && events < limit && next_random() % 3 == 0)
		descend(depth + 1); /* from another place */
	free(p);
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	deepest = atol(argv[1]);
	limit = atol(argv[2]);
	while (events < limit)
		descend(0);
	printf("%ld\n", events);
	return 0;
}
