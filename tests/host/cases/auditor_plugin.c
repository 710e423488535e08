/* auditor_plugin.c - an LD_AUDIT library that asks for all notifications. */
/* SPDX-License-Identifier: Apache-2.0 */
/* flags: -w */
#define _GNU_SOURCE
#include <link.h>
#include <stdlib.h>

unsigned int la_version(unsigned int version)
{
	free(malloc(100)); /* of its own libc */
	return version < LAV_CURRENT ? version : LAV_CURRENT;
}

unsigned int la_objopen(struct link_map *map, Lmid_t lmid, uintptr_t *cookie)
{
	return LA_FLG_BINDTO | LA_FLG_BINDFROM;
}

uintptr_t la_symbind64(Elf64_Sym *sym, unsigned int ndx, uintptr_t *refcook, uintptr_t *defcook,
    unsigned int *flags, const char *symname)
{
	return sym->st_value;
}
