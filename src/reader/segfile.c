/* segfile.c - a segment file: one process, and forked children in slots. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "reader/segfile.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct segfile {
	struct source source;
	uint64_t own_limit;  /* bytes of the own segment */
	uint64_t slots_at;   /* of struct seg_slots */
	uint64_t first_slot; /* of slot 0 */
	uint64_t slot_bytes, small_bytes;
	int slot_count, large_count;
};

/* Up to SEG_SLOTS of them must not overflow an offset. */
static bool
slot_size_fits(uint64_t bytes)
{
	return bytes >= SEG_HEADER_BYTES && bytes % 8 == 0 &&
	    bytes <= UINT64_C(1) << 40;
}

static uint64_t
slot_base(const struct segfile *f, int slot)
{
	uint64_t large =
	    (uint64_t)(slot < f->large_count ? slot : f->large_count);

	return f->first_slot + large * f->slot_bytes +
	    ((uint64_t)slot - large) * f->small_bytes;
}

/* Slots that are out of bounds are no slots; the own segment still counts. */
static void
find_slots(struct segfile *f, const struct seg_header *h)
{
	struct seg_slots slots;
	uint64_t room;

	if (h->slots_offset == 0 || h->slots_offset % 8 != 0)
		return;
	if (source_read(&f->source, h->slots_offset, &slots, sizeof(slots)) < 0)
		return;
	if (slots.magic != SEG_SLOT_MAGIC ||
	    !slot_size_fits(slots.slot_bytes) ||
	    !slot_size_fits(slots.small_bytes) || slots.count > SEG_SLOTS ||
	    slots.large_count > slots.count ||
	    slots.first_offset < sizeof(slots))
		return;
	room = f->source.size - h->slots_offset; /* read above: not negative */
	if (slots.first_offset > room)
		return;
	f->slots_at = h->slots_offset;
	f->first_slot = h->slots_offset + slots.first_offset;
	f->slot_bytes = slots.slot_bytes;
	f->small_bytes = slots.small_bytes;
	f->large_count = (int)slots.large_count;
	f->slot_count = (int)slots.count;
	while (
	    f->slot_count > 0 && slot_base(f, f->slot_count) > f->source.size)
		f->slot_count--;
	f->own_limit = h->slots_offset;
}

static int
segfile_new(
    const struct source *source, struct segfile **ret, struct fault *where)
{
	struct seg_header h;
	struct segfile *f;
	int err;

	err = segment_read_header(source, 0, source->size, &h, where);
	if (err < 0)
		return err;
	f = calloc(1, sizeof(*f));
	if (!f)
		return fault_set(where, -ENOMEM, "out of memory");
	f->source = *source;
	f->own_limit = source->size;
	find_slots(f, &h);
	*ret = f;
	return 0;
}

int
segfile_open(
    int dir, const char *path, struct segfile **ret, struct fault *where)
{
	struct source source;
	int err;

	err = source_open(dir, path, &source);
	if (err < 0)
		return fault_set(where, err, "%s",
		    err == -EINVAL ? "not a regular file" : strerror(-err));
	err = segfile_new(&source, ret, where);
	if (err < 0)
		source_release(&source);
	return err;
}

int
segfile_open_bytes(
    const void *bytes, size_t len, struct segfile **ret, struct fault *where)
{
	struct source source;

	source_memory(bytes, len, &source);
	return segfile_new(&source, ret, where);
}

void
segfile_close(struct segfile *f)
{
	if (!f)
		return;
	source_release(&f->source);
	free(f);
}

const struct source *
segfile_source(const struct segfile *f)
{
	return &f->source;
}

int
segfile_slots(const struct segfile *f)
{
	return f->slot_count;
}

static int
find_slot(const struct segfile *f, int slot, uint64_t *ret_base,
    uint64_t *ret_limit, struct fault *where)
{
	uint8_t taken;
	int err;

	if (slot == SEGFILE_OWN) {
		*ret_base = 0;
		*ret_limit = f->own_limit;
		return 0;
	}
	if (slot < 0 || slot >= f->slot_count)
		return fault_set(where, -ENODATA, "no slot %d", slot);
	err = source_read(&f->source,
	    f->slots_at + offsetof(struct seg_slots, taken) +
	        (uint64_t)slot * sizeof(taken),
	    &taken, sizeof(taken));
	if (err < 0)
		return fault_set(where, err, "slot %d cannot be read", slot);
	if (taken == 0)
		return fault_set(where, -ENODATA, "slot %d is free", slot);
	*ret_base = slot_base(f, slot);
	*ret_limit = slot_base(f, slot + 1) - *ret_base;
	return 0;
}

int
segfile_header(const struct segfile *f, int slot, struct seg_header *ret,
    struct fault *where)
{
	uint64_t base, limit;
	int err;

	err = find_slot(f, slot, &base, &limit, where);
	if (err < 0)
		return err;
	return segment_read_header(&f->source, base, limit, ret, where);
}

int
segfile_read(const struct segfile *f, int slot, struct segment **ret,
    struct fault *where)
{
	uint64_t base, limit;
	int err;

	err = find_slot(f, slot, &base, &limit, where);
	if (err < 0)
		return err;
	return segment_read(&f->source, base, limit, ret, where);
}

int
segfile_compact(const struct segfile *f, int slot, void **ret, size_t *ret_len,
    struct fault *where)
{
	struct segment *seg;
	int err;

	err = segfile_read(f, slot, &seg, where);
	if (err < 0)
		return err;
	err = segment_compact(seg, ret, ret_len);
	segment_free(seg);
	if (err < 0)
		return fault_set(where, err, "out of memory");
	return 0;
}
