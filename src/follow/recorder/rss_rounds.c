/* rss_rounds.c - record --rss: reads resident pages while the tree runs. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "follow/recorder/leaks.h"

#include "recording/parts/rss_account.h"
#include "segments/read/segfile.h"
#include "follow/recorder/leaks_look.h"
#include "kit/os/clock.h"
#include "kit/data/dict.h"
#include "kit/data/room.h"

#define MS UINT64_C(1000000)

enum {
	FIRST_MS = 1000, /* the first round, so that short runs have one */
	POLL_MS = 10,    /* while a child reads */
	WAIT_MAX_MS = 1000,
	LOAD = 100, /* rest this many times as long as a round took */
	PROCESSES_MAX = 4096,
	SHARE = 10,       /* readings have at most this part of the recording */
	END_BYTES = 8192, /* that a recording gets at its end, at least */
	LEVEL = 19,       /* of compression: there are few bytes */
	UUID_BYTES = 16,
};

/* A process that is to be read in this round. */
struct item {
	char *dir, *name;
	int slot;
	uint8_t uuid[UUID_BYTES];
};

/* The last reading of a process, if it is not in the recording yet. */
struct kept {
	uint8_t uuid[UUID_BYTES];
	uint8_t *bytes; /* NULL: it is written */
	size_t len;
};

struct rss {
	struct rss_plan plan;
	struct item *items;
	size_t count, room, at; /* at: the one that is read, or the next one */
	bool is_reading;
	struct leaks_look look;
	uint64_t begin_ns; /* of this round */
	uint64_t next_ns;
	struct kept *kept;
	size_t kept_count, kept_room;
	struct dict kept_index;
	uint64_t written; /* bytes of entries in this recording */
};

/* ---- which processes ---- */

static void drop_items(struct rss *r)
{
	for (size_t i = 0; i < r->count; i++) {
		free(r->items[i].dir);
		free(r->items[i].name);
	}
	r->count = r->at = 0;
}

static int add_item(
    struct rss *r, const char *dir, const char *name, int slot, const struct seg_header *h)
{
	struct item x = {.slot = slot};
	int err;

	if (strcmp(h->session, r->plan.segment_dir->session) != 0 || h->state == SEG_INERT ||
	    h->end_kind == SEG_END_EXITED || (r->plan.alone && (pid_t)h->pid != r->plan.alone) ||
	    r->count == PROCESSES_MAX)
		return 0;
	err = room_make(&r->items, &r->room, r->count, sizeof(x));
	if (err < 0)
		return err;
	memcpy(x.uuid, h->uuid, UUID_BYTES);
	x.dir = strdup(dir);
	x.name = strdup(name);
	if (!x.dir || !x.name) {
		free(x.dir);
		free(x.name);
		return -ENOMEM;
	}
	r->items[r->count++] = x;
	return 0;
}

static int visit(void *context, int dir_fd, const char *dir, const char *name)
{
	struct rss *r = context;
	uint8_t taken[SEGFILE_SLOTS];
	struct segfile *f;
	struct seg_header h;
	int err = 0;

	(void)dir_fd;
	if (segment_dir_open_file(dir, name, &f) < 0)
		return 0; /* being set up, or gone */
	if (segfile_header(f, SEGFILE_OWN, &h, NULL) == 0)
		err = add_item(r, dir, name, SEGFILE_OWN, &h);
	segfile_taken(f, taken);
	for (int i = 0; i < segfile_slots(f) && err == 0; i++)
		if (taken[i] && !segfile_is_early(f, i) && segfile_header(f, i, &h, NULL) == 0)
			err = add_item(r, dir, name, i, &h);
	segfile_close(f);
	return err;
}

/* ---- results ---- */

static bool same_kept(const void *items, uint32_t item, const void *key)
{
	return memcmp(((const struct kept *)items)[item].uuid, key, UUID_BYTES) == 0;
}

static void append(struct rss *r, const uint8_t *uuid, const uint8_t *bytes, size_t len)
{
	uint64_t before = recording_size(r->plan.writer);

	/* an error sticks in the writer */
	(void)recording_append_packed(
	    r->plan.writer, RECORDING_RESIDENCE, uuid, UUID_BYTES, bytes, len, LEVEL);
	r->written += recording_size(r->plan.writer) - before;
}

/* Untrusted: the child has read hostile memory. Takes `bytes` over. */
static int keep(struct rss *r, const uint8_t *uuid, uint8_t *bytes, size_t len)
{
	struct rss_account check;
	uint32_t at = 0;
	int err = rss_account_decode(bytes, len, &check);

	if (err < 0) {
		free(bytes);
		return err == -ENOMEM ? err : 0;
	}
	rss_account_release(&check);
	err = room_make(&r->kept, &r->kept_room, r->kept_count, sizeof(*r->kept));
	if (err == 0)
		err = dict_find(&r->kept_index, dict_hash_bytes(uuid, UUID_BYTES), same_kept,
		    r->kept, uuid, (uint32_t)r->kept_count, &at);
	if (err < 0) {
		free(bytes);
		return err;
	}
	if (at == r->kept_count) {
		r->kept[r->kept_count] = (struct kept){.bytes = NULL};
		memcpy(r->kept[r->kept_count++].uuid, uuid, UUID_BYTES);
	}
	free(r->kept[at].bytes); /* a later one is there */
	r->kept[at].bytes = NULL;
	/* the end states and names come on top of what is there now */
	if (r->written <= (recording_size(r->plan.writer) + END_BYTES) / (SHARE + 1)) {
		append(r, uuid, bytes, len);
		free(bytes);
		return 0;
	}
	r->kept[at].bytes = bytes;
	r->kept[at].len = len;
	return 0;
}

void rss_rounds_finish(struct rss *r)
{
	for (size_t i = 0; i < r->kept_count; i++) {
		struct kept *x = &r->kept[i];

		if (x->bytes)
			append(r, x->uuid, x->bytes, x->len);
		free(x->bytes);
		x->bytes = NULL;
	}
}

/* ---- steps ---- */

/* Starts to read the next process that still runs. */
static void start(struct rss *r)
{
	while (r->at < r->count && !r->is_reading) {
		const struct item *x = &r->items[r->at];
		uint64_t start_ns;

		r->is_reading = leaks_look_start_at(&r->look, x->dir, x->name, x->slot, x->uuid,
		                    LEAKS_LOOK_PAGES, &start_ns) == 0;
		if (!r->is_reading)
			r->at++;
	}
}

/*
 * The round is over: the next one is not before it is paid for. All of it counts:
 * finding the processes, reading, compressing.
 */
static void end_round(struct rss *r)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);
	uint64_t rest = (now - r->begin_ns) * LOAD;

	drop_items(r);
	r->next_ns = now + (rest > r->plan.every_ns ? rest : r->plan.every_ns);
}

static int poll_look(struct rss *r)
{
	int err = leaks_look_poll(&r->look);

	if (err == 0)
		return 0;
	if (err == 1) {
		uint8_t *bytes = r->look.bytes;
		size_t len = r->look.len;

		r->look.bytes = NULL;
		err = keep(r, r->items[r->at].uuid, bytes, len);
	} else {
		err = 0; /* it has ended, or cannot be read now */
	}
	leaks_look_release(&r->look);
	r->is_reading = false;
	r->at++;
	return err;
}

int rss_rounds_step(struct rss *r)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);
	int err = 0;

	if (r->is_reading) {
		err = poll_look(r);
	} else if (r->count == 0 && now >= r->next_ns) {
		r->begin_ns = now;
		err = segment_dir_walk(r->plan.segment_dir, visit, r);
	} else if (r->count == 0) {
		return 0;
	}
	if (err < 0)
		return err;
	if (!r->is_reading)
		start(r);
	if (!r->is_reading)
		end_round(r);
	return 0;
}

int rss_rounds_wait_ms(const struct rss *r)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);

	if (r->is_reading)
		return POLL_MS;
	if (now >= r->next_ns)
		return 0;
	return r->next_ns - now > WAIT_MAX_MS * MS ? WAIT_MAX_MS
	                                           : (int)((r->next_ns - now) / MS) + 1;
}

void rss_rounds_turn(struct rss *r, struct recording_writer *writer)
{
	r->plan.writer = writer;
	r->written = 0;
}

int rss_rounds_new(const struct rss_plan *plan, struct rss **ret)
{
	struct rss *r = calloc(1, sizeof(*r));

	if (!r)
		return -ENOMEM;
	r->plan = *plan;
	r->look.fd = -1;
	r->next_ns = clock_ns(CLOCK_MONOTONIC) +
	    (plan->every_ns < FIRST_MS * MS ? plan->every_ns : FIRST_MS * MS);
	*ret = r;
	return 0;
}

void rss_rounds_free(struct rss *r)
{
	if (!r)
		return;
	leaks_look_release(&r->look);
	drop_items(r);
	for (size_t i = 0; i < r->kept_count; i++)
		free(r->kept[i].bytes);
	dict_release(&r->kept_index);
	free(r->kept);
	free(r->items);
	free(r);
}
