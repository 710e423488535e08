/* elf.c - reads what an ELF file says about its allocator and loader. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "attach/program/elf.h"

#include "base/cpu/elf_machine.h"

enum {
	PHNUM_MAX = 1024,
	SHNUM_MAX = 65536,
	DYNAMIC_MAX = 4096,      /* entries */
	STRINGS_MAX = 256 << 20, /* bytes; chromium has about 100 MB */
	SYMBOLS_MAX = 32 << 20,  /* symbols of one table */
	SYMBOLS_AT_ONCE = 4096,
};

int elf_read_at(const struct elf *e, void *to, size_t len, uint64_t offset)
{
	unsigned char *p = to;

	if (offset > e->size || len > e->size - offset)
		return -EBADMSG;
	while (len > 0) {
		ssize_t n = pread(e->fd, p, len, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return -EBADMSG;
		p += n;
		offset += (uint64_t)n;
		len -= (size_t)n;
	}
	return 0;
}

/* At most bytes - 1 of a NUL-terminated string; "" if there is none. */
static void read_string(const struct elf *e, char *to, size_t bytes, uint64_t offset)
{
	size_t len = bytes - 1;

	to[0] = '\0';
	if (offset >= e->size)
		return;
	if (len > e->size - offset)
		len = e->size - offset;
	if (elf_read_at(e, to, len, offset) < 0)
		len = 0;
	to[len] = '\0';
	if (strlen(to) == bytes - 1)
		to[0] = '\0'; /* too long to be a name that we look for */
}

/* The offset in the file of what the loader maps at vaddr. */
static int offset_of(const Elf64_Phdr *ph, unsigned count, uint64_t vaddr, uint64_t *ret)
{
	for (unsigned i = 0; i < count; i++) {
		if (ph[i].p_type != PT_LOAD || vaddr < ph[i].p_vaddr ||
		    vaddr - ph[i].p_vaddr >= ph[i].p_filesz)
			continue;
		if (ph[i].p_offset > UINT64_MAX - (vaddr - ph[i].p_vaddr))
			return -EBADMSG;
		*ret = ph[i].p_offset + (vaddr - ph[i].p_vaddr);
		return 0;
	}
	return -EBADMSG;
}

static int add_needed(struct elf *e, uint64_t offset)
{
	char name[ELF_PATH_BYTES];

	read_string(e, name, sizeof(name), offset);
	if (!name[0] || e->needed_count == ELF_NEEDED_MAX)
		return 0;
	e->needed[e->needed_count] = strdup(name);
	if (!e->needed[e->needed_count])
		return -ENOMEM;
	e->needed_count++;
	return 0;
}

static int read_names(struct elf *e, const Elf64_Dyn *dyn, size_t count, uint64_t strtab)
{
	for (size_t i = 0; i < count && dyn[i].d_tag != DT_NULL; i++) {
		uint64_t at = strtab + dyn[i].d_un.d_val;
		int err = 0;

		if (at < strtab)
			continue;
		if (dyn[i].d_tag == DT_NEEDED)
			err = add_needed(e, at);
		else if (dyn[i].d_tag == DT_SONAME)
			read_string(e, e->soname, sizeof(e->soname), at);
		else if (dyn[i].d_tag == DT_RUNPATH)
			read_string(e, e->runpath, sizeof(e->runpath), at);
		else if (dyn[i].d_tag == DT_RPATH && !e->runpath[0])
			read_string(e, e->runpath, sizeof(e->runpath), at);
		if (err < 0)
			return err;
	}
	return 0;
}

static int read_dynamic(
    struct elf *e, const Elf64_Phdr *ph, unsigned phnum, const Elf64_Phdr *where)
{
	size_t count = where->p_filesz / sizeof(Elf64_Dyn);
	uint64_t strtab = 0;
	Elf64_Dyn *dyn;
	int err;

	if (count > DYNAMIC_MAX)
		count = DYNAMIC_MAX;
	dyn = calloc(count ? count : 1, sizeof(*dyn));
	e->needed = calloc(ELF_NEEDED_MAX, sizeof(*e->needed));
	err = -ENOMEM;
	if (!dyn || !e->needed)
		goto out;
	err = elf_read_at(e, dyn, count * sizeof(*dyn), where->p_offset);
	if (err < 0)
		goto out;
	for (size_t i = 0; i < count && dyn[i].d_tag != DT_NULL; i++)
		if (dyn[i].d_tag == DT_STRTAB)
			strtab = dyn[i].d_un.d_ptr;
	err = offset_of(ph, phnum, strtab, &strtab);
	if (err < 0)
		goto out;
	err = read_names(e, dyn, count, strtab);
out:
	free(dyn);
	return err;
}

static int read_segments(struct elf *e, const Elf64_Ehdr *eh)
{
	const Elf64_Phdr *dynamic = NULL;
	Elf64_Phdr *ph;
	int err;

	if (eh->e_phnum == 0)
		return 0;
	if (eh->e_phentsize != sizeof(*ph) || eh->e_phnum > PHNUM_MAX)
		return -EBADMSG;
	ph = calloc(eh->e_phnum, sizeof(*ph));
	if (!ph)
		return -ENOMEM;
	err = elf_read_at(e, ph, eh->e_phnum * sizeof(*ph), eh->e_phoff);
	if (err < 0)
		goto out;
	for (unsigned i = 0; i < eh->e_phnum; i++) {
		if (ph[i].p_type == PT_INTERP)
			read_string(e, e->interpreter, sizeof(e->interpreter), ph[i].p_offset);
		if (ph[i].p_type == PT_DYNAMIC)
			dynamic = &ph[i];
	}
	e->dynamic = dynamic != NULL;
	if (dynamic)
		err = read_dynamic(e, ph, eh->e_phnum, dynamic);
out:
	free(ph);
	return err;
}

int elf_init(struct elf *e, int fd)
{
	unsigned char ident[EI_NIDENT];
	Elf64_Ehdr eh;
	struct stat st;
	int err;

	memset(e, 0, sizeof(*e));
	e->fd = fd;
	err = -ENOEXEC;
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		goto out;
	e->size = (uint64_t)st.st_size;
	if (elf_read_at(e, ident, sizeof(ident), 0) < 0 || memcmp(ident, ELFMAG, SELFMAG) != 0)
		goto out;
	e->elf_class = ident[EI_CLASS];
	e->data = ident[EI_DATA];
	/* e_machine stands at the same place in both classes */
	err = elf_read_at(e, &eh, offsetof(Elf64_Ehdr, e_version), 0);
	if (err < 0)
		goto out;
	e->machine = eh.e_machine;
	if (e->data == ELFDATA2MSB)
		e->machine = __builtin_bswap16(eh.e_machine);
	e->native =
	    e->elf_class == ELFCLASS64 && e->data == ELFDATA2LSB && e->machine == CPU_ELF_MACHINE;
	if (!e->native)
		return 0;
	err = elf_read_at(e, &eh, sizeof(eh), 0);
	if (err < 0)
		goto out;
	e->shoff = eh.e_shoff;
	e->shnum = eh.e_shnum;
	e->shentsize = eh.e_shentsize;
	e->shstrndx = eh.e_shstrndx;
	err = read_segments(e, &eh);
	if (err == 0)
		return 0;
out:
	elf_release(e);
	return err;
}

void elf_release(struct elf *e)
{
	for (size_t i = 0; i < e->needed_count; i++)
		free(e->needed[i]);
	free(e->needed);
	e->needed = NULL;
	e->needed_count = 0;
	if (e->fd >= 0)
		close(e->fd);
	e->fd = -1;
}

int elf_read_section(const struct elf *e, unsigned index, Elf64_Shdr *ret)
{
	if (index >= e->shnum || e->shentsize != sizeof(*ret))
		return -EBADMSG;
	if (e->shoff > e->size)
		return -EBADMSG;
	return elf_read_at(e, ret, sizeof(*ret), e->shoff + (uint64_t)index * sizeof(*ret));
}

static bool is_definition(const Elf64_Sym *sym)
{
	unsigned bind = ELF64_ST_BIND(sym->st_info);

	return sym->st_shndx != SHN_UNDEF && (bind == STB_GLOBAL || bind == STB_WEAK);
}

/* `strings` has a NUL at [bytes]. */
static uint32_t search_symbols(const struct elf *e, const Elf64_Shdr *table, const char *strings,
    size_t bytes, const char *const *names, size_t count)
{
	uint64_t total = table->sh_size / sizeof(Elf64_Sym);
	uint32_t found = 0;
	Elf64_Sym *syms;

	if (total > SYMBOLS_MAX)
		return 0;
	syms = calloc(SYMBOLS_AT_ONCE, sizeof(*syms));
	if (!syms)
		return 0;
	for (uint64_t at = 0; at < total; at += SYMBOLS_AT_ONCE) {
		uint64_t n = total - at;

		if (n > SYMBOLS_AT_ONCE)
			n = SYMBOLS_AT_ONCE;
		if (elf_read_at(e, syms, n * sizeof(*syms), table->sh_offset + at * sizeof(*syms)) <
		    0)
			break;
		for (uint64_t i = 0; i < n; i++) {
			if (syms[i].st_name >= bytes || !is_definition(&syms[i]))
				continue;
			for (size_t k = 0; k < count; k++)
				if (!strcmp(strings + syms[i].st_name, names[k]))
					found |= UINT32_C(1) << k;
		}
	}
	free(syms);
	return found;
}

static uint32_t search_table(
    const struct elf *e, const Elf64_Shdr *table, const char *const *names, size_t count)
{
	Elf64_Shdr strtab;
	uint32_t found = 0;
	char *strings;

	if (table->sh_entsize != sizeof(Elf64_Sym) || table->sh_offset > e->size ||
	    elf_read_section(e, table->sh_link, &strtab) < 0)
		return 0;
	if (strtab.sh_size > STRINGS_MAX || strtab.sh_size > e->size)
		return 0;
	strings = malloc(strtab.sh_size + 1);
	if (!strings)
		return 0;
	strings[strtab.sh_size] = '\0';
	if (elf_read_at(e, strings, strtab.sh_size, strtab.sh_offset) == 0)
		found = search_symbols(e, table, strings, strtab.sh_size, names, count);
	free(strings);
	return found;
}

static uint32_t search(const struct elf *e, const char *const *names, size_t count, bool all)
{
	static const uint32_t dynamic_only[] = {SHT_DYNSYM};
	static const uint32_t both[] = {SHT_DYNSYM, SHT_SYMTAB};
	const uint32_t *types = all ? both : dynamic_only;
	size_t types_count = all ? 2 : 1;
	uint32_t found = 0;
	Elf64_Shdr sh;

	if (!e->native || e->shnum > SHNUM_MAX)
		return 0;
	/*
	 * a file may claim 65,536 symbol tables, but only one of each kind is
	 * read
	 */
	for (size_t t = 0; t < types_count; t++) {
		for (unsigned i = 0; i < e->shnum; i++) {
			if (elf_read_section(e, i, &sh) < 0)
				break;
			if (sh.sh_type != types[t])
				continue;
			found |= search_table(e, &sh, names, count);
			break;
		}
	}
	return found;
}

uint32_t elf_defines(const struct elf *e, const char *const *names, size_t count, bool all)
{
	return search(e, names, count, all);
}
