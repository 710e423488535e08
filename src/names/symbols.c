/* symbols.c - the functions of one ELF file, sorted by address. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "names/symbols.h"

#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	MAX_SYMBOLS = 16 << 20,
	MAX_STRINGS = 1 << 30,
};

struct symbol {
	uint64_t start, size;
	uint32_t name; /* offset into strings */
	uint32_t rank; /* lower is the better name for one address */
};

struct symbols {
	struct symbol *items; /* by start, each start once */
	size_t count;
	char *strings;
	size_t strings_bytes;
	bool is_full;
};

static int
open_elf(const char *path)
{
	struct stat st;
	int fd;

	/* look first: opening a device can do things */
	if (stat(path, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
		close(fd);
		return -EINVAL;
	}
	return fd;
}

static bool
same_build_id(Elf *elf, const uint8_t *build_id, size_t build_id_bytes)
{
	const void *found;
	ssize_t n;

	if (build_id_bytes == 0)
		return true;
	n = dwelf_elf_gnu_build_id(elf, &found);
	return n > 0 && (size_t)n == build_id_bytes &&
	    memcmp(found, build_id, build_id_bytes) == 0;
}

static Elf_Scn *
find_table(Elf *elf, uint32_t type, GElf_Shdr *ret)
{
	Elf_Scn *scn = NULL;

	while ((scn = elf_nextscn(elf, scn)))
		if (gelf_getshdr(scn, ret) && ret->sh_type == type &&
		    ret->sh_entsize != 0)
			return scn;
	return NULL;
}

static uint32_t
rank_of(const GElf_Sym *sym, const char *name)
{
	uint32_t rank = 0;

	if (GELF_ST_TYPE(sym->st_info) == STT_NOTYPE)
		rank += 100; /* a label of assembler code */
	if (sym->st_size == 0)
		rank += 50;
	if (GELF_ST_BIND(sym->st_info) == STB_LOCAL)
		rank += 20;
	if (GELF_ST_BIND(sym->st_info) == STB_WEAK)
		rank += 10;
	while (*name == '_' && name[1] != 'Z' && name[1] != 'R') {
		rank++; /* malloc rather than __libc_malloc */
		name++;
	}
	return rank;
}

static bool
is_code(Elf *elf, const GElf_Sym *sym)
{
	int type = GELF_ST_TYPE(sym->st_info);
	GElf_Shdr shdr;

	if (sym->st_shndx == SHN_UNDEF || sym->st_value == 0)
		return false;
	if (type == STT_FUNC || type == STT_GNU_IFUNC)
		return true;
	if (type != STT_NOTYPE || sym->st_shndx >= SHN_LORESERVE)
		return false;
	return gelf_getshdr(elf_getscn(elf, sym->st_shndx), &shdr) &&
	    (shdr.sh_flags & SHF_EXECINSTR) != 0;
}

/* Bytes of a function; without a size it may reach to its section's end. */
static uint64_t
size_of(Elf *elf, const GElf_Sym *sym)
{
	GElf_Shdr shdr;

	if (sym->st_size != 0)
		return sym->st_size;
	if (sym->st_shndx >= SHN_LORESERVE ||
	    !gelf_getshdr(elf_getscn(elf, sym->st_shndx), &shdr) ||
	    sym->st_value < shdr.sh_addr ||
	    sym->st_value - shdr.sh_addr >= shdr.sh_size)
		return 0;
	return shdr.sh_size - (sym->st_value - shdr.sh_addr);
}

static int
by_start(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return (x->name > y->name) - (x->name < y->name);
}

static void
sort_symbols(struct symbols *s)
{
	size_t kept = 0;

	if (s->count == 0)
		return;
	qsort(s->items, s->count, sizeof(*s->items), by_start);
	for (size_t i = 1; i < s->count; i++)
		if (s->items[i].start != s->items[kept].start)
			s->items[++kept] = s->items[i];
	s->count = kept + 1;
}

static int
copy_strings(struct symbols *s, Elf *elf, size_t section)
{
	Elf_Data *data = elf_getdata(elf_getscn(elf, section), NULL);

	if (!data || !data->d_buf || data->d_size == 0 ||
	    data->d_size > MAX_STRINGS)
		return -ENODATA;
	s->strings = malloc(data->d_size + 1);
	if (!s->strings)
		return -ENOMEM;
	memcpy(s->strings, data->d_buf, data->d_size);
	s->strings[data->d_size] = '\0';
	s->strings_bytes = data->d_size;
	return 0;
}

static int
copy_symbols(struct symbols *s, Elf *elf, uint32_t type)
{
	GElf_Shdr shdr;
	Elf_Scn *scn = find_table(elf, type, &shdr);
	Elf_Data *data = scn ? elf_getdata(scn, NULL) : NULL;
	size_t n;
	int err;

	if (!data || !data->d_buf)
		return -ENODATA;
	n = data->d_size / shdr.sh_entsize;
	if (n > MAX_SYMBOLS)
		return -EFBIG;
	err = copy_strings(s, elf, shdr.sh_link);
	if (err < 0)
		return err;
	s->items = calloc(n + 1, sizeof(*s->items));
	if (!s->items)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		struct symbol *to = &s->items[s->count];
		GElf_Sym sym;
		const char *name;

		if (!gelf_getsym(data, (int)i, &sym) || !is_code(elf, &sym) ||
		    sym.st_name >= s->strings_bytes)
			continue;
		name = s->strings + sym.st_name;
		if (*name == '\0' || *name == '$' || *name == '.')
			continue;
		to->start = sym.st_value;
		to->size = size_of(elf, &sym);
		to->name = sym.st_name;
		to->rank = rank_of(&sym, name);
		s->count++;
	}
	sort_symbols(s);
	return s->count > 0 ? 0 : -ENODATA;
}

int
symbols_open(const char *path, const uint8_t *build_id, size_t build_id_bytes,
    struct symbols **ret)
{
	struct symbols *s = NULL;
	Elf *elf;
	int fd, err;

	fd = open_elf(path);
	if (fd < 0)
		return fd;
	(void)elf_version(EV_CURRENT);
	/* read, not mapped: the file may be cut under us */
	elf = elf_begin(fd, ELF_C_READ, NULL);
	err = -ENOEXEC;
	if (!elf || elf_kind(elf) != ELF_K_ELF)
		goto out;
	err = -ESTALE;
	if (!same_build_id(elf, build_id, build_id_bytes))
		goto out;
	err = -ENOMEM;
	s = calloc(1, sizeof(*s));
	if (!s)
		goto out;
	s->is_full = true;
	err = copy_symbols(s, elf, SHT_SYMTAB);
	if (err == -ENODATA) {
		free(s->items);
		free(s->strings);
		*s = (struct symbols){0};
		err = copy_symbols(s, elf, SHT_DYNSYM);
	}
	if (err < 0)
		goto out;
	*ret = s;
	s = NULL;
out:
	symbols_free(s);
	(void)elf_end(elf);
	close(fd);
	return err;
}

void
symbols_free(struct symbols *s)
{
	if (!s)
		return;
	free(s->items);
	free(s->strings);
	free(s);
}

size_t
symbols_count(const struct symbols *s)
{
	return s->count;
}

int
symbols_is_full(const struct symbols *s)
{
	return s->is_full;
}

int64_t
symbols_find(const struct symbols *s, uint64_t address)
{
	size_t low = 0, high = s->count;
	const struct symbol *found;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (s->items[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0)
		return -ENOENT;
	found = &s->items[low - 1];
	if (address - found->start >= found->size)
		return -ENOENT;
	return (int64_t)(low - 1);
}

const char *
symbols_name(const struct symbols *s, size_t number)
{
	return s->strings + s->items[number].name;
}
