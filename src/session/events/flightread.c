/* flightread.c - reads the rings of a flight recorder out of its pool. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "session/events/flightread.h"

#include "segments/read/segfile.h"

enum { TRIES = 32 };

/* Where a ring is, and whose it is. */
struct place {
	uint32_t index, thread;
	uint64_t number;
};

struct flightread {
	int fd;
	uint64_t offset;
	struct log_head head;
	struct place *places;
	size_t count, next;
	uint64_t left; /* bytes that may still be read */
	/* three copies of a ring, see read_ring() */
	struct flight_entry *copies[3];
	bool is_damaged;
};

bool flightread_is_sound(const struct log_head *h)
{
	return (h->mode == (uint32_t)FLIGHT_MODE_LAST || h->mode == (uint32_t)FLIGHT_MODE_FREES) &&
	    h->version == FLIGHT_VERSION && h->tick_ns == LOG_TICK_NS &&
	    h->entries >= FLIGHT_EVENTS_MIN &&
	    h->entries <= flight_entries(FLIGHT_EVENTS_MAX, true) &&
	    h->chunk_bytes == flight_ring_bytes((uint32_t)h->entries) && h->chunk_count > 0 &&
	    h->chunk_count <= LOG_CHUNKS_MAX;
}

static int check_head(const struct log_head *h, const uint8_t uuid[16])
{
	if (h->magic != LOG_MAGIC || memcmp(h->uuid, uuid, 16) != 0)
		return -ESTALE;
	if (h->version != FLIGHT_VERSION)
		return -ENOTSUP;
	return flightread_is_sound(h) ? 0 : -EBADMSG;
}

static uint64_t ring_at(const struct flightread *r, uint32_t i)
{
	return r->offset + LOG_HEAD_BYTES + (uint64_t)i * r->head.chunk_bytes;
}

static bool is_used(const struct flightread *r, const struct log_chunk *c)
{
	return memcmp(c->uuid, r->head.uuid, sizeof(c->uuid)) == 0 &&
	    log_tag(c->head) == LOG_TAG_OTHER && log_type(c->head) == LOG_CHUNK &&
	    log_payload(c->head) != 0;
}

/* The number 0, of several threads, is the last. */
static int by_thread(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread - 1 > y->thread - 1 ? 1 : -1;
	return (x->number > y->number) - (x->number < y->number);
}

static void find_rings(struct flightread *r)
{
	for (uint32_t i = 0; i < r->head.chunk_count; i++) {
		struct log_chunk c;

		if (logfile_read(r->fd, ring_at(r, i), &c, sizeof(c)) < 0) {
			r->is_damaged = true; /* it is cut off */
			break;
		}
		if (is_used(r, &c))
			r->places[r->count++] = (struct place){i, c.thread, log_payload(c.head)};
	}
	qsort(r->places, r->count, sizeof(*r->places), by_thread);
}

int flightread_open(
    int dir, const char *name, uint32_t pool, const uint8_t uuid[16], struct flightread **ret)
{
	struct flightread *r = calloc(1, sizeof(*r));
	uint64_t unused;
	int err;

	if (!r)
		return -ENOMEM;
	r->left = FLIGHTREAD_BYTES_MAX;
	r->fd = logfile_open(dir, name, "", O_RDONLY);
	err = r->fd < 0 ? r->fd : 0;
	if (err == 0)
		err = logfile_find_pool(r->fd, pool, &r->offset, &unused);
	if (err == 0)
		err = logfile_read(r->fd, r->offset, &r->head, sizeof(r->head));
	if (err == 0)
		err = check_head(&r->head, uuid);
	if (err == 0) {
		r->places = calloc(r->head.chunk_count, sizeof(*r->places));
		err = r->places ? 0 : -ENOMEM;
	}
	if (err < 0) {
		flightread_close(r);
		return err;
	}
	find_rings(r);
	*ret = r;
	return 0;
}

void flightread_close(struct flightread *r)
{
	if (!r)
		return;
	for (int i = 0; i < 3; i++)
		free(r->copies[i]);
	free(r->places);
	if (r->fd >= 0)
		(void)close(r->fd);
	free(r);
}

const struct log_head *flightread_head(const struct flightread *r)
{
	return &r->head;
}

bool flightread_is_damaged(const struct flightread *r)
{
	return r->is_damaged;
}

/*
 * The thread may store meanwhile. The first words are those of the first copy
 * that are the same in the third one, and the second words are those of the
 * second copy. Before a thread changes a second word, the first one is zero. So
 * what is left are whole entries, which were there when the first copy was made;
 * the oldest ones are missing if they were overwritten since. The order is
 * right if the ring did not begin again during the first copy: *ret_again.
 */
static int copy_ring(struct flightread *r, uint64_t at, struct log_chunk *ret_head, bool *ret_again)
{
	const size_t count = r->head.entries;
	const size_t bytes = count * sizeof(struct flight_entry);
	struct flight_entry *first = r->copies[0];
	struct log_chunk before;
	int err = logfile_read(r->fd, at, &before, sizeof(before));

	if (err == 0)
		err = logfile_read(r->fd, at + sizeof(before), first, bytes);
	if (err == 0)
		err = logfile_read(r->fd, at, ret_head, sizeof(*ret_head));
	*ret_again = before.head != ret_head->head || before.done != ret_head->done;
	for (int i = 1; i < 3 && err == 0; i++)
		err = logfile_read(r->fd, at + sizeof(before), r->copies[i], bytes);
	for (size_t i = 0; i < count && err == 0; i++) {
		if (first[i].what != r->copies[2][i].what)
			first[i].what = 0;
		first[i].where = r->copies[1][i].where;
	}
	return err;
}

/* 1: it was read; 0: another thread has it by now, or it cannot be read. */
static int read_ring(struct flightread *r, const struct place *p, struct log_chunk *ret)
{
	const size_t bytes = (size_t)r->head.entries * sizeof(struct flight_entry);
	bool again = true;

	for (int i = 0; i < 3; i++) {
		if (!r->copies[i])
			r->copies[i] = malloc(bytes);
		if (!r->copies[i])
			return -ENOMEM;
	}
	for (int i = 0; i < TRIES && again; i++) {
		if (r->left < 3 * bytes || copy_ring(r, ring_at(r, p->index), ret, &again) < 0) {
			r->is_damaged = true;
			return 0;
		}
		r->left -= 3 * bytes;
	}
	return is_used(r, ret);
}

int flightread_next(
    struct flightread *r, struct log_chunk *ret_head, const struct flight_entry **ret_entries)
{
	while (r->next < r->count) {
		int got = read_ring(r, &r->places[r->next++], ret_head);

		if (got != 0) {
			*ret_entries = r->copies[0];
			return got;
		}
	}
	return 0;
}
