/* leaks.c - record --leaks: looks for lost blocks while the tree runs. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "follow/recorder/leaks.h"

#include "analysis/score/score.h"
#include "follow/recorder/leaks_look.h"
#include "kit/data/capped.h"
#include "kit/data/dict.h"
#include "kit/data/room.h"
#include "kit/os/clock.h"
#include "recording/parts/verdicts.h"
#include "segments/find/dead.h"
#include "segments/find/segment_dir.h"
#include "segments/read/segfile.h"
#include "session/load/session.h"

#define MS UINT64_C(1000000)

enum {
	BEAT_MS = 400,
	FAST_MS = 5,  /* between steps while something happens */
	SLOW_MS = 20, /* between later steps */
	FAST_FOR_MS = 2000,
	LOAD = 20,               /* rest this many times as long as a step took */
	LOOKS_AT_ONCE = 4,       /* at waiting processes; at running ones: 1 */
	INVENTORIES_AT_ONCE = 4, /* of processes that have ended */
	FINISH_MS = 10000,
	FILES_MAX = 100000,
	AGAIN_MS = 50, /* until a file that cannot be opened is tried again */
	LEVEL = 3,     /* of compression */
};

/*
 * A segment file; its processes share a control block. A child that ends without
 * an event leaves its name to the next one, so there may be another file by that
 * name at any moment.
 */
struct file {
	char *dir, *name;
	struct exit_wait *wait; /* NULL: not open */
	uint64_t device, inode; /* if it is known */
	bool is_known, is_ours;
	uint64_t seen_ns;  /* the last step in which it was there */
	uint64_t again_ns; /* it could not be opened: not before this */
};

/* A process of the tree, as the program that it runs now. */
struct item {
	uint8_t uuid[16];
	uint32_t file;
	int slot;
	uint64_t next_ns;                 /* when it is to be looked at */
	bool is_judged;                   /* the recording has a verdict on it */
	uint64_t lost_blocks, lost_bytes; /* if so: of class LEAK, its own */
	bool has_lost_inherited;          /* and blocks from before the fork */
	uint32_t first_id;                /* of its own sites */
	bool has_no_room;                 /* the recording says that there is none */
	bool has_ended;                   /* it went on to its end, after a look at its exit */
	bool at_exit;                     /* the running look is one at its exit */
	bool is_said;                     /* it has said its verdicts, which were kept */
	struct leaks_look look;
};

struct leaks {
	struct leaks_plan plan;
	struct file *files;
	size_t file_count, file_room;
	struct dict file_index;
	struct item *items;
	size_t item_count, item_room;
	struct dict item_index;
	uint64_t now_ns, next_step_ns, next_beat_ns, fast_until_ns;
	size_t waiting; /* in this step: processes that wait at exit */
};

/* ---- the beat that says that we are there ---- */

/* Processes read it when they start, see first_beat() in collector/segment/place.c. */
void leaks_announce(const struct segment_dir *segment_dir)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);

	/*
	 * a process that cannot read it does not wait before we have found it
	 */
	if (pwrite(segment_dir->lock_fd, &now, sizeof(now), offsetof(struct ctl_block, heartbeat)) <
	    0)
		return;
}

static void beat(struct leaks *l)
{
	if (l->now_ns < l->next_beat_ns)
		return;
	l->next_beat_ns = l->now_ns + BEAT_MS * MS;
	leaks_announce(l->plan.segment_dir);
	for (size_t i = 0; i < l->file_count; i++)
		if (l->files[i].wait)
			(void)exit_hold_beat(l->files[i].wait);
}

/* ---- files ---- */

static bool same_file(const void *items, uint32_t item, const void *key)
{
	const struct file *x = (const struct file *)items + item;
	const struct file *y = key;

	return strcmp(x->name, y->name) == 0 && strcmp(x->dir, y->dir) == 0;
}

static int visit(void *context, int dir_fd, const char *dir, const char *name)
{
	struct leaks *l = context;
	struct file key = {.dir = strdup(dir), .name = strdup(name), .seen_ns = l->now_ns};
	uint32_t at = 0;
	int err = -ENOMEM;

	(void)dir_fd;
	if (!key.dir || !key.name)
		goto out;
	err = 0;
	if (l->file_count >= FILES_MAX)
		goto out;
	err = room_make(&l->files, &l->file_room, l->file_count, sizeof(key));
	if (err == 0)
		err = dict_find(&l->file_index,
		    dict_hash(dict_hash_text(dir), dict_hash_text(name), 3), same_file, l->files,
		    &key, (uint32_t)l->file_count, &at);
	if (err == 0 && at < l->file_count)
		l->files[at].seen_ns = l->now_ns;
	if (err < 0 || at < l->file_count)
		goto out;
	l->files[l->file_count++] = key;
	return 0;
out:
	free(key.dir);
	free(key.name);
	return err;
}

/* What is known of it is no longer true. */
static void forget_file(struct file *x)
{
	exit_hold_close(x->wait);
	x->wait = NULL;
	x->is_known = x->is_ours = false;
}

/*
 * Finds out to whom a file belongs. From then on its processes know that we are
 * here.
 */
static void get_to_know(struct leaks *l, struct file *x, const struct segfile *seg)
{
	const struct source *source = segfile_source(seg);
	struct seg_header h;
	int dir;

	if (x->is_known && (x->device != source->device || x->inode != source->inode))
		forget_file(x);
	if (x->is_known || segfile_header(seg, SEGFILE_OWN, &h, NULL) < 0)
		return;
	x->is_known = true;
	x->device = source->device;
	x->inode = source->inode;
	x->is_ours = strcmp(h.session, l->plan.segment_dir->session) == 0;
	dir = x->is_ours ? segment_dir_reopen(x->dir) : -1;
	if (dir < 0)
		return;
	if (exit_hold_open(dir, x->name, &x->wait) < 0)
		x->wait = NULL;
	else
		(void)exit_hold_beat(x->wait);
	close(dir);
	l->fast_until_ns = l->now_ns + FAST_FOR_MS * MS;
}

/* ---- processes ---- */

static bool same_item(const void *items, uint32_t item, const void *key)
{
	return memcmp(((const struct item *)items)[item].uuid, key, 16) == 0;
}

static int item_of(struct leaks *l, const uint8_t uuid[16], struct item **ret)
{
	uint32_t at = 0;
	int err;

	err = room_make(&l->items, &l->item_room, l->item_count, sizeof(*l->items));
	if (err == 0)
		err = dict_find(&l->item_index, dict_hash_bytes(uuid, 16), same_item, l->items,
		    uuid, (uint32_t)l->item_count, &at);
	if (err < 0)
		return err;
	if (at == l->item_count) {
		l->items[at] =
		    (struct item){.next_ns = l->now_ns + l->plan.every_ns, .look.fd = -1};
		memcpy(l->items[at].uuid, uuid, 16);
		l->item_count++;
		l->fast_until_ns = l->now_ns + FAST_FOR_MS * MS;
	}
	*ret = &l->items[at];
	return 0;
}

static size_t looks_under_way(const struct leaks *l, bool at_exit)
{
	size_t n = 0;

	for (size_t i = 0; i < l->item_count; i++)
		n += l->items[i].look.worker > 0 && l->items[i].at_exit == at_exit;
	return n;
}

/* Looks whose process has gone on, and that make an inventory of it. */
static size_t inventories_under_way(const struct leaks *l)
{
	size_t n = 0;

	for (size_t i = 0; i < l->item_count; i++)
		n += l->items[i].look.worker > 0 && l->items[i].is_said && l->items[i].at_exit;
	return n;
}

/*
 * A failure gives no verdict, but a process that waits may go on all the same.
 */
static void start_look(struct leaks *l, struct item *x, const struct segfile *seg,
    const struct seg_header *h, bool at_exit)
{
	struct file *file = &l->files[x->file];
	/* where many end at once, some have no inventory, but none waits */
	const struct leaks_look_more *more =
	    inventories_under_way(l) < INVENTORIES_AT_ONCE ? l->plan.more : NULL;
	pid_t pid = 0;

	x->at_exit = at_exit;
	x->is_said = false;
	if (session_end(h, segfile_source(seg), &pid) == PROCESS_RUNNING && pid > 0 &&
	    leaks_look_start(&x->look, seg, x->slot, h, pid,
	        at_exit ? LEAKS_LOOK_AT_EXIT : LEAKS_LOOK_RUNNING, more) == 0)
		return;
	if (at_exit) {
		x->has_ended = true;
		(void)exit_hold_end(file->wait, h);
	}
}

static int look_at_process(
    struct leaks *l, uint32_t file, const struct segfile *seg, int slot, const struct seg_header *h)
{
	bool waits = exit_hold_is_on(h) && l->files[file].wait;
	struct item *x;
	int err;

	if (l->plan.alone && (pid_t)h->pid != l->plan.alone) {
		/* it has the environment of the command, and sees our beat */
		if (waits)
			(void)exit_hold_end(l->files[file].wait, h);
		return 0;
	}
	err = item_of(l, h->uuid, &x);
	if (err < 0)
		return err;
	x->file = file;
	x->slot = slot;
	x->first_id = h->first_id;
	if (x->has_ended || h->end_kind == SEG_END_EXITED)
		return 0;
	l->waiting += waits;
	if (waits && x->look.worker > 0 && !x->at_exit)
		leaks_look_release(&x->look); /* the end says more */
	if (x->look.worker > 0)
		return 0;
	if (waits) {
		if (looks_under_way(l, true) - inventories_under_way(l) < LOOKS_AT_ONCE)
			start_look(l, x, seg, h, true);
	} else if (l->now_ns >= x->next_ns && h->state != SEG_INERT &&
	    looks_under_way(l, false) == 0) {
		x->next_ns = l->now_ns + l->plan.every_ns;
		start_look(l, x, seg, h, false);
	}
	return 0;
}

static int look_at_file(struct leaks *l, uint32_t number)
{
	struct file *x = &l->files[number];
	uint8_t taken[SEGFILE_SLOTS];
	struct segfile *seg = NULL;
	struct seg_header h;
	int err;

	if (x->seen_ns != l->now_ns) {
		forget_file(x);
		return 0;
	}
	if (l->now_ns < x->again_ns || (x->is_known && !x->is_ours))
		return 0;
	err = segment_dir_open_file(x->dir, x->name, &seg);
	if (err < 0) {
		if (err != -ENODATA) /* otherwise it is being set up */
			x->again_ns = l->now_ns + AGAIN_MS * MS;
		return 0;
	}
	get_to_know(l, x, seg);
	err = 0;
	if (x->is_ours && segfile_header(seg, SEGFILE_OWN, &h, NULL) == 0)
		err = look_at_process(l, number, seg, SEGFILE_OWN, &h);
	if (x->is_ours)
		segfile_taken(seg, taken);
	for (int i = 0; x->is_ours && i < segfile_slots(seg) && err == 0; i++)
		if (taken[i] && !segfile_is_early(seg, i) && segfile_header(seg, i, &h, NULL) == 0)
			err = look_at_process(l, number, seg, i, &h);
	segfile_close(seg);
	return err;
}

/* ---- results ---- */

static void count(struct item *x, const struct verdicts *v)
{
	x->lost_blocks = x->lost_bytes = 0;
	x->has_lost_inherited = false;
	for (size_t i = 0; i < v->count; i++) {
		if (v->sites[i].class != VERDICT_LEAK)
			continue;
		if (v->sites[i].site < x->first_id) {
			x->has_lost_inherited = true;
			continue;
		}
		x->lost_blocks = capped_sum(x->lost_blocks, v->sites[i].blocks);
		x->lost_bytes = capped_sum(x->lost_bytes, v->sites[i].bytes);
	}
}

static void append(struct leaks *l, const struct item *x, enum recording_type type,
    const uint8_t *bytes, size_t len)
{
	/* an error sticks in the writer */
	(void)recording_append_packed(
	    l->plan.writer, type, x->uuid, sizeof(x->uuid), bytes, len, LEVEL);
}

/* The reason alone fits where the places do not. */
static void append_no_room(struct leaks *l, const struct item *x)
{
	const struct verdicts v = {.reason = VERDICT_NO_ROOM};
	uint8_t *bytes;
	size_t len;

	if (verdicts_encode(&v, &bytes, &len) < 0)
		return;
	append(l, x, RECORDING_VERDICTS, bytes, len);
	free(bytes);
}

/* Keeps the earlier verdict if the last look has none. */
static void keep(struct leaks *l, struct item *x)
{
	struct verdicts v;
	const uint8_t *bytes;
	bool is_judged;
	size_t len;

	/* untrusted: the child has read hostile memory */
	if (!leaks_look_part(&x->look, LEAKS_LOOK_VERDICTS, &bytes, &len) ||
	    verdicts_decode(bytes, len, &v) < 0)
		return;
	is_judged = v.reason == VERDICT_JUDGED;
	if (is_judged || !x->is_judged)
		count(x, &v);
	verdicts_release(&v);
	if (x->is_judged && !is_judged)
		return;
	if (!quota_verdicts(l->plan.quota, len, l->plan.writer)) {
		/* nothing at all would say that nobody has looked */
		if (!x->is_judged && !x->has_no_room)
			append_no_room(l, x);
		x->has_no_room = true;
		return;
	}
	x->is_judged = is_judged;
	append(l, x, RECORDING_VERDICTS, bytes, len);
}

static void keep_inventory(struct leaks *l, const struct item *x)
{
	struct inventory v;
	const uint8_t *bytes;
	size_t len;

	if (!leaks_look_part(&x->look, LEAKS_LOOK_INVENTORY, &bytes, &len) ||
	    inventory_decode(bytes, len, &v) < 0)
		return;
	inventory_release(&v);
	if (quota_verdicts(l->plan.quota, len, l->plan.writer))
		append(l, x, RECORDING_INVENTORY, bytes, len);
}

static void let_go(struct leaks *l, struct item *x)
{
	struct file *file = &l->files[x->file];
	struct segfile *seg = NULL;
	struct seg_header h;

	x->has_ended = true;
	if (!file->wait || segment_dir_open_file(file->dir, file->name, &seg) < 0)
		return;
	if (segfile_header(seg, x->slot, &h, NULL) == 0 &&
	    memcmp(h.uuid, x->uuid, sizeof(x->uuid)) == 0)
		(void)exit_hold_end(file->wait, &h);
	segfile_close(seg);
}

static void poll_looks(struct leaks *l)
{
	for (size_t i = 0; i < l->item_count; i++) {
		struct item *x = &l->items[i];
		const uint8_t *bytes;
		size_t len;
		int err;

		if (x->look.worker == 0)
			continue;
		l->fast_until_ns = l->now_ns + FAST_FOR_MS * MS;
		err = leaks_look_poll(&x->look);
		if (!x->is_said &&
		    (err != 0 || leaks_look_part(&x->look, LEAKS_LOOK_VERDICTS, &bytes, &len))) {
			x->is_said = true;
			if (err >= 0)
				keep(l, x);
			if (x->at_exit)
				let_go(l, x);
		}
		if (err == 0)
			continue;
		if (err == 1)
			keep_inventory(l, x);
		leaks_look_release(&x->look);
	}
}

/* ---- steps ---- */

int leaks_wait_ms(const struct leaks *l)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);

	return now >= l->next_step_ns ? 0 : (int)((l->next_step_ns - now) / MS) + 1;
}

int leaks_step(struct leaks *l)
{
	uint64_t cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID), rest_ns;
	int err;

	l->now_ns = clock_ns(CLOCK_MONOTONIC);
	if (l->now_ns < l->next_step_ns)
		return 0;
	poll_looks(l);
	beat(l);
	l->waiting = 0;
	err = segment_dir_walk(l->plan.segment_dir, visit, l);
	for (uint32_t i = 0; i < l->file_count && err == 0; i++)
		err = look_at_file(l, i);
	rest_ns = (clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_ns) * LOAD;
	if (rest_ns < (l->now_ns < l->fast_until_ns ? FAST_MS : SLOW_MS) * MS)
		rest_ns = (l->now_ns < l->fast_until_ns ? FAST_MS : SLOW_MS) * MS;
	if (rest_ns > BEAT_MS * MS)
		rest_ns = BEAT_MS * MS;
	l->next_step_ns = clock_ns(CLOCK_MONOTONIC) + rest_ns;
	return err;
}

void leaks_turn(struct leaks *l, struct recording_writer *writer)
{
	l->plan.writer = writer;
}

int leaks_finish(struct leaks *l)
{
	const struct timespec step = {.tv_nsec = FAST_MS * MS};
	uint64_t until = clock_ns(CLOCK_MONOTONIC) + FINISH_MS * MS;
	int err;

	do {
		l->next_step_ns = 0;
		err = leaks_step(l);
		if (err < 0 || (l->waiting == 0 && looks_under_way(l, true) == 0))
			break;
		(void)nanosleep(&step, NULL);
	} while (clock_ns(CLOCK_MONOTONIC) < until);
	return err;
}

int leaks_new(const struct leaks_plan *plan, struct leaks **ret)
{
	struct leaks *l = calloc(1, sizeof(*l));

	if (!l)
		return -ENOMEM;
	l->plan = *plan;
	l->fast_until_ns = clock_ns(CLOCK_MONOTONIC) + FAST_FOR_MS * MS;
	*ret = l;
	return 0;
}

void leaks_found(const struct leaks *l, struct leaks_found *ret)
{
	*ret = (struct leaks_found){0};
	for (size_t i = 0; i < l->item_count; i++) {
		const struct item *x = &l->items[i];

		ret->judged += x->is_judged;
		ret->leaking += x->lost_blocks > 0;
		ret->inheriting += x->has_lost_inherited;
		ret->blocks = capped_sum(ret->blocks, x->lost_blocks);
		ret->bytes = capped_sum(ret->bytes, x->lost_bytes);
	}
}

void leaks_free(struct leaks *l)
{
	if (!l)
		return;
	for (size_t i = 0; i < l->item_count; i++)
		leaks_look_release(&l->items[i].look);
	for (size_t i = 0; i < l->file_count; i++) {
		exit_hold_close(l->files[i].wait);
		free(l->files[i].dir);
		free(l->files[i].name);
	}
	dict_release(&l->file_index);
	dict_release(&l->item_index);
	free(l->files);
	free(l->items);
	free(l);
}

/* ---- aging_pace: when ages and births of a process are read again ---- */

#define S UINT64_C(1000000000)

enum {
	AGING_PACE_LOAD = 60, /* rest so many times as long as a reading took */
	FIRST_S = 60,
	MOST_S = 600,
	PART = 10, /* again when it is a tenth older */
};

/* Tests see hours pass in seconds. */
static uint64_t real_ns(uint64_t ns)
{
	return (uint64_t)((double)ns / scores_clock());
}

uint64_t aging_pace_first(uint64_t now_ns)
{
	return now_ns + real_ns(FIRST_S * S);
}

uint64_t aging_pace_next(uint64_t now_ns, uint64_t start_ns)
{
	uint64_t least = FIRST_S * S, most = MOST_S * S, wait = least;

	if (now_ns > start_ns)
		wait = (uint64_t)((double)(now_ns - start_ns) * scores_clock() / PART);
	wait = wait < least ? least : wait > most ? most : wait;
	return now_ns + real_ns(wait);
}

uint64_t aging_pace_rest(uint64_t now_ns, uint64_t cpu_ns)
{
	return now_ns + cpu_ns * AGING_PACE_LOAD;
}
