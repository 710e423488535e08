/* drain.c - the event logs of a tree go into its recording. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "follow/recorder/follow.h"

#include "session/events/logread.h"
#include "segments/find/segment_dir.h"
#include "format/seg_log.h"
#include "kit/os/clock.h"

#define MS UINT64_C(1000000)

enum {
	LEVEL = 1,    /* of compression */
	LOOK_MS = 10, /* the first; the others: log_wait_ms() */
	REST_MS = 100,
	FLUSH_MS = 1000,
	FLUSH_WORDS = 512 << 10, /* of one process */
	INDEX_WORDS = 4096,      /* to read fewer takes no time */
	HELD_WORDS = 4 << 20,    /* of all of them */
	NEAR_WORDS = 16 << 10,   /* of all of them, near the limit */
	DRAINS_MAX = 4096,
};

struct one {
	uint8_t uuid[16];
	struct logread *log; /* NULL: it cannot be read, or is over */
	struct logcode held; /* read, and not written yet */
};

struct drain {
	struct one *all;
	size_t count;
	uint64_t limit_bytes;
	uint64_t next_ns, flushed_ns, wait_ms;
	uint64_t held;  /* words, of all */
	uint64_t words; /* that were written */
	struct drain_sums sums;
};

int drain_new(uint64_t limit_bytes, struct drain **ret)
{
	struct drain *d = calloc(1, sizeof(*d));

	if (!d)
		return -ENOMEM;
	d->limit_bytes = limit_bytes;
	d->wait_ms = LOOK_MS;
	*ret = d;
	return 0;
}

static void free_one(struct one *o)
{
	logread_close(o->log);
	logcode_release(&o->held);
}

void drain_free(struct drain *d)
{
	if (!d)
		return;
	for (size_t i = 0; i < d->count; i++)
		free_one(&d->all[i]);
	free(d->all);
	free(d);
}

static struct one *find(struct drain *d, const uint8_t uuid[16])
{
	for (size_t i = 0; i < d->count; i++)
		if (memcmp(d->all[i].uuid, uuid, 16) == 0)
			return &d->all[i];
	return NULL;
}

int drain_add(struct drain *d, const char *dir, const char *name, const struct seg_header *h)
{
	struct one *more;
	int dir_fd;

	if (!d)
		return 0;
	if (h->log_state != SEG_LOG_ON || d->sums.is_full || find(d, h->uuid) ||
	    d->count >= DRAINS_MAX)
		return 0;
	more = reallocarray(d->all, d->count + 1, sizeof(*more));
	if (!more)
		return -ENOMEM;
	d->all = more;
	more += d->count++;
	memset(more, 0, sizeof(*more));
	memcpy(more->uuid, h->uuid, sizeof(more->uuid));
	dir_fd = segment_dir_reopen(dir);
	/* a log that cannot be read is missing, and its events are lost */
	if (dir_fd >= 0 && logread_open(dir_fd, name, h->log_pool, h->uuid, true, &more->log) < 0)
		more->log = NULL;
	if (dir_fd >= 0)
		(void)close(dir_fd);
	d->wait_ms = LOOK_MS;
	return 0;
}

int drain_wait_ms(const struct drain *d)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);

	return now >= d->next_ns ? 0 : (int)((d->next_ns - now) / MS) + 1;
}

static void count_events(struct drain *d, const struct logcode *c)
{
	for (uint32_t i = 0; i < c->head.words; i++) {
		uint64_t w = c->words[i];
		bool other = log_tag(w) == LOG_TAG_OTHER;

		d->sums.events += !other || log_type(w) == LOG_REALLOC ||
		    log_type(w) == LOG_INHERITED || log_type(w) == LOG_UNNAMED;
	}
}

/* Behind an entry: what it changed, if that is little. */
static int write_index(const struct one *o, struct recording_writer *w)
{
	struct recording_place log = recording_last(w);
	struct logindex_head head;
	unsigned char *bytes = NULL;
	size_t len = 0;
	int err =
	    o->held.head.words < INDEX_WORDS ? 0 : logindex_build(&o->held, &head, &bytes, &len);

	if (err > 0) {
		head.bytes = log.next - log.offset;
		head.crc = log.crc;
		err = recording_append_packed(
		    w, RECORDING_LOG_INDEX, &head, sizeof(head), bytes, len, LEVEL);
	}
	free(bytes);
	return err;
}

static int write_held(struct drain *d, struct one *o, struct recording_writer *w)
{
	uint64_t before = recording_size(w);
	uint8_t *bytes = NULL;
	size_t len = 0;
	int err = 0;

	if (o->held.head.words == 0)
		return 0;
	if (!d->sums.is_full)
		err = logcode_pack(&o->held, &bytes, &len);
	if (err == 0 && !d->sums.is_full) {
		err = recording_append_packed(
		    w, RECORDING_LOG, &o->held.head, sizeof(o->held.head), bytes, len, LEVEL);
		count_events(d, &o->held);
		if (err == 0)
			err = write_index(o, w);
	}
	free(bytes);
	d->sums.bytes += recording_size(w) - before;
	d->sums.is_full |= d->sums.bytes >= d->limit_bytes;
	d->held -= o->held.head.words;
	d->words += o->held.head.words;
	o->held.head.words = o->held.head.runs = 0;
	return err;
}

/*
 * Is what was read and not written yet enough to reach the limit, if it needs as
 * many bytes for each word as what was written? The first words are taken to need
 * one each.
 */
static bool is_near_limit(const struct drain *d)
{
	const double rate = d->words ? (double)d->sums.bytes / (double)d->words : 1;

	return d->held >= NEAR_WORDS &&
	    (double)d->sums.bytes + rate * (double)d->held >= (double)d->limit_bytes;
}

/* Reads what one process has, and adds how many words that were. */
static int look_at(
    struct drain *d, struct one *o, bool is_over, struct recording_writer *w, uint64_t *words)
{
	uint32_t read;
	int err;

	do {
		const uint32_t before = o->held.head.words;

		err = logread_take(o->log, is_over, &o->held);
		if (err == -ENOMEM)
			return err;
		if (err < 0) { /* cut off, or gone: what was read is sound */
			logread_close(o->log);
			o->log = NULL;
			return 0;
		}
		read = o->held.head.words - before;
		d->held += read;
		*words += read;
		logread_done(o->log);
		if (o->held.head.words >= FLUSH_WORDS || d->held >= HELD_WORDS || is_near_limit(d))
			err = write_held(d, o, w);
	} while (err == 0 && is_over && read && !d->sums.is_full);
	return err;
}

int drain_flush(struct drain *d, struct recording_writer *w)
{
	int err = 0;

	d->flushed_ns = clock_ns(CLOCK_MONOTONIC);
	for (size_t i = 0; i < d->count && err == 0; i++)
		err = write_held(d, &d->all[i], w);
	return err;
}

int drain_look(struct drain *d, struct recording_writer *w)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC), most = 0;
	int err = 0;

	if (now < d->next_ns)
		return 0;
	for (size_t i = 0; i < d->count && err == 0; i++) {
		uint64_t words = 0;

		if (d->all[i].log && !d->sums.is_full)
			err = look_at(d, &d->all[i], false, w, &words);
		most = words > most ? words : most;
	}
	if (err == 0 && now - d->flushed_ns >= FLUSH_MS * MS)
		err = drain_flush(d, w);
	if (most)
		d->wait_ms = log_wait_ms(most, (uint32_t)d->wait_ms);
	else
		d->wait_ms = 2 * d->wait_ms < REST_MS ? 2 * d->wait_ms : REST_MS;
	d->next_ns = clock_ns(CLOCK_MONOTONIC) + d->wait_ms * MS;
	return err;
}

int drain_last(struct drain *d, const char *dir, const char *name, const struct seg_header *h,
    bool is_over, struct recording_writer *w)
{
	struct one *o;
	uint64_t words = 0;
	int err = drain_add(d, dir, name, h);

	if (err < 0 || !d)
		return err;
	o = find(d, h->uuid);
	if (!o && is_over && h->log_state != SEG_LOG_ON) {
		if (d->sums.without++ == 0)
			d->sums.lack = *h;
	}
	if (!o)
		return 0;
	if (o->log && !d->sums.is_full)
		err = look_at(d, o, is_over, w, &words);
	if (err == 0)
		err = write_held(d, o, w);
	if (!is_over)
		return err;
	d->sums.lost += h->counts[SEG_LOG_LOST];
	free_one(o);
	*o = d->all[--d->count];
	return err;
}

struct drain_sums drain_sums(const struct drain *d)
{
	return d->sums;
}
