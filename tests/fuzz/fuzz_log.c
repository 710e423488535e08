/* fuzz_log.c - any bytes as an entry of an event log, as its index, and as the pool of a process. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "session/events/events.h"
#include "session/events/logblocks.h"
#include "session/events/logread.h"
#include "replay/compose.h"
#include "format/seg_log.h"

#include "lib/scratch.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int look(void *context, const struct events_event *e)
{
	uint64_t *sum = context;

	*sum += e->size + e->old_size + e->count + e->site;
	return 0;
}

static void feed(const struct logcode *c)
{
	struct events *e;
	uint64_t sum = 0;

	if (events_new(look, &sum, &e) < 0)
		abort();
	(void)events_feed(e, c);
	(void)events_feed(e, c); /* every block twice */
	events_free(e);
}

static struct events *count_sites(void)
{
	struct events *e;

	if (events_new(NULL, NULL, &e) < 0)
		abort();
	events_count_sites(e);
	return e;
}

/* The index of an entry says the same as the entry: after nothing, and after itself. */
static void check_index(const struct logcode *c)
{
	struct events *read, *skipped;
	struct events_process a, b;
	struct logindex_head head;
	unsigned char *rest = NULL, *bytes;
	struct logindex x;
	size_t len = 0;

	if (logindex_build(c, &head, &rest, &len) <= 0)
		return;
	bytes = malloc(sizeof(head) + len);
	if (!bytes)
		abort();
	memcpy(bytes, &head, sizeof(head));
	memcpy(bytes + sizeof(head), rest, len);
	if (logindex_open(&x, bytes, sizeof(head) + len) < 0)
		abort();
	read = count_sites();
	skipped = count_sites();
	if (events_feed(read, c) < 0 || events_skip(skipped, &x) < 0 ||
	    !events_process(read, c->head.uuid, &a) || !events_process(skipped, c->head.uuid, &b))
		abort();
	if (memcmp(&a.sums, &b.sums, sizeof(a.sums)) != 0 || a.blocks->count != b.blocks->count ||
	    a.sites->count != b.sites->count)
		abort();
	events_free(read);
	events_free(skipped);
	free(rest);
	free(bytes);
}

/* Any bytes as an index: taken twice, with a cut and without. */
static void check_any_index(const uint8_t *data, size_t size)
{
	uint64_t *copy = malloc(size + 8); /* aligned */
	struct events_process p;
	struct logindex x;

	if (!copy)
		abort();
	memcpy(copy, data, size);
	for (int i = 0; i < 2 && logindex_open(&x, copy, size) == 0; i++) {
		struct events *e = count_sites();

		if (i)
			events_cut(e, 0, 1000);
		(void)events_skip(e, &x);
		(void)events_drop(e, &x);
		(void)events_skip(e, &x);
		if (!events_process(e, x.head.log.uuid, &p))
			abort();
		events_free(e);
	}
	free(copy);
}

static void feed_to(const struct logcode *c, events_each *each, void *context)
{
	struct events *e;

	if (events_new(each, context, &e) < 0)
		abort();
	(void)events_feed(e, c);
	(void)events_feed(e, c);
	events_free(e);
}

/* The script of a replay. */
static void compose(const struct logcode *c)
{
	struct log_threads threads = {.events_max = UINT64_MAX};
	struct compose_facts facts;
	struct compose *made;
	int fd;

	feed_to(c, log_threads_count, &threads);
	const struct compose_options o = {.threads = log_threads_most(&threads, 0),
	    .events_max = 1000000,
	    .live_max = UINT64_C(1) << 40,
	    .with_time = c->head.pid & 1};

	if (o.threads && compose_new(&o, &made) == 0) {
		feed_to(c, compose_event, made);
		if (compose_finish(made, &facts, &fd) == 0 && facts.frees > facts.allocations)
			abort();
		compose_free(made);
	}
	log_threads_release(&threads);
}

/* An entry that can be unpacked is packed as it was. */
static void check_entry(const uint8_t *data, size_t size)
{
	struct logcode c = {0};
	uint8_t *bytes;
	size_t len;

	if (logcode_unpack(&c, data, size) == 0) {
		feed(&c);
		check_index(&c);
		compose(&c);
		if (logcode_pack(&c, &bytes, &len) < 0)
			abort();
		if (len + sizeof(c.head) != size)
			abort();
		free(bytes);
	}
	logcode_release(&c);
}

/*
 * A pool of three chunks. The bytes are words: of each chunk the head, then what
 * it has, up to a word of all ones.
 */
static void make_pool(int fd, const uint8_t *data, size_t size)
{
	static uint64_t words[3][LOG_CHUNK_WORDS];
	struct log_head h = {.magic = LOG_MAGIC,
	    .version = LOG_VERSION,
	    .mode = LOG_MODE_ADDRESSES,
	    .chunk_bytes = LOG_CHUNK_BYTES,
	    .chunk_count = 3,
	    .tick_ns = LOG_TICK_NS};
	size_t chunk = 0, at = 0;

	memset(words, 0, sizeof(words));
	for (; size >= 8 && chunk < 3; data += 8, size -= 8) {
		uint64_t w;

		memcpy(&w, data, 8);
		if (w == UINT64_MAX || at == LOG_CHUNK_WORDS) {
			chunk++;
			at = 0;
			continue;
		}
		words[chunk][at++] = w;
	}
	if (pwrite(fd, &h, sizeof(h), 0) != sizeof(h) ||
	    pwrite(fd, words, sizeof(words), LOG_HEAD_BYTES) != sizeof(words))
		abort();
}

/* What a recording keeps of a pool has the same events. */
static void check_kept(const struct logcode *c)
{
	struct logcode again = {0};
	struct events *read = count_sites(), *kept = count_sites();
	struct events_sums a, b;
	uint8_t *rest, *bytes;
	size_t len;

	for (uint32_t i = 0, at = 0; i < c->head.runs; i++)
		for (uint32_t end = at + c->runs[i].words; at < end; at++)
			if (c->runs[i].thread != 0 &&
			    c->words[at] >> LOG_PAYLOAD_BITS == (3 << 6 | LOG_THREAD))
				abort(); /* there, another run begins */
	if (logcode_pack(c, &rest, &len) < 0)
		abort();
	bytes = malloc(sizeof(c->head) + len);
	if (!bytes)
		abort();
	memcpy(bytes, &c->head, sizeof(c->head));
	memcpy(bytes + sizeof(c->head), rest, len);
	if (logcode_unpack(&again, bytes, sizeof(c->head) + len) < 0 || events_feed(read, c) < 0 ||
	    events_feed(kept, &again) < 0)
		abort();
	a = events_sums(read);
	b = events_sums(kept);
	if (memcmp(&a, &b, sizeof(a)) != 0)
		abort();
	events_free(read);
	events_free(kept);
	logcode_release(&again);
	free(bytes);
	free(rest);
}

static void check_pool(const uint8_t *data, size_t size)
{
	static const uint8_t uuid[16];
	char dir[SCRATCH_MAX];
	struct logcode c = {0};
	struct logread *r;
	int at, fd;

	scratch_make(dir);
	at = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	fd = openat(at, "x.seg.log", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (at < 0 || fd < 0)
		abort();
	make_pool(fd, data, size);
	if (logread_open(at, "x.seg", 0, uuid, false, &r) == 0) {
		for (int i = 0; i < 3; i++) {
			if (logread_take(r, i == 2, &c) < 0)
				break;
			logread_done(r);
		}
		feed(&c);
		if (c.head.words > 0)
			check_kept(&c);
		compose(&c);
		logread_close(r);
	}
	logcode_release(&c);
	(void)unlinkat(at, "x.seg.log", 0);
	(void)close(fd);
	(void)close(at);
	(void)rmdir(dir);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size == 0)
		return 0;
	if ((data[0] & 3) == 3)
		check_any_index(data + 1, size - 1);
	else if (data[0] & 1)
		check_entry(data + 1, size - 1);
	else
		check_pool(data + 1, size - 1);
	return 0;
}
