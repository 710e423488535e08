/* twin_plugin.h - two libraries of the same layout, one function apart. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

void *WORK(size_t size_bytes);

__attribute__((noipa)) void *WORK(size_t size_bytes)
{
	void *p = malloc(size_bytes);

	__asm__ volatile("" : "+r"(p) : : "memory"); /* no tail call */
	return p;
}
