/* symbol.c - which functions an object defines, and which of others it calls. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/segment/symbol.h"

#include <elf.h>
#include <stdint.h>

#include "base/fmt.h"

/* The loader reads the same tables, so they are as correct as the program. */
struct tables {
	const Elf64_Sym *symbols;
	const char *strings;
	const uint32_t *hash; /* DT_GNU_HASH */
	struct relocations {
		const Elf64_Rela *first;
		uint64_t bytes;
	} data, calls;           /* DT_RELA, DT_JMPREL */
	uint64_t without_symbol; /* so many at the start of DT_RELA */
};

/*
 * glibc has turned the offsets into addresses by now, except in the vDSO, whose
 * section cannot be written. Before Linux 3.16 the vDSO was linked to an address
 * of the kernel, from which l_addr leads to the right one, too.
 */
static const void *address_of(const struct link_map *l, uint64_t word)
{
	bool is_offset = word < l->l_addr || (int64_t)word < 0;

	return (const void *)(uintptr_t)(word + (is_offset ? l->l_addr : 0));
}

static struct tables tables_of(const struct link_map *l)
{
	struct tables t = {0};
	const Elf64_Dyn *d;

	for (d = l->l_ld; d && d->d_tag != DT_NULL; d++) {
		const void *p = address_of(l, d->d_un.d_ptr);

		if (d->d_tag == DT_SYMTAB)
			t.symbols = p;
		else if (d->d_tag == DT_STRTAB)
			t.strings = p;
		else if (d->d_tag == DT_GNU_HASH)
			t.hash = p;
		else if (d->d_tag == DT_RELA)
			t.data.first = p;
		else if (d->d_tag == DT_RELASZ)
			t.data.bytes = d->d_un.d_val;
		else if (d->d_tag == DT_RELACOUNT)
			t.without_symbol = d->d_un.d_val;
		else if (d->d_tag == DT_JMPREL)
			t.calls.first = p;
		else if (d->d_tag == DT_PLTRELSZ)
			t.calls.bytes = d->d_un.d_val;
	}
	return t;
}

static uint32_t gnu_hash(const char *name)
{
	uint32_t h = 5381;

	while (*name)
		h = h * 33 + (uint8_t)*name++;
	return h;
}

/* NULL: the object neither defines nor uses this name. */
static const Elf64_Sym *find(const struct tables *t, const char *name)
{
	uint32_t h = gnu_hash(name), i;
	const uint32_t *buckets, *chain;

	if (!t->symbols || !t->strings || !t->hash || !t->hash[0])
		return NULL;
	/* u32 buckets, first symbol, words of the filter (u64), its shift */
	buckets = t->hash + 4 + (uint64_t)t->hash[2] * 2;
	chain = buckets + t->hash[0];
	i = buckets[h % t->hash[0]];
	if (i < t->hash[1])
		return NULL;
	for (;; i++) {
		uint32_t c = chain[i - t->hash[1]];
		const Elf64_Sym *s = &t->symbols[i];

		if ((c | 1) == (h | 1) && fmt_same(t->strings + s->st_name, name))
			return s;
		if (c & 1)
			return NULL;
	}
}

bool symbol_is_defined(const struct link_map *l, const char *name)
{
	struct tables t = tables_of(l);
	const Elf64_Sym *s = find(&t, name);

	return s && s->st_shndx != SHN_UNDEF;
}

void *symbol_function(const struct link_map *l, const char *name)
{
	struct tables t = tables_of(l);
	const Elf64_Sym *s = find(&t, name);

	if (!s || s->st_shndx == SHN_UNDEF || ELF64_ST_TYPE(s->st_info) != STT_FUNC)
		return NULL;
	return (void *)(uintptr_t)(l->l_addr + s->st_value);
}

static bool refer_to(
    const struct tables *t, const struct relocations *r, uint64_t from, const char *name)
{
	uint64_t i;

	for (i = from; r->first && i < r->bytes / sizeof(*r->first); i++) {
		const Elf64_Sym *s = &t->symbols[ELF64_R_SYM(r->first[i].r_info)];

		if (s->st_name && s->st_shndx == SHN_UNDEF &&
		    fmt_same(t->strings + s->st_name, name))
			return true;
	}
	return false;
}

bool symbol_is_imported(const struct link_map *l, const char *name)
{
	struct tables t = tables_of(l);

	return t.symbols && t.strings &&
	    (refer_to(&t, &t.data, t.without_symbol, name) || refer_to(&t, &t.calls, 0, name));
}
