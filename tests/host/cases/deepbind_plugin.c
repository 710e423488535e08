/* deepbind_plugin.c - allocates for others and frees what they allocated; loaded with RTLD_DEEPBIND. */
/* SPDX-License-Identifier: Apache-2.0 */
/* flags: -fno-builtin -w */
#include <stdlib.h>
#include <string.h>

int deep_symbol = 2; /* the program has one, too */

void *plugin_alloc(size_t n)
{
	return memset(malloc(n), 7, n);
}

void plugin_free(void *p)
{
	free(p);
}

void *plugin_resize(void *p, size_t n)
{
	return realloc(p, n);
}

int plugin_symbol(void)
{
	return deep_symbol;
}
