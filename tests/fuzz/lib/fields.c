/* fields.c - where the known fields of a segment are, as docs/FORMAT.md has. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fields.h"

#include <string.h>

#include "format/format.h"

struct field {
	uint16_t at, width, count; /* an array has more than one */
};

#define ONE(type, name) \
	{ \
		offsetof(struct type, name), sizeof(((struct type *)0)->name), 1 \
	}
#define MANY(type, name) \
	{ \
		offsetof(struct type, name), sizeof(((struct type *)0)->name[0]), \
		    sizeof(((struct type *)0)->name) / sizeof(((struct type *)0)->name[0]) \
	}

static const struct field header[] = {ONE(seg_header, magic), ONE(seg_header, version),
    ONE(seg_header, header_bytes), ONE(seg_header, state), ONE(seg_header, inert_reason),
    ONE(seg_header, mode), ONE(seg_header, medium), MANY(seg_header, uuid),
    MANY(seg_header, parent_uuid), MANY(seg_header, session), ONE(seg_header, pid),
    ONE(seg_header, ppid), ONE(seg_header, pid_ns), ONE(seg_header, start_jiffies),
    ONE(seg_header, sequence), ONE(seg_header, start_realtime_ns),
    ONE(seg_header, start_monotonic_ns), ONE(seg_header, tick_ns), ONE(seg_header, tick),
    ONE(seg_header, first_id), ONE(seg_header, max_frames), ONE(seg_header, sample_bytes),
    ONE(seg_header, total_bytes), ONE(seg_header, used_bytes), ONE(seg_header, dir_offset),
    ONE(seg_header, dir_capacity), ONE(seg_header, dir_used), ONE(seg_header, slots_offset),
    ONE(seg_header, slot_bytes), ONE(seg_header, slot_count), ONE(seg_header, slot_index),
    ONE(seg_header, live_root), ONE(seg_header, live_root_bits), ONE(seg_header, live_mid_bits),
    ONE(seg_header, live_leaf_bits), ONE(seg_header, live_granule_bits),
    ONE(seg_header, live_cell_version), ONE(seg_header, spill_root), ONE(seg_header, ours_table),
    ONE(seg_header, ours_entries), ONE(seg_header, own_address), ONE(seg_header, control_address),
    ONE(seg_header, exit_state), ONE(seg_header, exit_tick), ONE(seg_header, peak_bytes),
    ONE(seg_header, peak_epoch), ONE(seg_header, peak_tick), ONE(seg_header, threads),
    ONE(seg_header, peak_flags), ONE(seg_header, end_kind), ONE(seg_header, end_tick),
    ONE(seg_header, own_bytes), ONE(seg_header, live_scan_partial),
    ONE(seg_header, command_truncated), ONE(seg_header, snapshot_reason),
    ONE(seg_header, snapshot_number), ONE(seg_header, snapshot_realtime_ns),
    ONE(seg_header, snapshot_error), ONE(seg_header, snapshot_limit), ONE(seg_header, signal),
    ONE(seg_header, signal_state), MANY(seg_header, snapshot_label), ONE(seg_header, counted_ticks),
    ONE(seg_header, log_last), ONE(seg_header, log_lack), ONE(seg_header, log_lack_error),
    MANY(seg_header, grandparent_uuid), ONE(seg_header, parent_first_id),
    ONE(seg_header, log_births), ONE(seg_header, log_state), ONE(seg_header, log_pool),
    ONE(seg_header, place_owner), ONE(seg_header, place_refused), ONE(seg_header, place_detail),
    MANY(seg_header, place_asked), MANY(seg_header, counts), MANY(seg_header, start_dir),
    MANY(seg_header, exe), MANY(seg_header, command)};

static const struct field extent[] = {ONE(seg_extent, kind), ONE(seg_extent, owner),
    ONE(seg_extent, row_bytes), ONE(seg_extent, count), ONE(seg_extent, first),
    ONE(seg_extent, offset)};

static const struct field slots[] = {ONE(seg_slots, magic), ONE(seg_slots, count),
    ONE(seg_slots, large_count), ONE(seg_slots, slot_bytes), ONE(seg_slots, small_bytes),
    ONE(seg_slots, first_offset), ONE(seg_slots, untraced), MANY(seg_slots, taken)};

static const struct field module[] = {ONE(seg_module, base), ONE(seg_module, start),
    ONE(seg_module, end), ONE(seg_module, path), ONE(seg_module, path_bytes),
    ONE(seg_module, generation), ONE(seg_module, first_tick), ONE(seg_module, gone_tick),
    MANY(seg_module, build_id), ONE(seg_module, build_id_bytes), ONE(seg_module, is_main)};
static const struct field string[] = {{0, 1, 1}};
static const struct field node[] = {
    ONE(seg_node, frame), ONE(seg_node, parent), ONE(seg_node, flags)};
static const struct field inner[] = {
    MANY(seg_inner, frames), ONE(seg_inner, count), ONE(seg_inner, flags)};
static const struct field site[] = {ONE(seg_site, node), ONE(seg_site, inner),
    ONE(seg_site, first_tick), ONE(seg_site, kind), ONE(seg_site, api), ONE(seg_site, pool)};
static const struct field row[] = {ONE(seg_row, allocations), ONE(seg_row, allocated_bytes),
    ONE(seg_row, frees), ONE(seg_row, freed_bytes), ONE(seg_row, snap_bytes),
    ONE(seg_row, snap_blocks), ONE(seg_row, epoch), ONE(seg_row, last_tick), ONE(seg_row, size_min),
    ONE(seg_row, size_span)};
static const struct field info[] = {MANY(seg_info, ages), ONE(seg_info, size_max),
    MANY(seg_info, freed_by), MANY(seg_info, freed_by_count), MANY(seg_info, ages_high),
    ONE(seg_info, size_min), ONE(seg_info, site)};
static const struct field ages[] = {MANY(seg_ages, deaths)};
static const struct field inherited[] = {
    ONE(seg_inherited, frees), ONE(seg_inherited, freed_bytes)};
static const struct field live[] = {MANY(seg_live, ages), ONE(seg_live, young),
    ONE(seg_live, blocks), ONE(seg_live, bytes), ONE(seg_live, size_min), ONE(seg_live, size_max),
    MANY(seg_live, sizes), MANY(seg_live, births)};
static const struct field mark[] = {ONE(seg_mark, sequence), ONE(seg_mark, tick),
    ONE(seg_mark, kind), ONE(seg_mark, after_ns), MANY(seg_mark, label)};
static const struct field sample[] = {ONE(seg_sample, samples), ONE(seg_sample, sampled_frees),
    ONE(seg_sample, weighted_count), ONE(seg_sample, weighted_bytes),
    ONE(seg_sample, weighted_frees), ONE(seg_sample, weighted_freed_bytes),
    ONE(seg_sample, variance_allocated), ONE(seg_sample, variance_freed),
    ONE(seg_sample, weighted_count_high), ONE(seg_sample, weighted_bytes_high),
    ONE(seg_sample, weighted_frees_high), ONE(seg_sample, weighted_freed_bytes_high),
    ONE(seg_sample, variance_allocated_high), ONE(seg_sample, variance_freed_high)};
static const struct field pool[] = {
    ONE(seg_pool, name_bytes), ONE(seg_pool, first_tick), MANY(seg_pool, name)};

#define LAYOUT(fields) \
	{ \
		fields, sizeof(fields) / sizeof(fields[0]) \
	}
struct layout {
	const struct field *fields;
	size_t count;
};
static const struct layout rows[] = {[SEG_EXT_NONE] = {NULL, 0},
    [SEG_EXT_MODULE] = LAYOUT(module),
    [SEG_EXT_STRING] = LAYOUT(string),
    [SEG_EXT_NODE] = LAYOUT(node),
    [SEG_EXT_INNER] = LAYOUT(inner),
    [SEG_EXT_SITE] = LAYOUT(site),
    [SEG_EXT_LEDGER] = LAYOUT(row),
    [SEG_EXT_INFO] = LAYOUT(info),
    [SEG_EXT_INHERITED] = LAYOUT(inherited),
    [SEG_EXT_LIVE] = LAYOUT(live),
    [SEG_EXT_MARK] = LAYOUT(mark),
    [SEG_EXT_SAMPLE] = LAYOUT(sample),
    [SEG_EXT_POOL] = LAYOUT(pool),
    [SEG_EXT_AGES] = LAYOUT(ages),
    [SEG_EXT_SITE_INFO] = LAYOUT(info)};

/* Counts places down to the one that is wanted. */
struct search {
	size_t len, left;
	size_t room; /* of a row; 0: as long as we know it */
	bool found;
	struct fields_place place;
};

/* Texts and ids are told by their first and last bytes. */
static size_t elements(const struct field *f)
{
	return f->width == 1 && f->count > 2 ? 2 : f->count;
}

static size_t element_at(const struct field *f, size_t i)
{
	bool is_last = f->width == 1 && f->count > 2 && i == 1;

	return f->at + (is_last ? f->count - 1u : i) * f->width;
}

static void look(
    struct search *s, const struct layout *l, size_t base, size_t stride, size_t repeat)
{
	for (size_t k = 0; k < l->count && !s->found; k++) {
		const struct field *f = &l->fields[k];

		/* rows of older collectors are shorter */
		if (s->room > 0 && s->room < (size_t)f->at + (size_t)f->width * f->count)
			continue;
		if (s->left >= elements(f)) {
			s->left -= elements(f);
			continue;
		}
		s->place =
		    (struct fields_place){base + element_at(f, s->left), f->width, stride, repeat};
		s->found = true;
	}
}

/* The rows of one table: the first, the last, all. */
static void look_rows(struct search *s, const struct seg_extent *x)
{
	const struct layout *l;
	size_t last;

	if (x->kind >= sizeof(rows) / sizeof(rows[0]) || x->count == 0 || x->row_bytes == 0 ||
	    x->offset > s->len || (uint64_t)x->count * x->row_bytes > s->len - x->offset)
		return;
	l = &rows[x->kind];
	last = (size_t)x->offset + (x->count - 1) * (size_t)x->row_bytes;
	s->room = x->row_bytes;
	look(s, l, (size_t)x->offset, 0, 1);
	if (x->count > 1) {
		look(s, l, last, 0, 1);
		look(s, l, (size_t)x->offset, x->row_bytes, x->count);
	}
	s->room = 0;
}

bool fields_find(const uint8_t *seg, size_t len, size_t n, struct fields_place *ret)
{
	struct search s = {.len = len, .left = n};
	const struct layout top = LAYOUT(header), dir = LAYOUT(extent), children = LAYOUT(slots);
	struct seg_header h;

	if (len < sizeof(h))
		return false;
	memcpy(&h, seg, sizeof(h));
	look(&s, &top, 0, 0, 1);
	for (size_t i = 0; i < h.dir_used && !s.found; i++) {
		size_t at = (size_t)h.dir_offset + i * sizeof(struct seg_extent);
		struct seg_extent x;

		if (h.dir_offset > len || at + sizeof(x) > len)
			break;
		memcpy(&x, seg + at, sizeof(x));
		look(&s, &dir, at, 0, 1);
		look_rows(&s, &x);
	}
	if (h.slots_offset && h.slots_offset <= len &&
	    len - h.slots_offset >= sizeof(struct seg_slots))
		look(&s, &children, (size_t)h.slots_offset, 0, 1);
	if (s.found)
		*ret = s.place;
	return s.found;
}

size_t fields_count(const uint8_t *seg, size_t len)
{
	struct fields_place p;
	size_t low = 0, high = 1;

	while (fields_find(seg, len, high, &p))
		high *= 2;
	while (low < high) {
		size_t middle = (low + high) / 2;

		if (fields_find(seg, len, middle, &p))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

uint64_t fields_get(const uint8_t *seg, const struct fields_place *p)
{
	uint64_t value = 0;

	memcpy(&value, seg + p->at, p->width);
	return value;
}

void fields_set(uint8_t *seg, const struct fields_place *p, uint64_t value)
{
	for (size_t i = 0; i < p->repeat; i++)
		memcpy(seg + p->at + i * p->stride, &value, p->width);
}

bool fields_of_row(uint32_t kind, size_t n, struct fields_place *ret)
{
	struct search s = {.left = n};

	if (kind >= sizeof(rows) / sizeof(rows[0]))
		return false;
	look(&s, &rows[kind], 0, 0, 1);
	if (s.found)
		*ret = s.place;
	return s.found;
}
