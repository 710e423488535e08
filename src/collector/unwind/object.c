/* object.c - what the headers of a loaded object say: build-id, unwind table. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/unwind/object.h"

#include <elf.h>
#include <string.h>

#include "base/cpu/cpu.h"

enum { NOTE_MAX = 4096 };

/* A readable segment of an object. */
struct span {
	const uint8_t *lo, *hi;
};

struct headers {
	const Elf64_Phdr *at;
	uint64_t count;
};

static const struct link_map *main_map; /* the executable's */
static struct headers main_headers;

/* Is [p, p + bytes) inside the readable segment? */
static bool inside(const struct span *s, const uint8_t *p, uint64_t bytes)
{
	return p >= s->lo && p <= s->hi && bytes <= (uint64_t)(s->hi - p);
}

void object_init(
    const struct link_map *executable, const void *headers, uint64_t count, uint64_t header_bytes)
{
	if (!executable || !headers || header_bytes != sizeof(Elf64_Phdr))
		return;
	main_map = executable;
	main_headers = (struct headers){headers, count};
}

void object_complete(struct object *f)
{
	uint64_t lo = UINT64_MAX, hi = 0, i;
	const Elf64_Phdr *ph = main_headers.at;

	if (!main_map || f->link_map != main_map)
		return;
	for (i = 0; i < main_headers.count; i++) {
		uint64_t start = cpu_page_down(ph[i].p_vaddr);
		uint64_t end = ph[i].p_vaddr + ph[i].p_memsz;

		if (ph[i].p_type != PT_LOAD)
			continue;
		lo = start < lo ? start : lo;
		hi = end > hi ? end : hi;
	}
	lo += object_base(f);
	hi += object_base(f);
	if (lo > object_start(f) || object_end(f) > hi)
		return; /* not its headers */
	f->map_start = (void *)(uintptr_t)lo;
	f->map_end = (void *)(uintptr_t)hi;
}

static bool find_headers(const struct object *f, struct headers *ret)
{
	const Elf64_Ehdr *e = f->map_start;

	if (main_map && f->link_map == main_map) {
		*ret = main_headers;
		return true;
	}
	if (object_end(f) - object_start(f) < CPU_PAGE ||
	    memcmp(e->e_ident, ELFMAG, SELFMAG) != 0 || e->e_phentsize != sizeof(Elf64_Phdr) ||
	    e->e_phoff > CPU_PAGE - sizeof(Elf64_Phdr) ||
	    e->e_phnum > (CPU_PAGE - e->e_phoff) / sizeof(Elf64_Phdr))
		return false;
	ret->at = (const void *)((const char *)e + e->e_phoff);
	ret->count = e->e_phnum;
	return true;
}

/* The loaded, readable segment that contains p. */
static bool find_segment(
    const struct object *f, const struct headers *h, const uint8_t *p, struct span *ret)
{
	const Elf64_Phdr *ph = h->at;
	uint64_t i;

	for (i = 0; i < h->count; i++) {
		uint64_t lo = object_base(f) + ph[i].p_vaddr;
		uint64_t hi = lo + ph[i].p_memsz;

		if (ph[i].p_type != PT_LOAD || !(ph[i].p_flags & PF_R) || lo < object_start(f) ||
		    hi > object_end(f) || hi < lo)
			continue;
		if ((uint64_t)(uintptr_t)p >= lo && (uint64_t)(uintptr_t)p < hi) {
			ret->lo = (const uint8_t *)(uintptr_t)lo;
			ret->hi = (const uint8_t *)(uintptr_t)hi;
			return true;
		}
	}
	return false;
}

static void copy_build_id(struct build_id *id, const uint8_t *p, uint64_t bytes)
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
		    n.n_descsz <= sizeof(id->bytes) && memcmp(p + sizeof(n), "GNU", 4) == 0) {
			memcpy(id->bytes, p + sizeof(n) + name, n.n_descsz);
			id->count = (uint8_t)n.n_descsz;
			return;
		}
		p += sizeof(n) + name + desc;
		bytes -= sizeof(n) + name + desc;
	}
}

struct build_id object_build_id(const struct object *f)
{
	struct build_id id = {0};
	const Elf64_Phdr *ph;
	struct headers h;
	uint64_t i;

	if (!find_headers(f, &h))
		return id;
	ph = h.at;
	for (i = 0; i < h.count && !id.count; i++) {
		const uint8_t *p = (const uint8_t *)(uintptr_t)(object_base(f) + ph[i].p_vaddr);
		struct span in;

		if (ph[i].p_type == PT_NOTE && ph[i].p_memsz <= NOTE_MAX &&
		    find_segment(f, &h, p, &in) && inside(&in, p, ph[i].p_memsz))
			copy_build_id(&id, p, ph[i].p_memsz);
	}
	return id;
}

void object_text(const struct object *f, uint64_t *ret_start, uint64_t *ret_end)
{
	const Elf64_Phdr *ph;
	struct headers h;
	uint64_t i;

	*ret_start = *ret_end = 0;
	if (!find_headers(f, &h))
		return;
	ph = h.at;
	for (i = 0; i < h.count; i++) {
		const uint8_t *p = (const uint8_t *)(uintptr_t)(object_base(f) + ph[i].p_vaddr);
		struct span in;

		if (ph[i].p_type != PT_LOAD || !(ph[i].p_flags & PF_X) ||
		    ph[i].p_filesz <= *ret_end - *ret_start || !find_segment(f, &h, p, &in) ||
		    !inside(&in, p, ph[i].p_filesz))
			continue;
		*ret_start = (uint64_t)(uintptr_t)p;
		*ret_end = *ret_start + ph[i].p_filesz;
	}
}

/* The search table of .eh_frame_hdr, in the one form that linkers write. */
bool object_table(const struct object *f, struct object_table *ret)
{
	const uint8_t *hdr = f->eh_frame;
	struct headers h;
	struct span in;
	uint32_t n;

	if (!hdr || !find_headers(f, &h) || !find_segment(f, &h, hdr, &in) || !inside(&in, hdr, 12))
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
