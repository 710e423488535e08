/* mkseg.c - builds segments by hand, for tests of the reader. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "mkseg.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "session/load/session.h"

enum { EXTENTS = 64, SLOTS = 4, LARGE = 1 };
enum { LARGE_BYTES = 2 << 20, SMALL_BYTES = 1 << 20 };

struct table {
	uint32_t kind, owner, row_bytes, used;
	uint8_t *rows;
};

struct mkseg {
	struct seg_header header;
	uint32_t rows; /* of each table, at most */
	struct table tables[EXTENTS];
	uint32_t table_count;
	uint32_t next_id;
	uint32_t strings;
	uint8_t *children[SLOTS];
	size_t child_bytes[SLOTS];
	uint32_t child_count;
	uint64_t untraced;
};

struct mkseg *mkseg_new(void)
{
	return mkseg_new_rows(MKSEG_ROWS);
}

struct mkseg *mkseg_new_rows(uint32_t rows)
{
	struct mkseg *m = calloc(1, sizeof(*m));
	struct seg_header *h;
	struct stat st;

	assert(m);
	m->rows = rows;
	h = &m->header;
	h->magic = SEG_MAGIC;
	h->version = SEG_VERSION;
	h->header_bytes = SEG_HEADER_BYTES;
	h->state = SEG_ALIVE;
	h->mode = SEG_MODE_ON;
	h->medium = SEG_MEDIUM_TMPFS;
	h->uuid[0] = 1;
	h->pid = 4242;
	if (stat("/proc/self/ns/pid", &st) == 0)
		h->pid_ns = st.st_ino;
	h->ppid = 1;
	h->start_realtime_ns = UINT64_C(1700000000000000000);
	h->start_monotonic_ns = 1000;
	h->tick_ns = SEG_TICK_NS;
	h->tick = 123;
	h->first_id = 1;
	h->max_frames = 256;
	h->threads = 1;
	h->slot_index = ~UINT32_C(0);
	h->peak_epoch = 1;
	strcpy(h->exe, "/bin/host");
	memcpy(h->command, "host\0-x\0", 8);
	m->next_id = 1;
	m->strings = 1;
	return m;
}

void mkseg_free(struct mkseg *m)
{
	for (uint32_t i = 0; i < m->table_count; i++)
		free(m->tables[i].rows);
	for (uint32_t i = 0; i < m->child_count; i++)
		free(m->children[i]);
	free(m);
}

struct seg_header *mkseg_header(struct mkseg *m)
{
	return &m->header;
}

static void *row_at(struct mkseg *m, uint32_t kind, uint32_t owner, uint32_t row_bytes, uint32_t i)
{
	uint32_t rows = kind == SEG_EXT_STRING ? MKSEG_STRINGS : m->rows;
	struct table *t = NULL;

	for (uint32_t k = 0; k < m->table_count; k++)
		if (m->tables[k].kind == kind && m->tables[k].owner == owner)
			t = &m->tables[k];
	if (!t) {
		assert(m->table_count < EXTENTS);
		t = &m->tables[m->table_count++];
		*t = (struct table){
		    .kind = kind,
		    .owner = owner,
		    .row_bytes = row_bytes,
		    .rows = calloc(rows, row_bytes),
		};
		assert(t->rows);
	}
	assert(i < rows);
	if (t->used <= i)
		t->used = i + 1;
	return t->rows + (size_t)i * row_bytes;
}

static uint32_t next_number(struct mkseg *m, uint32_t kind)
{
	for (uint32_t k = 0; k < m->table_count; k++)
		if (m->tables[k].kind == kind)
			return m->tables[k].used;
	return 1;
}

struct seg_module *mkseg_module_at(struct mkseg *m, uint32_t number)
{
	return row_at(m, SEG_EXT_MODULE, 0, sizeof(struct seg_module), number);
}

struct seg_node *mkseg_node_at(struct mkseg *m, uint32_t number)
{
	return row_at(m, SEG_EXT_NODE, 0, sizeof(struct seg_node), number);
}

struct seg_site *mkseg_site(struct mkseg *m, uint32_t id)
{
	return row_at(m, SEG_EXT_SITE, 0, sizeof(struct seg_site), id);
}

struct seg_row *mkseg_row(struct mkseg *m, uint32_t array, uint32_t id)
{
	return row_at(m, SEG_EXT_LEDGER, array, sizeof(struct seg_row), id);
}

struct seg_info *mkseg_info(struct mkseg *m, uint32_t id)
{
	return row_at(m, SEG_EXT_INFO, 0, sizeof(struct seg_info), id);
}

struct seg_info *mkseg_site_info(struct mkseg *m, uint32_t id)
{
	struct seg_info *info = row_at(
	    m, SEG_EXT_SITE_INFO, 0, sizeof(struct seg_info), next_number(m, SEG_EXT_SITE_INFO));

	info->site = id;
	return info;
}

struct seg_ages *mkseg_ages(struct mkseg *m, uint32_t array, uint32_t id)
{
	return row_at(m, SEG_EXT_AGES, array, sizeof(struct seg_ages), id);
}

struct seg_live *mkseg_live(struct mkseg *m, uint32_t id)
{
	return mkseg_live_of(m, id, sizeof(struct seg_live));
}

struct seg_live *mkseg_live_of(struct mkseg *m, uint32_t id, uint32_t bytes)
{
	return row_at(m, SEG_EXT_LIVE, 0, bytes, id);
}

struct seg_sample *mkseg_sample(struct mkseg *m, uint32_t array, uint32_t id)
{
	return row_at(m, SEG_EXT_SAMPLE, array, sizeof(struct seg_sample), id);
}

void mkseg_shorten(struct mkseg *m, uint32_t kind, uint32_t row_bytes)
{
	for (uint32_t k = 0; k < m->table_count; k++) {
		struct table *t = &m->tables[k];

		if (t->kind != kind)
			continue;
		for (uint32_t i = 0; i < t->used; i++)
			memmove(t->rows + (size_t)i * row_bytes, t->rows + (size_t)i * t->row_bytes,
			    row_bytes);
		t->row_bytes = row_bytes;
	}
}

struct seg_pool *mkseg_pool(struct mkseg *m, uint32_t number)
{
	return row_at(m, SEG_EXT_POOL, 0, sizeof(struct seg_pool), number);
}

uint32_t mkseg_module(struct mkseg *m, const char *path, uint64_t base)
{
	uint32_t number = next_number(m, SEG_EXT_MODULE);
	struct seg_module *module = mkseg_module_at(m, number);

	module->base = base;
	module->start = base;
	module->end = base + 0x100000;
	module->path = m->strings;
	module->path_bytes = (uint32_t)strlen(path);
	for (uint32_t i = 0; i <= module->path_bytes; i++)
		memcpy(row_at(m, SEG_EXT_STRING, 0, 1, m->strings++), path + i, 1);
	return number;
}

uint32_t mkseg_node(struct mkseg *m, uint64_t frame, uint32_t parent, uint32_t flags)
{
	uint32_t number = next_number(m, SEG_EXT_NODE);

	*mkseg_node_at(m, number) =
	    (struct seg_node){.frame = frame, .parent = parent, .flags = flags};
	return number;
}

uint32_t mkseg_inner(struct mkseg *m, const uint64_t *frames, uint32_t n, uint32_t flags)
{
	uint32_t number = next_number(m, SEG_EXT_INNER);
	struct seg_inner *inner = row_at(m, SEG_EXT_INNER, 0, sizeof(struct seg_inner), number);

	assert(n <= SEG_INNER_FRAMES);
	if (n > 0)
		memcpy(inner->frames, frames, n * sizeof(*frames));
	inner->count = n;
	inner->flags = flags;
	return number;
}

uint32_t mkseg_stack(struct mkseg *m, const uint64_t *frames, uint32_t n)
{
	uint32_t inner = n < SEG_INNER_FRAMES ? n : SEG_INNER_FRAMES;
	uint32_t node = 0, id = m->next_id++;

	for (uint32_t i = n; i > inner; i--)
		node = mkseg_node(m, frames[i - 1], node, 0);
	*mkseg_site(m, id) = (struct seg_site){
	    .node = node,
	    .inner = mkseg_inner(m, frames, inner, 0),
	    .kind = SEG_SITE_HEAP,
	    .api = SEG_API_MALLOC,
	};
	return id;
}

void mkseg_book(
    struct mkseg *m, uint32_t array, uint32_t id, uint64_t n, uint64_t size, uint64_t frees)
{
	struct seg_row *row = mkseg_row(m, array, id);

	row->allocations += n;
	row->allocated_bytes += n * size;
	row->frees += frees;
	row->freed_bytes += frees * size;
	row->size_min = (uint32_t)size;
	row->last_tick = m->header.tick;
}

void mkseg_child(struct mkseg *m, const void *bytes, size_t len)
{
	uint8_t *copy = malloc(len);

	assert(copy && m->child_count < SLOTS && len <= SMALL_BYTES);
	memcpy(copy, bytes, len);
	m->children[m->child_count] = copy;
	m->child_bytes[m->child_count++] = len;
}

void mkseg_untraced(struct mkseg *m, uint64_t n)
{
	m->untraced = n;
}

static size_t round_up(size_t n)
{
	return (n + SEG_EXTENT_STEP - 1) / SEG_EXTENT_STEP * SEG_EXTENT_STEP;
}

static uint8_t *add_children(struct mkseg *m, uint8_t *bytes, size_t *len)
{
	struct seg_slots slots = {
	    .magic = SEG_SLOT_MAGIC,
	    .count = SLOTS,
	    .large_count = LARGE,
	    .slot_bytes = LARGE_BYTES,
	    .small_bytes = SMALL_BYTES,
	    .first_offset = SEG_EXTENT_STEP,
	    .untraced = m->untraced,
	};
	size_t at = *len, next = at + slots.first_offset;
	size_t all = next + LARGE * (size_t)LARGE_BYTES + (SLOTS - LARGE) * (size_t)SMALL_BYTES;

	bytes = realloc(bytes, all);
	assert(bytes);
	memset(bytes + at, 0, all - at);
	for (uint32_t i = 0; i < m->child_count; i++) {
		slots.taken[i] = 1;
		memcpy(bytes + next, m->children[i], m->child_bytes[i]);
		next += i < LARGE ? LARGE_BYTES : SMALL_BYTES;
	}
	memcpy(bytes + at, &slots, sizeof(slots));
	m->header.slots_offset = at;
	m->header.slot_bytes = LARGE_BYTES;
	m->header.slot_count = SLOTS;
	*len = all;
	return bytes;
}

void *mkseg_finish(struct mkseg *m, size_t *ret_len)
{
	size_t dir_at = sizeof(m->header);
	size_t len = dir_at + round_up(EXTENTS * sizeof(struct seg_extent));
	size_t at = len;
	uint8_t *bytes;

	for (uint32_t i = 0; i < m->table_count; i++)
		len += round_up((size_t)m->tables[i].used * m->tables[i].row_bytes);
	bytes = calloc(1, len);
	assert(bytes);
	for (uint32_t i = 0; i < m->table_count; i++) {
		const struct table *t = &m->tables[i];
		struct seg_extent entry = {
		    .kind = t->kind,
		    .owner = t->owner,
		    .row_bytes = t->row_bytes,
		    .count = t->used,
		    .offset = at,
		};

		memcpy(bytes + dir_at + i * sizeof(entry), &entry, sizeof(entry));
		memcpy(bytes + at, t->rows, (size_t)t->used * t->row_bytes);
		at += round_up((size_t)t->used * t->row_bytes);
	}
	m->header.dir_offset = dir_at;
	m->header.dir_capacity = EXTENTS;
	m->header.dir_used = m->table_count;
	m->header.total_bytes = len;
	m->header.used_bytes = len;
	if (m->child_count > 0)
		bytes = add_children(m, bytes, &len);
	memcpy(bytes, &m->header, sizeof(m->header));
	*ret_len = len;
	return bytes;
}

struct session *mkseg_load(struct mkseg *m)
{
	struct session *s = NULL;
	size_t len;
	void *bytes = mkseg_finish(m, &len);
	int err = session_load_bytes(bytes, len, &s, NULL);

	assert(err == 0);
	free(bytes);
	mkseg_free(m);
	return s;
}
