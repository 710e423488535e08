/* buildid.c - the build-id of a file, read without trusting it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "names/dwarf/objfile.h"

#include <elf.h>

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
