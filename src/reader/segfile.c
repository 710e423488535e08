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
	uint64_t large_bytes, small_bytes;
	uint64_t large_count, slot_count;
};

/* How many of at most `count` slots of this size fit into *room. */
static uint64_t
fit_slots(uint64_t *room, uint64_t count, uint64_t bytes)
{
	uint64_t n;

	if (count == 0 || bytes < SEG_HEADER_BYTES || bytes % 8 != 0)
		return 0;
	n = *room / bytes < count ? *room / bytes : count;
	*room -= n * bytes;
	return n;
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
	room = f->source.size - h->slots_offset; /* read above: not negative */
	if (slots.magic != SEG_SLOT_MAGIC || slots.count > SEG_SLOTS ||
	    slots.large_count > slots.count ||
	    slots.first_offset < sizeof(slots) || slots.first_offset > room)
		return;
	room -= slots.first_offset;
	f->slots_at = h->slots_offset;
	f->first_slot = h->slots_offset + slots.first_offset;
	f->large_bytes = slots.slot_bytes;
	f->small_bytes = slots.small_bytes;
	f->large_count = fit_slots(&room, slots.large_count, slots.slot_bytes);
	f->slot_count = f->large_count;
	if (f->large_count == slots.large_count) /* else the file is cut */
		f->slot_count += fit_slots(
		    &room, slots.count - slots.large_count, slots.small_bytes);
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
	return (int)f->slot_count;
}

void
segfile_taken(const struct segfile *f, uint8_t ret[SEG_SLOTS])
{
	memset(ret, 0, SEG_SLOTS);
	if (f->slot_count > 0 &&
	    source_read(
	        &f->source, segfile_taken_offset(f, 0), ret, f->slot_count) < 0)
		memset(ret, 0, SEG_SLOTS);
}

uint64_t
segfile_taken_offset(const struct segfile *f, int slot)
{
	return f->slots_at + offsetof(struct seg_slots, taken) + (uint64_t)slot;
}

static int
find_slot(const struct segfile *f, int slot, uint64_t *ret_base,
    uint64_t *ret_limit, struct fault *where)
{
	uint64_t n = (uint64_t)slot;
	uint8_t taken;
	int err;

	if (slot == SEGFILE_OWN) {
		*ret_base = 0;
		*ret_limit = f->own_limit;
		return 0;
	}
	if (slot < 0 || n >= f->slot_count)
		return fault_set(where, -ENODATA, "no slot %d", slot);
	err = source_read(&f->source,
	    f->slots_at + offsetof(struct seg_slots, taken) + n, &taken,
	    sizeof(taken));
	if (err < 0)
		return fault_set(where, err, "slot %d cannot be read", slot);
	if (taken == 0)
		return fault_set(where, -ENODATA, "slot %d is free", slot);
	if (n < f->large_count) {
		*ret_base = f->first_slot + n * f->large_bytes;
		*ret_limit = f->large_bytes;
	} else {
		*ret_base = f->first_slot + f->large_count * f->large_bytes +
		    (n - f->large_count) * f->small_bytes;
		*ret_limit = f->small_bytes;
	}
	return 0;
}

int
segfile_window(
    const struct segfile *f, int slot, uint64_t *ret_base, uint64_t *ret_limit)
{
	return find_slot(f, slot, ret_base, ret_limit, NULL);
}

/* Children that found no slot could not count themselves in their own. */
static void
add_untraced(const struct segfile *f, int slot, struct seg_header *h)
{
	uint64_t n, *count = &h->counts[SEG_CHILDREN_UNTRACED];

	if (slot != SEGFILE_OWN || f->slots_at == 0 ||
	    source_read(&f->source,
	        f->slots_at + offsetof(struct seg_slots, untraced), &n,
	        sizeof(n)) < 0)
		return;
	if (__builtin_add_overflow(*count, n, count))
		*count = UINT64_MAX;
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
	err = segment_read_header(&f->source, base, limit, ret, where);
	if (err == 0)
		add_untraced(f, slot, ret);
	return err;
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
	err = segment_read(&f->source, base, limit, ret, where);
	if (err == 0)
		add_untraced(f, slot, &(*ret)->header);
	return err;
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
