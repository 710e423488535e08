/* where.c - where modules with a relative path were mapped. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "follow/recorder/where.h"

#include "base/std.h"
#include "segments/find/proc.h"
#include "host/proc/procfs.h"
#include "session/process/family.h"
#include "kit/data/room.h"

enum { FILES_MAX = 4096 }; /* modules that are searched one by one */

struct where_file {
	uint8_t uuid[16]; /* uuid of the segment, as it says itself */
	uint64_t owner;   /* owner of its file: nobody can fake that */
	uint64_t start, end;
	char *path; /* NULL: searched for, but not found */
};

/* One look; the modules to be found are the last ones of the list. */
struct look {
	struct where *where;
	const struct seg_header *header;
	uint64_t owner;
	size_t first;
	int err;
};

void where_release(struct where *w)
{
	for (size_t i = 0; i < w->count; i++)
		free(w->files[i].path);
	free(w->files);
	*w = (struct where){0};
}

static const struct where_file *find(
    const struct where *w, const uint8_t uuid[16], uint64_t owner, uint64_t start, uint64_t end)
{
	for (size_t i = 0; i < w->count; i++) {
		const struct where_file *f = &w->files[i];

		if (f->start == start && f->end == end && f->owner == owner &&
		    memcmp(f->uuid, uuid, sizeof(f->uuid)) == 0)
			return f;
	}
	return NULL;
}

static void take_module(void *context, const struct seg_module *row, const char *path)
{
	const struct process_module m = {
	    .path = (char *)(uintptr_t)path, .is_main = row->is_main != 0};
	struct look *l = context;
	struct where *w = l->where;

	if (row->gone_tick != 0 || !relative_is(&m) || l->err < 0 ||
	    find(w, l->header->uuid, l->owner, row->start, row->end))
		return;
	if (w->count >= FILES_MAX) {
		w->unplaced++; /* at each look in which it is new: at least */
		return;
	}
	l->err = room_make(&w->files, &w->room, w->count, sizeof(*w->files));
	if (l->err < 0)
		return;
	w->files[w->count] =
	    (struct where_file){.owner = l->owner, .start = row->start, .end = row->end};
	memcpy(w->files[w->count++].uuid, l->header->uuid, 16);
}

static bool take_mapping(void *context, uint64_t start, const char *path, bool is_deleted)
{
	const struct look *l = context;

	for (size_t i = l->first; !is_deleted && i < l->where->count; i++) {
		struct where_file *f = &l->where->files[i];

		if (start < f->start || start >= f->end || f->path)
			continue;
		f->path = strdup(path);
		if (!f->path)
			return false;
	}
	return true;
}

int where_look(
    struct where *w, const struct tail *t, const struct seg_header *h, const struct source *file)
{
	struct look l = {.where = w, .header = h, .owner = source_owner(file), .first = w->count};
	pid_t pid;

	tail_modules(t, take_module, &l);
	if (l.err < 0 || w->count == l.first)
		return l.err;
	if (proc_check(h, file, &pid) == PROC_YES && procfs_files(pid, take_mapping, &l) == -ENOMEM)
		return -ENOMEM;
	return 0;
}

int where_fill(const struct where *w, struct process *p)
{
	for (size_t i = 1; w->count > 0 && i < p->module_count; i++) {
		struct process_module *m = &p->modules[i];
		const struct where_file *f;

		if (!relative_is(m) || m->mapped)
			continue;
		f = find(w, p->header.uuid, p->owner, m->start, m->end);
		if (!f || !f->path)
			continue;
		m->mapped = strdup(f->path);
		if (!m->mapped)
			return -ENOMEM;
	}
	return 0;
}
