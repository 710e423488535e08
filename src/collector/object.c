/* object.c - what the headers of a loaded object say: build-id, unwind table. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/object.h"

#include <elf.h>
#include <string.h>

#include "base/cpu.h"

enum { NOTE_MAX = 4096 };

/* A readable segment of an object. */
struct span {
	const uint8_t *lo, *hi;
};

/* Is [p, p + bytes) inside the readable segment? */
static bool
inside(const struct span *s, const uint8_t *p, uint64_t bytes)
{
	return p >= s->lo && p <= s->hi && bytes <= (uint64_t)(s->hi - p);
}

static const Elf64_Ehdr *
elf_header(const struct object *f)
{
	const Elf64_Ehdr *e = f->map_start;
	uint64_t size = (uint64_t)((char *)f->map_end - (char *)f->map_start);

	if (size < CPU_PAGE || memcmp(e->e_ident, ELFMAG, SELFMAG) != 0 ||
	    e->e_phentsize != sizeof(Elf64_Phdr) ||
	    e->e_phoff > CPU_PAGE - sizeof(Elf64_Phdr) ||
	    e->e_phnum > (CPU_PAGE - e->e_phoff) / sizeof(Elf64_Phdr))
		return NULL;
	return e;
}

/* The loaded, readable segment that contains p. */
static bool
find_segment(const struct object *f, const Elf64_Ehdr *e, const uint8_t *p,
    struct span *ret)
{
	const Elf64_Phdr *ph = (const void *)((const char *)e + e->e_phoff);
	int i;

	for (i = 0; i < e->e_phnum; i++) {
		uint64_t lo = object_base(f) + ph[i].p_vaddr;
		uint64_t hi = lo + ph[i].p_memsz;

		if (ph[i].p_type != PT_LOAD || !(ph[i].p_flags & PF_R) ||
		    lo < object_start(f) || hi > object_end(f) || hi < lo)
			continue;
		if ((uint64_t)(uintptr_t)p >= lo &&
		    (uint64_t)(uintptr_t)p < hi) {
			ret->lo = (const uint8_t *)(uintptr_t)lo;
			ret->hi = (const uint8_t *)(uintptr_t)hi;
			return true;
		}
	}
	return false;
}

static void
copy_build_id(struct build_id *id, const uint8_t *p, uint64_t bytes)
{
	while (bytes >= sizeof(Elf64_Nhdr)) {
		Elf64_Nhdr n;
		uint64_t name, desc;

		memcpy(&n, p, sizeof(n));
		name = ((uint64_t)n.n_namesz + 3) & ~UINT64_C(3);
		desc = ((uint64_t)n.n_descsz + 3) & ~UINT64_C(3);
		if (name + desc > bytes - sizeof(n))
			return;
		if (n.n_type == NT_GNU_BUILD_ID && n.n_namesz == 4 &&
		    n.n_descsz <= sizeof(id->bytes) &&
		    memcmp(p + sizeof(n), "GNU", 4) == 0) {
			memcpy(id->bytes, p + sizeof(n) + name, n.n_descsz);
			id->count = (uint8_t)n.n_descsz;
			return;
		}
		p += sizeof(n) + name + desc;
		bytes -= sizeof(n) + name + desc;
	}
}

struct build_id
object_build_id(const struct object *f)
{
	const Elf64_Ehdr *e = elf_header(f);
	struct build_id id = {0};
	const Elf64_Phdr *ph;
	int i;

	if (!e)
		return id;
	ph = (const void *)((const char *)e + e->e_phoff);
	for (i = 0; i < e->e_phnum && !id.count; i++) {
		const uint8_t *p = (const uint8_t *)(uintptr_t)(object_base(f) +
		    ph[i].p_vaddr);
		struct span in;

		if (ph[i].p_type == PT_NOTE && ph[i].p_memsz <= NOTE_MAX &&
		    find_segment(f, e, p, &in) && inside(&in, p, ph[i].p_memsz))
			copy_build_id(&id, p, ph[i].p_memsz);
	}
	return id;
}

/* The search table of .eh_frame_hdr, in the one form that linkers write. */
bool
object_table(const struct object *f, struct object_table *ret)
{
	const Elf64_Ehdr *e = elf_header(f);
	const uint8_t *hdr = f->eh_frame;
	struct span in;
	uint32_t n;

	if (!e || !hdr || !find_segment(f, e, hdr, &in) ||
	    !inside(&in, hdr, 12))
		return false;
	/* version 1; eh_frame_ptr 4 bytes; count udata4; table datarel sdata4 */
	if (hdr[0] != 1 || (hdr[1] & 7) != 3 || hdr[2] != 3 || hdr[3] != 0x3b)
		return false;
	memcpy(&n, hdr + 8, 4);
	if (!n || !inside(&in, hdr + 12, (uint64_t)n * 8))
		return false;
	ret->lo = in.lo;
	ret->hi = in.hi;
	ret->rows = (const int32_t *)(const void *)(hdr + 12);
	ret->count = n;
	return true;
}
