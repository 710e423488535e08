/* symbol.c - does an object define a function itself? */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/symbol.h"

#include <elf.h>
#include <stdint.h>

#include "base/fmt.h"

/* The loader reads the same tables, so they are as correct as the program. */
struct tables {
	const Elf64_Sym *symbols;
	const char *strings;
	const uint32_t *hash; /* DT_GNU_HASH */
};

static struct tables
tables_of(const struct link_map *l)
{
	struct tables t = {0};
	const Elf64_Dyn *d;

	/*
	 * glibc has turned the offsets into addresses by now, except in the
	 * vDSO, whose section cannot be written.
	 */
	for (d = l->l_ld; d && d->d_tag != DT_NULL; d++) {
		const void *p = (const void *)(uintptr_t)(d->d_un.d_ptr +
		    (d->d_un.d_ptr < l->l_addr ? l->l_addr : 0));

		if (d->d_tag == DT_SYMTAB)
			t.symbols = p;
		else if (d->d_tag == DT_STRTAB)
			t.strings = p;
		else if (d->d_tag == DT_GNU_HASH)
			t.hash = p;
	}
	return t;
}

static uint32_t
gnu_hash(const char *name)
{
	uint32_t h = 5381;

	while (*name)
		h = h * 33 + (uint8_t)*name++;
	return h;
}

bool
symbol_is_defined(const struct link_map *l, const char *name)
{
	struct tables t = tables_of(l);
	uint32_t h = gnu_hash(name), i;
	const uint32_t *buckets, *chain;

	if (!t.symbols || !t.strings || !t.hash || !t.hash[0])
		return false;
	/* u32 buckets, first symbol, words of the filter (u64), its shift */
	buckets = t.hash + 4 + (uint64_t)t.hash[2] * 2;
	chain = buckets + t.hash[0];
	i = buckets[h % t.hash[0]];
	if (i < t.hash[1])
		return false;
	for (;; i++) {
		uint32_t c = chain[i - t.hash[1]];
		const Elf64_Sym *s = &t.symbols[i];

		if ((c | 1) == (h | 1) &&
		    fmt_same(t.strings + s->st_name, name))
			return s->st_shndx != SHN_UNDEF;
		if (c & 1)
			return false;
	}
}
