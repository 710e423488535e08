/* process_tables.c - modules, inherited frees and marks of a process. */
/* SPDX-License-Identifier: Apache-2.0 */

#include "segments/read/extent_list.h"

#include "base/std.h"
#include "session/process/process_parts.h"
#include "session/process/family.h"
#include "kit/data/room.h"
#include "kit/data/sorted.h"

enum {
	MAX_MODULES = 65536, /* a frame has 16 bits for the number */
	MAX_PATH_BYTES = 4096,
	MAX_MARKS = 65536,
};

/* A string of the segment may continue in the next extent. */
static char *string_at(const struct extents *strings, uint64_t offset, uint32_t len)
{
	char *text;

	if (len == 0 || len > MAX_PATH_BYTES)
		return NULL;
	text = calloc(1, (size_t)len + 1);
	for (uint32_t i = 0; text && i < len; i++) {
		if (!extents_get(strings, offset + i, &text[i], 1)) {
			free(text);
			return NULL;
		}
	}
	return text;
}

static int make_modules(struct process *p, const struct segment *seg)
{
	struct extents modules = {0}, strings = {0};
	struct seg_module row;
	int err = -ENOMEM;

	if (extents_init(&modules, seg, SEG_EXT_MODULE) < 0 ||
	    extents_init(&strings, seg, SEG_EXT_STRING) < 0)
		goto out;
	for (size_t i = 0; i < modules.count; i++) {
		uint64_t end = modules.extents[i]->first + modules.extents[i]->count;

		if (end > MAX_MODULES) {
			p->header.counts[SEG_LOST_MODULES] += modules.extents[i]->count;
			p->is_cut = true;
			end = MAX_MODULES;
		}
		if (end > p->module_count)
			p->module_count = (size_t)end;
	}
	p->modules = calloc(p->module_count + 1, sizeof(*p->modules));
	if (!p->modules)
		goto out;
	for (size_t i = 1; i < p->module_count; i++) {
		struct process_module *m = &p->modules[i];

		if (!extents_get(&modules, i, &row, sizeof(row)) || row.end == 0)
			continue; /* room for modules to come */
		m->base = row.base;
		m->start = row.start;
		m->end = row.end;
		m->generation = row.generation;
		m->is_main = row.is_main != 0;
		m->is_gone = row.gone_tick != 0;
		m->path = string_at(&strings, row.path, row.path_bytes);
		if (row.path_bytes > MAX_PATH_BYTES) {
			p->header.counts[SEG_LOST_MODULES]++;
			p->is_cut = true;
		}
		if (row.build_id_bytes <= sizeof(m->build_id)) {
			m->build_id_bytes = row.build_id_bytes;
			memcpy(m->build_id, row.build_id, row.build_id_bytes);
		}
	}
	while (p->module_count > 1 && p->modules[p->module_count - 1].end == 0)
		p->module_count--;
	err = relative_join(p);
out:
	extents_release(&modules);
	extents_release(&strings);
	return err;
}

static int make_inherited(struct process *p, const struct segment *seg)
{
	size_t room = 0;

	for (size_t i = 0; i < seg->extent_count; i++) {
		const struct segment_rows *x = &seg->extents[i];

		if (x->kind != SEG_EXT_INHERITED)
			continue;
		for (uint32_t k = 0; k < x->count; k++) {
			struct seg_inherited row;

			memcpy(&row, segment_copy_row(x, k), sizeof(row));
			if (row.frees == 0 || (x->first + k) >> SEG_SITE_BITS)
				continue;
			if (room_make(&p->inherited, &room, p->inherited_count,
			        sizeof(*p->inherited)) < 0)
				return -ENOMEM;
			p->inherited[p->inherited_count++] = (struct process_inherited){
			    .id = (uint32_t)(x->first + k),
			    .frees = row.frees,
			    .freed_bytes = row.freed_bytes,
			};
		}
	}
	return 0;
}

BY(by_sequence, struct seg_mark, UP(sequence))

static int make_marks(struct process *p, const struct segment *seg)
{
	size_t room = 0;

	for (size_t i = 0; i < seg->extent_count; i++) {
		const struct segment_rows *x = &seg->extents[i];

		for (uint32_t k = 0; x->kind == SEG_EXT_MARK && k < x->count; k++) {
			struct seg_mark mark;

			memcpy(&mark, segment_copy_row(x, k), sizeof(mark));
			if (mark.sequence == 0)
				continue;
			if (p->mark_count == MAX_MARKS) {
				p->header.counts[SEG_MARKS_LOST]++;
				p->is_cut = true;
				continue;
			}
			if (room_make(&p->marks, &room, p->mark_count, sizeof(*p->marks)) < 0)
				return -ENOMEM;
			mark.label[sizeof(mark.label) - 1] = '\0';
			p->marks[p->mark_count++] = mark;
		}
	}
	if (p->mark_count > 0) {
		qsort(p->marks, p->mark_count, sizeof(*p->marks), by_sequence);
		p->is_snapshot |= p->marks[p->mark_count - 1].kind == SEG_MARK_SNAPSHOT;
	}
	return 0;
}

int process_make_tables(struct process *p, const struct segment *seg)
{
	int err = make_modules(p, seg);

	if (err == 0)
		err = make_inherited(p, seg);
	if (err == 0)
		err = make_marks(p, seg);
	return err;
}
