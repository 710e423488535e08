/* elf_sections.c - what the sections of an ELF file say: names, versions. */
/* SPDX-License-Identifier: Apache-2.0 */

#include "attach/program/elf.h"

enum {
	SECTIONS_MAX = 4096,
	NAMES_BYTES = 1 << 20, /* of all sections */
	COMMENT_BYTES = 65536,
	VERSIONS_BYTES = 1 << 20, /* of one section */
	STRINGS_BYTES = 64 << 20,
	VERSIONS_MAX = 4096,
};

/* The bytes of a section and a NUL; NULL: too large, or not in the file. */
static char *contents(const struct elf *e, const Elf64_Shdr *sh, uint64_t max)
{
	char *bytes;

	if (sh->sh_type == SHT_NOBITS || sh->sh_size > max || sh->sh_size > e->size)
		return NULL;
	bytes = malloc(sh->sh_size + 1);
	if (!bytes)
		return NULL;
	if (elf_read_at(e, bytes, sh->sh_size, sh->sh_offset) < 0) {
		free(bytes);
		return NULL;
	}
	bytes[sh->sh_size] = '\0';
	return bytes;
}

/* ---- names of sections ---- */

static void look_at_comment(const struct elf *e, const Elf64_Shdr *sh, struct elf_sections *ret)
{
	char *text = contents(e, sh, COMMENT_BYTES);

	if (text && memmem(text, sh->sh_size, "rustc version", 13))
		ret->is_rust = true;
	free(text);
}

/* The name of a file, which must not be a path, and a checksum. */
static void look_at_link(const struct elf *e, const Elf64_Shdr *sh, struct elf_sections *ret)
{
	char *text = contents(e, sh, COMMENT_BYTES);

	if (text && !strchr(text, '/') && strlen(text) < sizeof(ret->debuglink))
		strcpy(ret->debuglink, text);
	free(text);
}

static void look_at_section(
    const struct elf *e, const char *name, const Elf64_Shdr *sh, struct elf_sections *ret)
{
	if (sh->sh_type == SHT_SYMTAB)
		ret->has_symbols = true;
	if (sh->sh_type == SHT_NOBITS)
		return; /* a file of debug information has the others so */
	if (!strcmp(name, ".debug_info") || !strcmp(name, ".zdebug_info"))
		ret->has_debug = true;
	else if (!strcmp(name, ".gnu_debugdata"))
		ret->has_mini = true;
	else if (!strcmp(name, ".gnu_debuglink"))
		look_at_link(e, sh, ret);
	else if (!strcmp(name, ".go.buildinfo") || !strcmp(name, ".note.go.buildid"))
		ret->is_go = true;
	else if (!strcmp(name, ".comment"))
		look_at_comment(e, sh, ret);
}

void elf_sections(const struct elf *e, struct elf_sections *ret)
{
	unsigned count = e->shnum < SECTIONS_MAX ? e->shnum : SECTIONS_MAX;
	Elf64_Shdr sh, strings;
	char *names;

	memset(ret, 0, sizeof(*ret));
	if (!e->native || elf_read_section(e, e->shstrndx, &strings) < 0)
		return;
	names = contents(e, &strings, NAMES_BYTES);
	for (unsigned i = 0; names && i < count; i++) {
		if (elf_read_section(e, i, &sh) < 0)
			break;
		if (sh.sh_name < strings.sh_size)
			look_at_section(e, names + sh.sh_name, &sh, ret);
	}
	free(names);
}

/* ---- versions of symbols ---- */

struct names {
	char *to;
	size_t bytes, used;
};

static void add_name(struct names *n, const char *strings, uint64_t size, uint32_t at)
{
	const char *name = strings + at;
	size_t len;

	if (at >= size)
		return;
	len = strlen(name) + 1; /* a NUL follows the strings */
	if (len == 1 || len > n->bytes - n->used)
		return;
	memcpy(n->to + n->used, name, len);
	n->used += len;
}

/* Each definition has one or more names; the first is that of the version. */
static void list_defined(
    struct names *n, const char *at, uint64_t size, const char *strings, uint64_t strings_bytes)
{
	uint64_t offset = 0;

	for (int i = 0; i < VERSIONS_MAX; i++) {
		Elf64_Verdaux name;
		Elf64_Verdef d;

		if (offset > size || size - offset < sizeof(d))
			return;
		memcpy(&d, at + offset, sizeof(d));
		if (d.vd_aux <= size - offset && size - offset - d.vd_aux >= sizeof(name)) {
			memcpy(&name, at + offset + d.vd_aux, sizeof(name));
			add_name(n, strings, strings_bytes, name.vda_name);
		}
		if (d.vd_next == 0)
			return;
		offset += d.vd_next;
	}
}

/* Those of one file that is needed. */
static void list_of_file(struct names *n, const char *at, uint64_t size, uint64_t offset,
    const char *strings, uint64_t strings_bytes)
{
	for (int i = 0; i < VERSIONS_MAX; i++) {
		Elf64_Vernaux name;

		if (offset > size || size - offset < sizeof(name))
			return;
		memcpy(&name, at + offset, sizeof(name));
		if (!(name.vna_flags & VER_FLG_WEAK))
			add_name(n, strings, strings_bytes, name.vna_name);
		if (name.vna_next == 0)
			return;
		offset += name.vna_next;
	}
}

static void list_needed(
    struct names *n, const char *at, uint64_t size, const char *strings, uint64_t strings_bytes)
{
	uint64_t offset = 0;

	for (int i = 0; i < VERSIONS_MAX; i++) {
		Elf64_Verneed v;

		if (offset > size || size - offset < sizeof(v))
			return;
		memcpy(&v, at + offset, sizeof(v));
		if (v.vn_file < strings_bytes && !strcmp(strings + v.vn_file, ELF_LIBC))
			list_of_file(n, at, size, offset + v.vn_aux, strings, strings_bytes);
		if (v.vn_next == 0)
			return;
		offset += v.vn_next;
	}
}

size_t elf_versions(const struct elf *e, bool needed, char *to, size_t bytes)
{
	unsigned count = e->shnum < SECTIONS_MAX ? e->shnum : SECTIONS_MAX;
	const uint32_t type = needed ? SHT_GNU_verneed : SHT_GNU_verdef;
	struct names n = {.to = to, .bytes = bytes};
	Elf64_Shdr sh, strtab;

	for (unsigned i = 0; e->native && i < count; i++) {
		char *table, *strings;

		if (elf_read_section(e, i, &sh) < 0)
			break;
		if (sh.sh_type != type || elf_read_section(e, sh.sh_link, &strtab) < 0)
			continue;
		table = contents(e, &sh, VERSIONS_BYTES);
		strings = contents(e, &strtab, STRINGS_BYTES);
		if (table && strings && needed)
			list_needed(&n, table, sh.sh_size, strings, strtab.sh_size);
		else if (table && strings)
			list_defined(&n, table, sh.sh_size, strings, strtab.sh_size);
		free(table);
		free(strings);
		break; /* there is one of a kind */
	}
	return n.used;
}
