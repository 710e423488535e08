/* objfile.c - one ELF file, opened with care. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "names/dwarf/objfile.h"

#include <elf.h>
#include <elfutils/libdwelf.h>
#include <gelf.h>
#include <zlib.h>

#define CRC_MAX_BYTES (INT64_C(4) << 30)

static int take(struct objfile *f, struct objfile *ret)
{
	if (!f->elf || elf_kind(f->elf) != ELF_K_ELF) {
		objfile_close(f);
		return -ENOEXEC;
	}
	*ret = *f;
	return 0;
}

int objfile_open(int fd, const char *path, struct objfile *ret)
{
	struct objfile f = {.fd = fd, .path = strdup(path)};

	if (f.path) {
		(void)elf_version(EV_CURRENT);
		/* private: objfile_hide_unneeded() changes section headers */
		f.elf = elf_begin(f.fd, ELF_C_READ_MMAP_PRIVATE, NULL);
	}
	return take(&f, ret);
}

int objfile_open_memory(void *image, size_t len, struct objfile *ret)
{
	struct objfile f = {.fd = -1, .memory = image};

	(void)elf_version(EV_CURRENT);
	f.elf = elf_memory(image, len);
	return take(&f, ret);
}

void objfile_close(struct objfile *f)
{
	if (f->elf)
		(void)elf_end(f->elf);
	if (f->fd > 0)
		close(f->fd);
	free(f->memory);
	free(f->path);
	*f = (struct objfile){0};
}

size_t objfile_build_id(const struct objfile *f, const uint8_t **ret)
{
	const void *id;
	ssize_t n = dwelf_elf_gnu_build_id(f->elf, &id);

	if (n <= 0)
		return 0;
	*ret = id;
	return (size_t)n;
}

bool objfile_has_build_id(const struct objfile *f, const uint8_t *build_id, size_t build_id_bytes)
{
	const uint8_t *found;

	return build_id_bytes == 0 ||
	    (objfile_build_id(f, &found) == build_id_bytes &&
	        memcmp(found, build_id, build_id_bytes) == 0);
}

/* The checksum of so many zero bytes: each step doubles their number. */
static uLong crc_of_zeros(off_t len)
{
	static const unsigned char zero;
	uLong crc = crc32(0, NULL, 0), part = crc32(0, &zero, 1);
	off_t part_len = 1;

	for (; len > 0; len >>= 1) {
		if (len & 1)
			crc = crc32_combine(crc, part, part_len);
		if (len > 1)
			part = crc32_combine(part, part, part_len);
		part_len *= 2;
	}
	return crc;
}

/* Adds the bytes between two offsets of the file. */
static bool add_data(int fd, off_t at, off_t end, uLong *crc)
{
	unsigned char bytes[65536];

	while (at < end) {
		size_t want = sizeof(bytes);
		ssize_t n;

		if (end - at < (off_t)want)
			want = (size_t)(end - at);
		n = pread(fd, bytes, want, at);
		if (n <= 0)
			return false;
		*crc = crc32(*crc, bytes, (uInt)n);
		at += n;
	}
	return true;
}

/*
 * A sparse file of terabytes is made in no time. So holes are not read, and
 * data only up to the size that debug information may have.
 */
bool objfile_crc(const struct objfile *f, uint32_t *ret)
{
	off_t size = lseek(f->fd, 0, SEEK_END), at = 0, data_bytes = 0;
	uLong crc = crc32(0, NULL, 0);

	while (at < size) {
		off_t data = lseek(f->fd, at, SEEK_DATA), end;

		if (data < 0)
			data = errno == ENXIO ? size : at;
		end = data < size ? lseek(f->fd, data, SEEK_HOLE) : size;
		if (end < 0 || end > size)
			end = size;
		data_bytes += end - data;
		if (data_bytes > CRC_MAX_BYTES || end < data || end <= at)
			return false;
		if (data > at)
			crc = crc32_combine(crc, crc_of_zeros(data - at), data - at);
		if (!add_data(f->fd, data, end, &crc))
			return false;
		at = end;
	}
	*ret = (uint32_t)crc;
	return size >= 0;
}

static Elf_Scn *find_section(const struct objfile *f, const char *name, GElf_Shdr *ret)
{
	Elf_Scn *scn = NULL;
	size_t names;

	if (elf_getshdrstrndx(f->elf, &names) < 0)
		return NULL;
	while ((scn = elf_nextscn(f->elf, scn))) {
		const char *found = NULL;

		if (gelf_getshdr(scn, ret))
			found = elf_strptr(f->elf, names, ret->sh_name);
		if (found && strcmp(found, name) == 0)
			return scn;
	}
	return NULL;
}

const void *objfile_section(const struct objfile *f, const char *name, size_t *ret_len)
{
	GElf_Shdr shdr;
	Elf_Scn *scn = find_section(f, name, &shdr);
	Elf_Data *data;

	if (!scn || shdr.sh_type == SHT_NOBITS)
		return NULL;
	data = elf_rawdata(scn, NULL);
	if (!data || !data->d_buf || data->d_size == 0)
		return NULL;
	*ret_len = data->d_size;
	return data->d_buf;
}

bool objfile_has_debug_info(const struct objfile *f)
{
	static const char *const names[] = {".debug_info", ".zdebug_info"};
	GElf_Shdr shdr;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (find_section(f, names[i], &shdr) && shdr.sh_type != SHT_NOBITS &&
		    shdr.sh_size > 0)
			return true;
	return false;
}

void objfile_hide_unneeded(struct objfile *f)
{
	static const char *const names[] = {".debug_loc", ".debug_loclists", ".debug_frame",
	    ".debug_macro", ".debug_macinfo", ".debug_aranges", ".debug_pubnames",
	    ".debug_pubtypes", ".debug_gnu_pubnames", ".debug_gnu_pubtypes", ".debug_names",
	    ".debug_cu_index", ".debug_tu_index", ".zdebug_loc", ".zdebug_frame", ".zdebug_macro",
	    ".zdebug_aranges", ".zdebug_pubnames", ".zdebug_pubtypes"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		GElf_Shdr shdr;
		Elf_Scn *scn = find_section(f, names[i], &shdr);

		if (!scn)
			continue;
		shdr.sh_type = SHT_NOBITS;
		shdr.sh_flags &= ~(GElf_Xword)SHF_COMPRESSED;
		(void)gelf_update_shdr(scn, &shdr);
	}
}

/* ---- buildid: the build-id of a file, read without trusting it ---- */

enum {
	SEGMENTS_MAX = 128,
	NOTES_MAX = 64 << 10, /* bytes of one PT_NOTE segment */
	ID_MAX = 32,
};

static uint64_t padded(uint64_t n)
{
	return (n + 3) & ~UINT64_C(3);
}

/* Bytes of the build-id in these notes; 0: there is none. */
static int find_in(const uint8_t *at, uint64_t len, uint8_t ret[ID_MAX])
{
	while (len >= sizeof(Elf64_Nhdr)) {
		uint64_t all;
		Elf64_Nhdr n;

		memcpy(&n, at, sizeof(n));
		all = sizeof(n) + padded(n.n_namesz) + padded(n.n_descsz);
		if (all > len)
			return 0;
		if (n.n_type == NT_GNU_BUILD_ID && n.n_namesz == 4 &&
		    memcmp(at + sizeof(n), "GNU", 4) == 0 && n.n_descsz > 0 &&
		    n.n_descsz <= ID_MAX) {
			memcpy(ret, at + sizeof(n) + 4, n.n_descsz);
			return (int)n.n_descsz;
		}
		at += all;
		len -= all;
	}
	return 0;
}

int buildid_find(int fd, uint8_t ret[ID_MAX])
{
	static uint8_t notes[NOTES_MAX];
	Elf64_Phdr p;
	Elf64_Ehdr e;
	int n = 0;

	if (pread(fd, &e, sizeof(e), 0) != (ssize_t)sizeof(e) ||
	    memcmp(e.e_ident, ELFMAG, SELFMAG) != 0 || e.e_ident[EI_CLASS] != ELFCLASS64 ||
	    e.e_phentsize != sizeof(Elf64_Phdr))
		return 0;
	for (unsigned i = 0; i < e.e_phnum && i < SEGMENTS_MAX && n == 0; i++) {
		ssize_t len;

		if (pread(fd, &p, sizeof(p), (off_t)(e.e_phoff + i * sizeof(p))) !=
		    (ssize_t)sizeof(p))
			return 0;
		if (p.p_type != PT_NOTE)
			continue;
		if (p.p_filesz > NOTES_MAX)
			p.p_filesz = NOTES_MAX;
		len = pread(fd, notes, p.p_filesz, (off_t)p.p_offset);
		if (len > 0)
			n = find_in(notes, (uint64_t)len, ret);
	}
	return n;
}

void buildid_hex(char to[65], const uint8_t *bytes, size_t len)
{
	static const char digits[] = "0123456789abcdef";

	if (len > ID_MAX)
		len = ID_MAX;
	for (size_t i = 0; i < len; i++) {
		to[2 * i] = digits[bytes[i] >> 4];
		to[2 * i + 1] = digits[bytes[i] & 15];
	}
	to[2 * len] = '\0';
}
