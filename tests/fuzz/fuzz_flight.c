/* fuzz_flight.c - any bytes as an entry of a recording with rings, and as a ring of a process. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "session/events/flightread.h"
#include "session/events/session_log.h"

#include "lib/scratch.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { EVENTS = 30, ENTRIES = EVENTS + 2, RINGS = 3 };

/* Events are in the order of time, and have what the words can hold. */
static int look(void *context, const struct log_head *head, const struct flightring *ring)
{
	uint64_t *sum = context;
	uint64_t last = 0;

	if (ring->count > head->entries)
		abort();
	for (size_t i = 0; i < ring->count; i++) {
		const struct flightring_event *e = &ring->events[i];

		if (e->address > FLIGHT_ADDRESS_MASK || e->site >> LOG_SITE_BITS ||
		    e->by >> LOG_SITE_BITS)
			abort();
		if (ring->thread != 0 && e->tick < last)
			*sum += 1; /* a TIME that lies */
		last = e->tick;
		*sum += e->size + e->age + e->tid;
	}
	return 0;
}

/* A pool of three rings; the bytes are what is in them. */
static void check_pool(const uint8_t *data, size_t size)
{
	static uint8_t bytes[LOG_HEAD_BYTES + RINGS * LOG_HEAD_BYTES];
	static const uint8_t uuid[16];
	struct log_head h = {.magic = LOG_MAGIC,
	    .version = FLIGHT_VERSION,
	    .mode = FLIGHT_MODE_FREES,
	    .chunk_bytes = (uint32_t)flight_ring_bytes(ENTRIES),
	    .chunk_count = RINGS,
	    .tick_ns = LOG_TICK_NS,
	    .entries = ENTRIES};
	char dir[SCRATCH_MAX];
	const struct flight_entry *entries;
	struct flightread *r;
	struct log_chunk c;
	uint64_t sum = 0;
	int at, fd;

	memset(bytes, 0, sizeof(bytes));
	memcpy(bytes, &h, sizeof(h));
	/* the input may also change the head of the pool */
	if (size > 0 && data[0] & 1 && size > sizeof(h))
		memcpy(bytes, data, sizeof(h));
	for (size_t i = 0; i < RINGS && size > 0; i++) {
		size_t n = size < 1024 ? size : 1024;

		memcpy(bytes + LOG_HEAD_BYTES * (i + 1), data, n);
		data += n;
		size -= n;
	}
	scratch_make(dir);
	at = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	fd = openat(at, "x.seg.log", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (at < 0 || fd < 0 || pwrite(fd, bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		abort();
	if (flightread_open(at, "x.seg", 0, uuid, &r) == 0) {
		while (flightread_next(r, &c, &entries) == 1) {
			struct flightring ring;

			if (flightring_decode(&c, entries, flightread_head(r)->entries, &ring) < 0)
				abort();
			(void)look(&sum, flightread_head(r), &ring);
			flightring_release(&ring);
		}
		flightread_close(r);
	}
	(void)unlinkat(at, "x.seg.log", 0);
	(void)close(fd);
	(void)close(at);
	(void)rmdir(dir);
}

/* An entry of a recording is aligned. */
static void check_entry(const uint8_t *data, size_t size)
{
	struct flights_found found = {0};
	void *copy = malloc(size + 1);
	uint64_t sum = 0;

	if (!copy)
		abort();
	memcpy(copy, data, size);
	(void)flights_read_entry(copy, size, look, &sum, &found);
	free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size == 0)
		return 0;
	if (data[0] & 1)
		check_entry(data + 1, size - 1);
	else
		check_pool(data + 1, size - 1);
	return 0;
}
