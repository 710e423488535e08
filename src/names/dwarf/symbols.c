/* symbols.c - the functions or variables of one ELF file, sorted by address. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "names/dwarf/lookup.h"
#include "kit/data/sorted.h"

#include <gelf.h>

enum {
	MAX_SYMBOLS = 16 << 20,
	MAX_STRINGS = 1 << 30,
	LOOK_BACK = 64,
};

struct symbol {
	uint64_t start, size;
	uint64_t reach; /* the highest end of this one and those before */
	uint32_t name;  /* offset into strings */
	uint32_t file;  /* the same, 0: not known */
	uint32_t number;
	uint16_t rank; /* lower is the better name for one address */
	bool sizeless;
	bool is_local;
	bool is_folded;
};

struct symbols {
	struct symbol *items; /* by start, each start once */
	size_t count;
	char *strings;
	size_t strings_bytes;
};

static Elf_Scn *find_table(Elf *elf, uint32_t type, GElf_Shdr *ret)
{
	Elf_Scn *scn = NULL;

	while ((scn = elf_nextscn(elf, scn)))
		if (gelf_getshdr(scn, ret) && ret->sh_type == type && ret->sh_entsize != 0)
			return scn;
	return NULL;
}

static uint16_t rank_of(const GElf_Sym *sym, const char *name)
{
	uint16_t rank = 0;

	if (GELF_ST_TYPE(sym->st_info) == STT_NOTYPE)
		rank += 100; /* a label of assembler code */
	if (sym->st_size == 0)
		rank += 50;
	if (GELF_ST_BIND(sym->st_info) == STB_LOCAL)
		rank += 20;
	if (GELF_ST_BIND(sym->st_info) == STB_WEAK)
		rank += 10;
	for (int i = 0; i < 8 && *name == '_' && name[1] != 'Z' && name[1] != 'R'; i++) {
		rank++; /* malloc rather than __libc_malloc */
		name++;
	}
	return rank;
}

/*
 * Is it a mark or a local label of an assembler? NASM's "..@4.loop" is a name.
 */
static bool is_name(const char *name)
{
	return *name != '\0' && *name != '$' && (*name != '.' || name[1] == '.');
}

static bool is_code(Elf *elf, const GElf_Sym *sym)
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

static bool is_wanted(Elf *elf, const GElf_Sym *sym, enum symbols_kind kind)
{
	int type = GELF_ST_TYPE(sym->st_info);

	switch (kind) {
	case SYMBOLS_CODE:
		return is_code(elf, sym);
	case SYMBOLS_DATA:
		return (type == STT_OBJECT || type == STT_COMMON) && sym->st_shndx != SHN_UNDEF &&
		    sym->st_value != 0;
	case SYMBOLS_TLS:
		return type == STT_TLS && sym->st_shndx != SHN_UNDEF;
	}
	return false;
}

/*
 * Bytes of a symbol; if its size is not known, up to the end of its section.
 */
static uint64_t size_of(Elf *elf, const GElf_Sym *sym)
{
	GElf_Shdr shdr;

	if (sym->st_size != 0)
		return sym->st_size;
	if (sym->st_shndx >= SHN_LORESERVE ||
	    !gelf_getshdr(elf_getscn(elf, sym->st_shndx), &shdr) || sym->st_value < shdr.sh_addr ||
	    sym->st_value - shdr.sh_addr >= shdr.sh_size)
		return 0;
	return shdr.sh_size - (sym->st_value - shdr.sh_addr);
}

BY(by_start, struct symbol, UP(start) ?: UP(rank) ?: DOWN(size) ?: DOWN(number))

/*
 * Two functions of C++ at one address have the same code, and the linker has
 * made one of them (--icf). "C1" and "C2", "D0" to "D2" are names of one.
 */
static bool is_other(const char *a, const char *b)
{
	size_t i = 0;

	if (strncmp(a, "_Z", 2) != 0 || strncmp(b, "_Z", 2) != 0)
		return false;
	while (a[i] && a[i] == b[i])
		i++;
	if (!a[i] && !b[i])
		return false;
	return !a[i] || !b[i] || (a[i - 1] != 'C' && a[i - 1] != 'D') ||
	    strcmp(a + i + 1, b + i + 1) != 0;
}

static void sort_symbols(struct symbols *s)
{
	size_t kept = 0;

	if (s->count == 0)
		return;
	qsort(s->items, s->count, sizeof(*s->items), by_start);
	for (size_t i = 1; i < s->count; i++)
		if (s->items[i].start != s->items[kept].start)
			s->items[++kept] = s->items[i];
		else if (is_other(s->strings + s->items[i].name, s->strings + s->items[kept].name))
			s->items[kept].is_folded = true;
	s->count = kept + 1;
	for (size_t i = 0; i < s->count; i++) {
		struct symbol *item = &s->items[i];
		uint64_t end = item->start + item->size;

		/* without a size, it ends where the next one begins */
		if (item->sizeless && i + 1 < s->count && end > item[1].start)
			end = item[1].start;
		if (end < item->start)
			end = UINT64_MAX;
		item->size = end - item->start;
		item->reach = end;
		if (i > 0 && item[-1].reach > end)
			item->reach = item[-1].reach;
	}
}

static int copy_strings(struct symbols *s, Elf *elf, size_t section)
{
	Elf_Data *data = elf_getdata(elf_getscn(elf, section), NULL);

	if (!data || !data->d_buf || data->d_size == 0 || data->d_size > MAX_STRINGS)
		return -ENODATA;
	s->strings = malloc(data->d_size + 1);
	if (!s->strings)
		return -ENOMEM;
	memcpy(s->strings, data->d_buf, data->d_size);
	s->strings[data->d_size] = '\0';
	s->strings_bytes = data->d_size;
	return 0;
}

static int copy_symbols(struct symbols *s, Elf *elf, uint32_t type, enum symbols_kind kind)
{
	GElf_Shdr shdr;
	Elf_Scn *scn = find_table(elf, type, &shdr);
	Elf_Data *data = scn ? elf_getdata(scn, NULL) : NULL;
	uint32_t file = 0;
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

		if (!gelf_getsym(data, (int)i, &sym) || sym.st_name >= s->strings_bytes)
			continue;
		if (GELF_ST_TYPE(sym.st_info) == STT_FILE)
			file = sym.st_name;
		if (!is_wanted(elf, &sym, kind))
			continue;
		name = s->strings + sym.st_name;
		if (!is_name(name))
			continue;
		to->start = sym.st_value;
		to->size = size_of(elf, &sym);
		to->name = sym.st_name;
		to->number = (uint32_t)i;
		to->is_local = GELF_ST_BIND(sym.st_info) == STB_LOCAL;
		if (to->is_local)
			to->file = file;
		to->rank = rank_of(&sym, name);
		to->sizeless = sym.st_size == 0;
		s->count++;
	}
	sort_symbols(s);
	return s->count > 0 ? 0 : -ENODATA;
}

int symbols_new(Elf *elf, bool dynamic, enum symbols_kind kind, struct symbols **ret)
{
	struct symbols *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return -ENOMEM;
	err = copy_symbols(s, elf, dynamic ? SHT_DYNSYM : SHT_SYMTAB, kind);
	if (err < 0) {
		symbols_free(s);
		return err;
	}
	*ret = s;
	return 0;
}

void symbols_free(struct symbols *s)
{
	if (!s)
		return;
	free(s->items);
	free(s->strings);
	free(s);
}

static const struct symbol *find_symbol(const struct symbols *s, uint64_t address)
{
	const struct symbol *found = NULL;
	size_t low = sorted_first(s->items, s->count, x, x->start <= address);

	/*
	 * a function may contain smaller ones: go back while one can reach here
	 */
	for (size_t steps = 0; low > 0 && steps < LOOK_BACK; low--, steps++) {
		const struct symbol *item = &s->items[low - 1];

		/* a label may be inside a function: look for that function */
		if (address - item->start < item->size && (!item->sizeless || !found))
			found = item;
		if (item->reach <= address || (found && !found->sizeless))
			break;
	}
	return found;
}

const char *symbols_name(const struct symbols *s, uint64_t address, const char **ret_file)
{
	const struct symbol *found = find_symbol(s, address);

	*ret_file = found && found->file ? s->strings + found->file : NULL;
	return found ? s->strings + found->name : NULL;
}

bool symbols_is_folded(const struct symbols *s, uint64_t address)
{
	const struct symbol *found = find_symbol(s, address);

	return found && found->is_folded;
}

bool symbols_variable(const struct symbols *s, uint64_t address, struct symbols_variable *ret)
{
	const struct symbol *found = find_symbol(s, address);

	if (!found)
		return false;
	*ret = (struct symbols_variable){.name = s->strings + found->name,
	    .file = found->file ? s->strings + found->file : NULL,
	    .offset = address - found->start,
	    .is_local = found->is_local};
	return true;
}
