/* holders_plugin.c - a library that keeps a list in a static variable of its own. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

struct item {
	struct item *next;
	char text[40];
};

static struct item *lib_items;

__attribute__((noinline)) size_t lib_add(void)
{
	struct item *i = malloc(sizeof(*i));

	if (!i)
		abort();
	memset(i->text, 0, sizeof(i->text));
	i->next = lib_items;
	lib_items = i;
	return sizeof(*i);
}
