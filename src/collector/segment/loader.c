/* loader.c - symbols of loaded objects: what defines them, who calls them, where they are. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/segment/loader.h"

#include <elf.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/cpu/cpu.h"
#include "base/fmt.h"

/*
 * All are weak, because a preloaded library with a strong symbol that the
 * host's libc lacks would stop the host from starting (I16). dlsym moved into
 * libc with glibc 2.34, which has its old version too.
 */
extern void *loader_dlsym(void *handle, const char *name) SEEP_WEAK;
extern char *loader_dlerror(void) SEEP_WEAK;
__asm__(".symver loader_dlsym, dlsym@" CPU_GLIBC_FIRST);
__asm__(".symver loader_dlerror, dlerror@" CPU_GLIBC_FIRST);
#pragma weak _r_debug

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

bool loader_defines(const struct link_map *l, const char *name)
{
	struct tables t = tables_of(l);
	const Elf64_Sym *s = find(&t, name);

	return s && s->st_shndx != SHN_UNDEF;
}

/*
 * Where the function is. NULL: it is not defined there, or it is an IFUNC. If it
 * has several versions, any of them.
 */
static void *function_of(const struct link_map *l, const char *name)
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

bool loader_imports(const struct link_map *l, const char *name)
{
	struct tables t = tables_of(l);

	return t.symbols && t.strings &&
	    (refer_to(&t, &t.data, t.without_symbol, name) || refer_to(&t, &t.calls, 0, name));
}

/* ---- functions of libc, symbols of the whole process ---------------------- */

/* dlsym was in libdl before glibc 2.34. */
static bool is_libdl(const char *path)
{
	static const char begin[] = "libdl.so";
	const char *name = path;
	size_t i;

	for (; *path; path++)
		if (*path == '/')
			name = path + 1;
	for (i = 0; i < sizeof(begin) - 1; i++)
		if (name[i] != begin[i])
			return false;
	return true;
}

loader_any *loader_libc(const char *name)
{
	static const struct link_map *libc; /* some hosts have many objects */
	const struct link_map *l = &_r_debug ? _r_debug.r_map : NULL;
	void *p = libc ? function_of(libc, name) : NULL;

	for (; l && !p; l = l->l_next) {
		bool is_libc = loader_defines(l, "gnu_get_libc_version");

		if (is_libc)
			libc = l;
		if (is_libc || is_libdl(l->l_name))
			p = function_of(l, name);
	}
	return (loader_any *)(uintptr_t)p;
}

#define HANDLE_NEXT    ((void *)-1L) /* RTLD_NEXT */
#define HANDLE_DEFAULT NULL          /* RTLD_DEFAULT */

static void *(*real_dlsym)(void *handle, const char *name);
static char *(*real_dlerror)(void);

/* Those of libc, or what bears their names in another libc. */
static void find_dlsym(void)
{
	real_dlerror = (char *(*)(void))loader_libc("dlerror");
	real_dlsym = (void *(*)(void *, const char *))loader_libc("dlsym");
	if (real_dlsym && real_dlerror)
		return;
	real_dlerror = loader_dlerror;
	real_dlsym = loader_dlsym;
}

bool loader_is_relocated(void)
{
	return loader_dlsym; /* weak, so it is 0 before */
}

bool loader_ready(void)
{
	if (!real_dlsym && loader_is_relocated())
		find_dlsym();
	return real_dlsym;
}

static void *find_symbol(void *handle, const char *name)
{
	void *p;

	if (!real_dlsym)
		return NULL;
	p = real_dlsym(handle, name);
	if (!p && real_dlerror) {
		real_dlerror(); /* the host must not find our error */
		real_dlerror();
	}
	return p;
}

void *loader_symbol(const char *name)
{
	return find_symbol(HANDLE_DEFAULT, name);
}

void *loader_after_us(const char *name)
{
	return find_symbol(HANDLE_NEXT, name);
}
