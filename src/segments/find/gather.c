/* gather.c - the segments of dead processes: read once, then given back. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "segments/find/gather.h"

#include "host/proc/folder.h"
#include "segments/find/free_slots.h"
#include "segments/find/proc.h"
#include "segments/find/procs.h"
#include "segments/find/segment_dir.h"
#include "kit/data/room.h"
#include "segments/find/gather_parts.h"

enum {
	SAVED_MAX = 100000, /* keys in a file */
	ROOM_FILES = 4096,  /* whose size is asked for between two rounds */
};

/* ---- keys ---- */

static bool same_key(const void *items, uint32_t item, const void *key)
{
	return memcmp((const struct live_key *)items + item, key, sizeof(struct live_key)) == 0;
}

bool gather_has_key(const struct gather_keys *k, const struct live_key *key)
{
	uint32_t at;

	return k->count > 0 &&
	    dict_seek(&k->dict, dict_hash_bytes(key, sizeof(*key)), same_key, k->list, key, &at);
}

int gather_add_key(struct gather_keys *k, const struct live_key *key)
{
	uint32_t at = 0;
	int err = room_make(&k->list, &k->room, k->count, sizeof(*k->list));

	if (err == 0)
		err = dict_find(&k->dict, dict_hash_bytes(key, sizeof(*key)), same_key, k->list,
		    key, (uint32_t)k->count, &at);
	if (err < 0 || at < k->count)
		return err;
	k->list[k->count++] = *key;
	return 0;
}

void gather_release_keys(struct gather_keys *k)
{
	dict_release(&k->dict);
	free(k->list);
	*k = (struct gather_keys){0};
}

int gather_note(struct gather *g, const struct segfile *f, int slot, const uint8_t uuid[16])
{
	struct live_key k = segfile_key(f, slot, uuid);

	g->counts.written++;
	return gather_add_key(&g->done, &k);
}

bool gather_is_noted(
    const struct gather *g, const struct segfile *f, int slot, const uint8_t uuid[16])
{
	struct live_key k = segfile_key(f, slot, uuid);

	return gather_has_key(&g->done, &k) || gather_has_key(&g->refused, &k);
}

/* ---- who is there ---- */

static int add_candidate(struct gather *g, size_t file, int slot)
{
	struct gather_file *f = &g->files[file];
	struct gather_candidate *c;
	struct live_key key;
	int err;

	err = room_make(
	    &g->candidates, &g->candidate_room, g->candidate_count, sizeof(*g->candidates));
	if (err < 0)
		return err;
	c = &g->candidates[g->candidate_count];
	*c = (struct gather_candidate){.file = file,
	    .row = {.file = f->file, .slot = slot, .own = &f->own, .may_remove = f->may_remove}};
	/* no header yet: it is being set up, and will be there next time */
	if (segfile_header(f->file, slot, &c->row.header, NULL) < 0)
		return 0;
	key = segfile_key(f->file, slot, c->row.header.uuid);
	c->is_done = gather_has_key(&g->done, &key);
	if (gather_has_key(&g->refused, &key)) {
		c->is_done = true;
		c->row.may_remove = false;
	}
	g->candidate_count++;
	return 0;
}

static int find_candidates(struct gather *g, size_t file)
{
	const struct gather_hooks *hooks = &g->plan.hooks;
	struct gather_file *f = &g->files[file];
	const struct source *s = segfile_source(f->file);
	uint8_t taken[SEGFILE_SLOTS];
	int err = 0;

	f->taken = 0;
	segfile_taken(f->file, taken);
	for (int slot = SEGFILE_OWN; slot < segfile_slots(f->file) && err == 0; slot++) {
		if (slot >= 0 && !taken[slot])
			continue;
		f->taken++;
		if (!hooks->runs(hooks->context, s->device, s->inode, slot))
			err = add_candidate(g, file, slot);
	}
	return err;
}

/* ---- who is dead ---- */

/* The header was read before the list was made, so a process that lives is in it. */
static bool is_dead(const struct procs *procs, struct gather_row *row)
{
	enum proc_state state = procs_check(procs, &row->header, segfile_source(row->file), false);

	row->has_called_exec = state == PROC_EXEC && row->header.start_jiffies != 0;
	return state == PROC_NO || state == PROC_EXEC;
}

/* ---- writing and giving back ---- */

static int by_start(const void *left, const void *right)
{
	const struct gather_candidate *a = left, *b = right;
	uint64_t x = a->row.header.start_monotonic_ns;
	uint64_t y = b->row.header.start_monotonic_ns;

	return x < y ? -1 : x > y;
}

static int write_dead(struct gather *g, const struct procs *procs)
{
	const struct gather_hooks *hooks = &g->plan.hooks;

	for (size_t i = 0; i < g->candidate_count; i++) {
		struct gather_candidate *c = &g->candidates[i];
		const struct gather_file *f = &g->files[c->file];
		int dir = g->directories[f->directory].fd, answer = 0;

		if (segment_dir_is_recorded(dir, c->row.header.session))
			continue;
		c->is_dead = is_dead(procs, &c->row);
		if (!c->is_dead || c->is_done)
			continue;
		/* a collector that declined to trace has no figures */
		if (c->row.header.state != SEG_INERT)
			answer = hooks->write(hooks->context, &c->row);
		if (answer == -ENOMEM)
			return answer;
		c->is_written = answer == 0;
		g->counts.written += answer == 0;
		if (answer > 0) {
			/* never again, and never removed by us */
			struct live_key key =
			    segfile_key(c->row.file, c->row.slot, c->row.header.uuid);

			g->counts.unreadable++;
			c->row.may_remove = false;
			if (gather_add_key(&g->refused, &key) < 0)
				return -ENOMEM;
		}
	}
	hooks->sync(hooks->context);
	return 0;
}

/* Locks a file before the first slot of it is given back. */
static bool lock_file(struct gather *g, struct gather_file *f)
{
	int dir = g->directories[f->directory].fd;

	if (!f->was_locked) {
		f->was_locked = true;
		f->is_locked = free_slots_begin_as_root(&f->slots, dir, f->name, f->file) == 0;
	}
	return f->is_locked;
}

static void give_back(struct gather *g, struct gather_candidate *c)
{
	struct gather_file *f = &g->files[c->file];

	if (!c->row.may_remove)
		return;
	if (c->row.slot == SEGFILE_OWN) {
		f->taken--;
	} else if (lock_file(g, f) &&
	    free_slots_give(&f->slots, f->file, c->row.slot, c->row.header.uuid)) {
		f->taken--;
		c->is_given = true;
		g->counts.slots_freed++;
	}
}

static void unlock_files(struct gather *g)
{
	for (size_t i = 0; i < g->file_count; i++) {
		struct gather_file *f = &g->files[i];

		if (f->is_locked)
			free_slots_end(&f->slots);
		f->is_locked = false;
		f->was_locked = false;
	}
}

/* Keeps the keys of what is still there, and only those. */
static int keep_keys(struct gather *g)
{
	struct gather_keys done = {0}, refused = {0};
	int err = 0;

	for (size_t i = 0; i < g->candidate_count && err == 0; i++) {
		const struct gather_candidate *c = &g->candidates[i];
		struct live_key key = segfile_key(c->row.file, c->row.slot, c->row.header.uuid);

		if (gather_has_key(&g->refused, &key))
			err = gather_add_key(&refused, &key);
		else if (c->is_done)
			err = gather_add_key(&done, &key);
	}
	if (err < 0) {
		gather_release_keys(&done);
		gather_release_keys(&refused);
		return err;
	}
	gather_release_keys(&g->done);
	gather_release_keys(&g->refused);
	g->done = done;
	g->refused = refused;
	return 0;
}

/* ---- others who read ---- */

static bool has_candidate(const struct gather_keys *k, const struct gather_candidate *c)
{
	struct live_key key = segfile_key(c->row.file, c->row.slot, c->row.header.uuid);

	return gather_has_key(k, &key);
}

/* What was offered is read. Only what is still there is remembered. */
static int note_read(struct gather *g)
{
	struct gather_keys read = {0};
	int err = 0;

	for (size_t i = 0; i < g->candidate_count && err == 0; i++) {
		const struct gather_candidate *c = &g->candidates[i];
		struct live_key key = segfile_key(c->row.file, c->row.slot, c->row.header.uuid);

		if (gather_has_key(&g->read, &key) || gather_has_key(&g->offered, &key))
			err = gather_add_key(&read, &key);
	}
	if (err < 0) {
		gather_release_keys(&read);
		return err;
	}
	gather_release_keys(&g->read);
	gather_release_keys(&g->offered);
	g->read = read;
	return 0;
}

/* All that is safe, and that nobody else has read. */
static int offer(struct gather *g)
{
	const struct gather_hooks *hooks = &g->plan.hooks;
	int err = 0;

	for (size_t i = 0; i < g->candidate_count && err == 0 && g->offered.count < GATHER_KEYS;
	     i++) {
		const struct gather_candidate *c = &g->candidates[i];
		struct live_key key = segfile_key(c->row.file, c->row.slot, c->row.header.uuid);

		if (c->is_dead && c->is_done && !c->is_given && c->row.may_remove &&
		    !gather_has_key(&g->read, &key))
			err = gather_add_key(&g->offered, &key);
	}
	if (err == 0 && g->offered.count > 0)
		hooks->offer(hooks->context, g->offered.list, g->offered.count);
	return err;
}

/* Those that are safe: slots, then files that nobody is in any more. */
static int give_all_back(struct gather *g)
{
	const struct gather_hooks *hooks = &g->plan.hooks;
	bool is_alone = !hooks->offer;
	bool is_read = !is_alone && hooks->has_read(hooks->context);
	int err = is_read ? note_read(g) : 0;

	if (err < 0)
		return err;
	for (size_t i = 0; i < g->candidate_count; i++) {
		struct gather_candidate *c = &g->candidates[i];

		if (c->is_written &&
		    (c->row.header.state == SEG_INERT || hooks->is_safe(hooks->context, &c->row)))
			c->is_done = true;
		if (c->is_dead && c->is_done && (is_alone || has_candidate(&g->read, c)))
			give_back(g, c);
	}
	unlock_files(g);
	err = keep_keys(g);
	if (is_read && err == 0)
		err = offer(g);
	for (size_t i = 0; i < g->file_count && err == 0; i++) {
		struct gather_file *f = &g->files[i];
		const struct source *s = segfile_source(f->file);
		const struct gather_directory *d = &g->directories[f->directory];

		if (f->taken > 0 || !f->may_remove ||
		    in_use_check(d->fd, f->name, s->device, s->inode) != IN_USE_NO)
			continue; /* a forked child may still count there */
		if (segment_dir_remove(d->fd, f->name, s->device, s->inode)) {
			g->counts.files_removed++;
			/* its room is given back with the last descriptor */
			segfile_close(f->file);
			f->file = NULL;
		}
		folder_remove_note(d->path);
	}
	return err;
}

/* A round that finds nobody costs no look at /proc. */
static bool has_work(const struct gather *g)
{
	for (size_t i = 0; i < g->candidate_count; i++)
		if (!g->candidates[i].is_done || g->candidates[i].row.may_remove)
			return true;
	return false;
}

int gather_round(struct gather *g, size_t *ret_waiting)
{
	struct procs procs = {0};
	int err;

	g->candidate_count = 0;
	err = gather_walk(g);
	for (size_t i = 0; i < g->file_count && err == 0; i++)
		err = find_candidates(g, i);
	*ret_waiting = g->candidate_count;
	if (err < 0 || !has_work(g))
		return err;
	qsort(g->candidates, g->candidate_count, sizeof(*g->candidates), by_start);
	err = procs_init(&procs, 0, NULL);
	if (err == 0)
		err = write_dead(g, &procs);
	if (err == 0)
		err = give_all_back(g);
	procs_release(&procs);
	for (size_t i = 0; i < g->candidate_count; i++)
		*ret_waiting -= g->candidates[i].is_done;
	return err;
}

uint64_t gather_room(const struct gather *g)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < g->file_count && i < ROOM_FILES; i++) {
		struct stat st;

		if (g->files[i].file && fstat(segfile_source(g->files[i].file)->fd, &st) == 0)
			sum += (uint64_t)st.st_blocks * 512;
	}
	return sum;
}

struct gather_counts gather_counts(const struct gather *g)
{
	return g->counts;
}

/* ---- what outlives us ---- */

int gather_save(const struct gather *g, int dir_fd, const char *name)
{
	char temp[64];
	int fd, err = 0;
	FILE *f;

	(void)snprintf(temp, sizeof(temp), "%.50s.new", name);
	fd = openat(dir_fd, temp, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
	f = fd < 0 ? NULL : fdopen(fd, "w");
	if (!f) {
		err = -errno;
		if (fd >= 0)
			close(fd);
		return err;
	}
	for (size_t i = 0; i < g->done.count && i < SAVED_MAX; i++) {
		const struct live_key *k = &g->done.list[i];

		for (size_t n = 0; n < sizeof(k->uuid); n++)
			(void)fprintf(f, "%02x", k->uuid[n]);
		(void)fprintf(f, " %llx %llx %lld\n", (unsigned long long)k->device,
		    (unsigned long long)k->inode, (long long)k->slot);
	}
	if (fflush(f) != 0 || (fsync(fd) < 0 && errno != EINVAL))
		err = -errno;
	if (fclose(f) != 0 && err == 0)
		err = -errno;
	if (err == 0 && renameat(dir_fd, temp, dir_fd, name) < 0)
		err = -errno;
	if (err < 0)
		(void)unlinkat(dir_fd, temp, 0);
	return err;
}

/* 32 hexadecimal digits. */
static bool read_uuid(const char *text, uint8_t uuid[16])
{
	if (strspn(text, "0123456789abcdef") != 32)
		return false;
	for (size_t i = 0; i < 16; i++) {
		char digits[3] = {text[2 * i], text[2 * i + 1], '\0'};

		uuid[i] = (uint8_t)strtoul(digits, NULL, 16);
	}
	return true;
}

int gather_load(struct gather *g, int dir_fd, const char *name)
{
	int fd = openat(dir_fd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "r");
	char line[128];
	int err = 0;

	if (!f) {
		if (fd >= 0)
			close(fd);
		return 0; /* nothing is known, so all is written again */
	}
	for (int i = 0; err == 0 && i < SAVED_MAX && fgets(line, sizeof(line), f); i++) {
		struct live_key k = {0};
		unsigned long long device, inode;
		char *end;

		if (!read_uuid(line, k.uuid) || line[32] != ' ')
			continue;
		device = strtoull(line + 33, &end, 16);
		inode = strtoull(end, &end, 16);
		k.device = device;
		k.inode = inode;
		k.slot = strtoll(end, &end, 10);
		err = gather_add_key(&g->done, &k);
	}
	(void)fclose(f);
	return err;
}

int gather_new(const struct gather_plan *plan, struct gather **ret)
{
	struct gather *g = calloc(1, sizeof(*g));

	if (!g)
		return -ENOMEM;
	g->plan = *plan;
	*ret = g;
	return 0;
}

void gather_free(struct gather *g)
{
	if (!g)
		return;
	gather_walk_release(g);
	gather_release_keys(&g->done);
	gather_release_keys(&g->refused);
	gather_release_keys(&g->offered);
	gather_release_keys(&g->read);
	free(g->candidates);
	free(g);
}
