/* fuzz_log.c - any bytes as an entry of an event log, and as the pool of a process. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "reader/events.h"
#include "reader/logread.h"
#include "trace/log.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int
look(void *context, const struct events_event *e)
{
	uint64_t *sum = context;

	*sum += e->size + e->old_size + e->count + e->site;
	return 0;
}

static void
feed(const struct logcode *c)
{
	struct events *e;
	uint64_t sum = 0;

	if (events_new(look, &sum, &e) < 0)
		abort();
	(void)events_feed(e, c);
	(void)events_feed(e, c); /* every block twice */
	events_free(e);
}

/* An entry that can be unpacked is packed as it was. */
static void
check_entry(const uint8_t *data, size_t size)
{
	struct logcode c = {0};
	uint8_t *bytes;
	size_t len;

	if (logcode_unpack(&c, data, size) == 0) {
		feed(&c);
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
static void
make_pool(int fd, const uint8_t *data, size_t size)
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

static void
check_pool(const uint8_t *data, size_t size)
{
	static const uint8_t uuid[16];
	char dir[] = "/tmp/fuzz_log.XXXXXX";
	struct logcode c = {0};
	struct logread *r;
	int at, fd;

	if (!mkdtemp(dir))
		abort();
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
		logread_close(r);
	}
	logcode_release(&c);
	(void)unlinkat(at, "x.seg.log", 0);
	(void)close(fd);
	(void)close(at);
	(void)rmdir(dir);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size == 0)
		return 0;
	if (data[0] & 1)
		check_entry(data + 1, size - 1);
	else
		check_pool(data + 1, size - 1);
	return 0;
}
