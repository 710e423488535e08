/* jemalloc_memory.c - the memory that jemalloc keeps for itself. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/leaks/jemalloc_memory.h"

#include <string.h>

enum {
	PAGE = FOREIGN_PAGE_BYTES,
	BASE_BYTES = 2 << 20, /* what pieces are aligned to, and multiples of */
	RECORD_BYTES = 128,   /* and their alignment */
	AT_ONCE = FOREIGN_BATCH_RANGES,
};

#define BASE_MOST   (UINT64_C(1) << 40)
#define ADDRESS_END (UINT64_C(1) << 47)

/*
 * struct base_block of jemalloc 5: its size, the next one, then the record of
 * what is left of it, which ends where the piece does.
 */
bool jemalloc_memory_is_base(
    uint64_t address, const void *page, struct range *ret, uint64_t *ret_used_end)
{
	uint64_t w[5];

	memcpy(w, page, sizeof(w));
	if (address % BASE_BYTES || w[0] == 0 || w[0] % BASE_BYTES || w[0] > BASE_MOST ||
	    w[0] > ADDRESS_END - address || w[1] % BASE_BYTES || w[1] == address)
		return false;
	if (w[3] <= address || w[3] > address + w[0] || w[4] != address + w[0] - w[3])
		return false;
	*ret = (struct range){address, address + w[0]};
	*ret_used_end = w[3];
	return true;
}

/*
 * struct edata (before 5.3 struct extent): flags in the low 45 bits, the
 * address, of which large blocks may have an offset in the page, the size, whose
 * low bits are a number.
 */
bool jemalloc_memory_is_record(const void *bytes, struct range *ret)
{
	uint64_t w[3], start, size;

	memcpy(w, bytes, sizeof(w));
	start = w[1] / PAGE * PAGE;
	size = w[2] / PAGE * PAGE;
	if (w[0] >> 45 || start == 0 || start >= ADDRESS_END || size == 0 ||
	    size > ADDRESS_END - start)
		return false;
	*ret = (struct range){start, start + size};
	return true;
}

static bool may_have_it(const struct roots_area *a)
{
	return a->kind == ROOTS_MEMORY && !a->is_file && a->can_write;
}

/* Records of memory that is not, or no longer, of this kind are passed over. */
static int add_records(
    const uint8_t *bytes, size_t len, const struct roots_areas *areas, struct ranges *ret)
{
	int err = 0;

	for (size_t i = 0; i + RECORD_BYTES <= len && err == 0; i += RECORD_BYTES) {
		const struct roots_area *a;
		struct range r;

		if (!jemalloc_memory_is_record(bytes + i, &r))
			continue;
		a = roots_at(areas, r.start);
		if (a && may_have_it(a) && r.end <= a->end)
			err = address_ranges_add(ret, r.start, r.end);
	}
	return err;
}

/* A piece, up to what is in use of it. */
static int read_base(struct foreign *memory, const struct roots_areas *areas, struct range base,
    uint64_t used_end, struct ranges *ret, struct fault *where)
{
	int err = address_ranges_add(ret, base.start, base.end);

	for (uint64_t at = base.start; at < used_end && err == 0;) {
		struct foreign_range r = {at, (used_end - at + PAGE - 1) / PAGE};
		struct foreign_batch b;

		if (r.pages > FOREIGN_BATCH_PAGES)
			r.pages = FOREIGN_BATCH_PAGES;
		err = foreign_read(memory, &r, 1, &b, where);
		if (err == 0)
			err = add_records(b.bytes, b.count * PAGE, areas, ret);
		at += r.pages * PAGE;
	}
	return err;
}

struct found {
	struct range base;
	uint64_t used_end;
};

/* These pages may begin a piece. */
static int look_at(struct foreign *memory, const struct roots_areas *areas,
    const struct foreign_range *pages, size_t count, struct ranges *ret, struct fault *where)
{
	struct found found[AT_ONCE];
	struct foreign_batch b;
	size_t n = 0;
	int err = foreign_read(memory, pages, count, &b, where);

	for (size_t i = 0; i < count && err == 0; i++)
		if (b.pages[i] == FOREIGN_READ &&
		    jemalloc_memory_is_base(
		        pages[i].start, b.bytes + i * PAGE, &found[n].base, &found[n].used_end))
			n++;
	for (size_t i = 0; i < n && err == 0; i++) {
		const struct roots_area *a = roots_at(areas, found[i].base.start);

		if (a && found[i].base.end <= a->end)
			err =
			    read_base(memory, areas, found[i].base, found[i].used_end, ret, where);
	}
	return err;
}

int jemalloc_memory_ranges(struct foreign *memory, const struct roots_areas *areas,
    struct ranges *ret, struct fault *where)
{
	struct foreign_range pages[AT_ONCE];
	size_t n = 0;
	int err = 0;

	for (size_t i = 0; i < areas->count && err == 0; i++) {
		const struct roots_area *a = &areas->at[i];
		uint64_t at = (a->start + BASE_BYTES - 1) / BASE_BYTES;

		if (!may_have_it(a))
			continue;
		for (at *= BASE_BYTES; at < a->end && err == 0; at += BASE_BYTES) {
			pages[n++] = (struct foreign_range){at, 1};
			if (n < AT_ONCE)
				continue;
			err = look_at(memory, areas, pages, n, ret, where);
			n = 0;
		}
	}
	if (n > 0 && err == 0)
		err = look_at(memory, areas, pages, n, ret, where);
	return err;
}
