/* roster.c - who is traced: the files of segments, and the slots in them. */
/* SPDX-License-Identifier: Apache-2.0 */

#include "follow/engine/engine_parts.h"

#include "base/std.h"
#include "host/proc/procfs.h"
#include "kit/os/clock.h"
#include "kit/data/room.h"

enum {
	UNUSED_AT_ONCE = 64, /* files without a listed process, in one look */
	PIDS_MS = 500,       /* between attempts to find a process */
	NEWCOMERS_MS = 1000,
	NEWCOMERS_FIRST_MS = 60, /* of the first look */
	NEWCOMERS_MORE_MS = 10,  /* of all others */
	FILES_MAX = 200000,
	TRIES = 4, /* then a file that is not set up is looked at in turn */
};

/* ---- files ---- */

static struct engine_file **bucket_of(struct engine *l, uint64_t device, uint64_t inode)
{
	uint64_t mix = (inode ^ device << 32) * UINT64_C(0x9e3779b97f4a7c15);

	return &l->buckets[mix >> 52];
}
_Static_assert(LIVE_BUCKETS == 1 << 12, "the upper bits of a hash");

static void free_file(struct engine *l, struct engine_file *f)
{
	if (f->open)
		l->fds_left++;
	segfile_close(f->open);
	free(f->name);
	free(f->slots);
	free(f->by_number);
	free(f);
	l->file_count--;
}

/* Without a name and a process nobody needs it. */
static void drop_unused(struct engine *l, struct engine_file **bucket)
{
	while (*bucket) {
		struct engine_file *f = *bucket;

		if (f->users > 0 || !f->is_gone) {
			bucket = &f->next;
			continue;
		}
		*bucket = f->next;
		free_file(l, f);
	}
}

void roster_release(struct engine *l)
{
	for (size_t i = 0; i < LIVE_BUCKETS; i++)
		while (l->buckets[i]) {
			struct engine_file *f = l->buckets[i];

			l->buckets[i] = f->next;
			free_file(l, f);
		}
}

/* NULL: no memory, or too many of them. */
static struct engine_file *add_file(
    struct engine *l, uint64_t device, uint64_t inode, const char *name)
{
	struct engine_file **bucket = bucket_of(l, device, inode);
	struct engine_file *f = l->file_count < FILES_MAX ? calloc(1, sizeof(*f)) : NULL;

	if (!f)
		return NULL;
	f->name = strdup(name);
	if (!f->name) {
		free(f);
		return NULL;
	}
	f->device = device;
	f->inode = inode;
	f->next = *bucket;
	*bucket = f;
	l->file_count++;
	return f;
}

static struct engine_file *find_file(struct engine *l, uint64_t device, uint64_t inode)
{
	struct engine_file *f = *bucket_of(l, device, inode);

	while (f && (f->device != device || f->inode != inode || f->is_gone))
		f = f->next;
	return f;
}

static int open_again(struct engine *l, const struct engine_file *f, struct segfile **ret)
{
	const struct roster_place *at;
	const struct source *source;
	int err;

	if (f->place == 0) {
		err = segfile_open_of(f->pid, f->name, ret, NULL);
	} else {
		at = roster_places_find(l->places, f->place);
		err = at ? segfile_open(at->fd, f->name, ret, NULL) : -ENOENT;
	}
	if (err < 0)
		return err;
	source = segfile_source(*ret);
	if (source->device == f->device && source->inode == f->inode)
		return 0;
	segfile_close(*ret); /* another file under the old name */
	return -ENOENT;
}

struct segfile *roster_open(struct engine *l, struct engine_file *f, int *ret_err)
{
	struct segfile *seg = NULL;

	*ret_err = 0;
	if (f->open)
		return f->open;
	*ret_err = open_again(l, f, &seg);
	return *ret_err < 0 ? NULL : seg;
}

void roster_done(struct engine_file *f, struct segfile *seg)
{
	if (seg != f->open)
		segfile_close(seg);
}

/* As long as a listed process is in it, and there are descriptors. */
static void keep_open(struct engine *l, struct engine_file *f, struct segfile *seg)
{
	if (f->users > 0 && !f->open && l->fds_left > 0) {
		f->open = seg;
		l->fds_left--;
	}
}

/* ---- slots ---- */

static struct engine_slot *slot_of(const struct engine_file *f, int slot)
{
	size_t i;

	if (slot == SEGFILE_OWN) /* it is the first that is found */
		return f->slot_count > 0 && f->slots[0].slot == SEGFILE_OWN ? &f->slots[0] : NULL;
	i = f->by_number ? f->by_number[slot] : 0;
	return i > 0 ? &f->slots[i - 1] : NULL;
}

/* NULL: no memory. */
static struct engine_slot *add_slot(struct engine_file *f, int slot)
{
	if (slot >= 0 && !f->by_number) {
		f->by_number = calloc(SEGFILE_SLOTS, sizeof(*f->by_number));
		if (!f->by_number)
			return NULL;
	}
	if (room_make(&f->slots, &f->slot_room, f->slot_count, sizeof(*f->slots)) < 0)
		return NULL;
	f->slots[f->slot_count] = (struct engine_slot){.slot = slot};
	if (slot >= 0)
		f->by_number[slot] = (uint16_t)(f->slot_count + 1);
	return &f->slots[f->slot_count++];
}

void roster_unbind(struct engine_file *f, int slot)
{
	struct engine_slot *s = slot_of(f, slot);

	if (s)
		s->is_bound = false;
}

/* Is the segment in this slot still the one that was looked at? */
static bool is_same(const struct segfile *seg, const struct engine_slot *s)
{
	uint8_t uuid[sizeof(s->uuid)];
	uint64_t base, limit;
	struct seg_header h;

	if (s->is_bound)
		return true; /* its process notices */
	if (segfile_window(seg, s->slot, &base, &limit) == 0) {
		if (source_read(segfile_source(seg), base + offsetof(struct seg_header, uuid), uuid,
		        sizeof(uuid)) < 0)
			return true;
		return memcmp(uuid, s->uuid, sizeof(uuid)) == 0;
	}
	return segfile_header(seg, s->slot, &h, NULL) < 0 ||
	    memcmp(h.uuid, s->uuid, sizeof(h.uuid)) == 0;
}

/* What is known of a slot is known of one process. */
static void take_uuid(struct engine_slot *s, const uint8_t uuid[16])
{
	bool is_same = memcmp(s->uuid, uuid, sizeof(s->uuid)) == 0;

	s->is_suspect &= is_same;
	s->was_listed &= is_same;
	memcpy(s->uuid, uuid, sizeof(s->uuid));
}

static int look_at_slot(
    struct engine *l, struct engine_file *f, const struct segfile *seg, int slot)
{
	struct engine_slot *s = slot_of(f, slot);
	struct seg_header h;

	if (s && !s->is_suspect && is_same(seg, s))
		return 0;
	if (segfile_header(seg, slot, &h, NULL) < 0 || h.snapshot_reason)
		return 0; /* being set up; or a copy */
	if (!s)
		s = add_slot(f, slot);
	if (!s)
		return -ENOMEM;
	take_uuid(s, h.uuid);
	return engine_member_arrive(l, f, seg, s, &h);
}

static int look_at_file(struct engine *l, struct engine_file *f)
{
	uint8_t taken[SEGFILE_SLOTS];
	struct segfile *seg;
	int err, slots;

	if (f->is_bad)
		return 0;
	seg = roster_open(l, f, &err);
	if (!seg) {
		f->tries += f->tries < TRIES;
		/* not set up yet; or for a reason that may pass */
		f->is_bad = err == -EINVAL || err == -ENOTSUP || err == -EBADMSG || err == -ELOOP ||
		    err == -EREMOTE;
		return err == -ENOMEM ? err : 0;
	}
	err = look_at_slot(l, f, seg, SEGFILE_OWN);
	slots = segfile_slots(seg);
	if (slots > 0)
		segfile_taken(seg, taken);
	for (int i = 0; i < slots && err == 0; i++)
		if (taken[i])
			err = look_at_slot(l, f, seg, i);
	keep_open(l, f, seg);
	roster_done(f, seg);
	return err;
}

/* It is listed as one that runs, and in this slot. */
static void end_bound(struct engine *l, const struct engine_file *f, int slot)
{
	for (size_t i = 0; i < l->count; i++) {
		struct engine_member *m = l->members[i];

		if (m->file == f && m->slot == slot && !m->is_lost)
			engine_member_end(l, m, LIVE_CAUSE_UNKNOWN);
	}
}

/* The process of this slot, which nobody has listed so far. */
static int list_ended(
    struct engine *l, struct engine_file *f, const struct segfile *seg, const struct live_key *key)
{
	int slot = (int)key->slot;
	struct engine_slot *s = slot_of(f, slot);
	struct seg_header h;

	if (segfile_header(seg, slot, &h, NULL) < 0 ||
	    memcmp(h.uuid, key->uuid, sizeof(h.uuid)) != 0)
		return -ENOENT;
	/* who was in this slot before has left it */
	if (s && s->is_bound)
		end_bound(l, f, slot);
	if (!s)
		s = add_slot(f, slot);
	if (!s)
		return -ENOMEM;
	take_uuid(s, h.uuid);
	return engine_member_arrive_ended(l, f, seg, s, &h);
}

int roster_end(struct engine *l, const struct live_key *key)
{
	struct engine_file *f = find_file(l, key->device, key->inode);
	struct engine_slot *s;
	struct segfile *seg;
	int err;

	if (!f || key->slot < SEGFILE_OWN || key->slot >= SEGFILE_SLOTS)
		return -ENOENT;
	s = slot_of(f, (int)key->slot);
	if (s && s->was_listed && memcmp(s->uuid, key->uuid, 16) == 0) {
		end_bound(l, f, (int)key->slot);
		return 0;
	}
	seg = roster_open(l, f, &err);
	if (!seg)
		return err;
	err = key->slot < segfile_slots(seg) ? list_ended(l, f, seg, key) : -ENOENT;
	keep_open(l, f, seg);
	roster_done(f, seg);
	return err;
}

/*
 * Files with listed processes always, the others in turn: a forked child that
 * had no event so far may live there without a trace.
 */
static int look_at_files(struct engine *l, bool only_new)
{
	size_t unused = 0, first = l->turn;
	int err = 0;

	for (size_t i = 0; i < LIVE_BUCKETS && err == 0; i++) {
		size_t n = (first + i) % LIVE_BUCKETS;

		drop_unused(l, &l->buckets[n]);
		for (struct engine_file *f = l->buckets[n]; f && err == 0; f = f->next) {
			bool is_new = f->slot_count == 0 && !f->is_bad && f->tries < TRIES;

			if (only_new && !is_new)
				continue;
			if (f->users == 0 && !is_new) {
				if (unused++ >= UNUSED_AT_ONCE)
					continue;
				l->turn = n + 1;
			}
			err = look_at_file(l, f);
			l->came_dead += is_new && f->slot_count > 0 && f->users == 0;
		}
	}
	return err;
}

/* ---- where they come from ---- */

static int visit_file(
    void *context, const struct roster_place *at, const char *name, uint64_t inode)
{
	struct engine *l = context;
	struct engine_file *f = find_file(l, at->device, inode);

	if (f && f->users == 0 && f->place == at->number && strcmp(f->name, name) != 0) {
		f->is_gone = true; /* a new file with an old inode */
		f = NULL;
	}
	if (!f) {
		f = add_file(l, at->device, inode, name);
		if (!f)
			return l->file_count < FILES_MAX ? -ENOMEM : 0;
	}
	if (f->place != at->number) { /* also one that a map has led to */
		char *copy = strdup(name);

		if (!copy)
			return -ENOMEM;
		free(f->name);
		f->name = copy;
		f->place = at->number;
	}
	f->seen = l->generation;
	return 0;
}

/* All files of this place have been shown: the others are gone. */
static void visit_all(void *context, const struct roster_place *at)
{
	struct engine *l = context;

	for (size_t i = 0; i < LIVE_BUCKETS; i++)
		for (struct engine_file *f = l->buckets[i]; f; f = f->next)
			if (f->place == at->number && f->seen != l->generation)
				f->is_gone = true;
	l->generation++;
}

static bool is_known(void *context, pid_t pid)
{
	return engine_member_running(context, pid) != NULL;
}

/* The segment of a process, wherever that is. */
static int take_process(void *context, pid_t pid)
{
	struct engine *l = context;
	const struct source *source;
	struct segfile *seg;
	struct engine_file *f;
	char path[4096];
	int slot, err;

	if (proc_open(pid, &seg, &slot, path, NULL) < 0)
		return 0;
	source = segfile_source(seg);
	f = find_file(l, source->device, source->inode);
	if (!f) {
		f = add_file(l, source->device, source->inode, path);
		if (f)
			f->pid = pid;
	}
	if (!f) {
		segfile_close(seg);
		return l->file_count < FILES_MAX ? -ENOMEM : 0;
	}
	if (!f->open && l->fds_left > 0) {
		f->open = seg; /* its path may lead nowhere later */
		l->fds_left--;
		seg = NULL;
	}
	segfile_close(seg);
	err = look_at_file(l, f);
	/*
	 * A process of another pid namespace is taken at the second look only,
	 * and nobody lists this file, so there is no other occasion.
	 */
	if (err == 0 && f->users == 0)
		err = look_at_file(l, f);
	/* without a name that we could list, it goes with its processes */
	f->is_gone |= f->place == 0;
	return err;
}

static int look_for_pids(struct engine *l)
{
	int err = 0;

	if (l->now_ns < l->next_pids_ns)
		return 0;
	l->next_pids_ns = l->now_ns + PIDS_MS * LIVE_MS;
	for (size_t i = 0; i < l->plan.pid_count && err == 0; i++) {
		struct procfs_stat stat;

		if (engine_member_running(l, l->pids[i]) || procfs_stat(l->pids[i], &stat) < 0)
			continue;
		if (l->pid_starts[i] == 0)
			l->pid_starts[i] = stat.start_jiffies;
		/* else the pid is that of another process by now */
		if (l->pid_starts[i] == stat.start_jiffies)
			err = take_process(l, l->pids[i]);
	}
	return err;
}

static int look_for_newcomers(struct engine *l)
{
	bool is_first = l->next_newcomers_ns == 0;

	if (!l->want_newcomers || l->now_ns < l->next_newcomers_ns)
		return 0;
	l->next_newcomers_ns = l->now_ns + NEWCOMERS_MS * LIVE_MS;
	return roster_newcomers_look(l->newcomers,
	    (is_first ? NEWCOMERS_FIRST_MS : NEWCOMERS_MORE_MS) * LIVE_MS, is_known, take_process,
	    l);
}

int roster_look(struct engine *l, bool only_new)
{
	const struct roster_visitor v = {.context = l, .file = visit_file, .all = visit_all};
	int err = 0;

	if (!only_new)
		l->unlisted = 0;
	if (l->places)
		err = roster_places_look(l->places, &v);
	if (err == 0)
		err = look_at_files(l, only_new);
	if (err == 0 && l->pids)
		err = look_for_pids(l);
	if (err == 0 && !only_new)
		err = look_for_newcomers(l);
	proc_cache_free(l->cache);
	l->cache = NULL;
	return err;
}
