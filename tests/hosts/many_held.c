/* many_held.c - BLOCKS blocks of SIZE bytes on average in one table; says how many pointers it has. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct item {
	struct item *next;
	void *payload;
};

struct item **table;

__attribute__((noinline)) static void add(size_t i, size_t slots, size_t size)
{
	struct item *x = malloc(sizeof(*x));
	unsigned char *payload = malloc(size);

	if (!x || !payload)
		abort();
	memset(payload, 0x11, size); /* no pointers */
	x->payload = payload;
	x->next = table[i * 2654435761u % slots];
	table[i * 2654435761u % slots] = x;
}

int main(int argc, char **argv)
{
	size_t blocks = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000;
	size_t size = argc > 2 ? strtoul(argv[2], NULL, 10) : 32;
	size_t items = blocks / 2, slots = items / 4 + 1;
	size_t payload = 2 * size > sizeof(struct item) ? 2 * size - sizeof(struct item) : 1;
	char c;

	table = calloc(slots, sizeof(struct item *));
	if (!table)
		return 1;
	for (size_t i = 0; i < items; i++)
		add(i, slots, payload);
	/* each item has a payload, and something points to it */
	printf("BLOCKS %zu POINTERS %zu BYTES %zu\n", 2 * items + 1, 2 * items,
	    items * (sizeof(struct item) + payload) + slots * sizeof(struct item *));
	printf("ready %d\n", (int)getpid());
	(void)fflush(stdout);
	return read(0, &c, 1) < 0;
}
