/* wrapped_dlsym_plugin.c - wraps dlsym, as overlays and fakers do; libc takes it for the caller of each look-up. */
/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <dlfcn.h>

void *dlsym(void *handle, const char *name)
{
	void *(*real)(void *, const char *);
	void *found;

	*(void **)(void *)&real = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
	found = real(handle, name);
	__asm__ volatile("" : "+r"(found)); /* not a jump */
	return found;
}
