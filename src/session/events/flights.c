/* flights.c - the flight recorders of an input, ring by ring. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "session/events/session_log.h"

#include "session/events/flightread.h"
#include "session/process/family.h"

struct reading {
	flights_each *each;
	void *context;
	struct flights_found *found;
};

static int give_out(const struct reading *r, const struct log_head *head, const struct log_chunk *c,
    const struct flight_entry *entries)
{
	struct flightring ring;
	int err = flightring_decode(c, entries, head->entries, &ring);

	if (err < 0)
		return err;
	r->found->strange += ring.strange;
	err = r->each(r->context, head, &ring);
	flightring_release(&ring);
	return err;
}

static int read_pool(void *context, int dir, const char *name, const struct seg_header *h)
{
	const struct reading *r = context;
	const struct flight_entry *entries;
	struct flightread *f;
	struct log_chunk c;
	int got, err;

	if (h->log_state != SEG_LOG_LAST)
		return 0;
	err = flightread_open(dir, name, h->log_pool, h->uuid, &f);
	if (err == -ENOMEM)
		return err;
	r->found->is_damaged |= err < 0;
	if (err < 0)
		return 0; /* removed, or of another process by now */
	r->found->processes++;
	do {
		got = flightread_next(f, &c, &entries);
		err = got == 1 ? give_out(r, flightread_head(f), &c, entries) : got;
	} while (got == 1 && err == 0);
	r->found->is_damaged |= flightread_is_damaged(f);
	flightread_close(f);
	return err;
}

int flights_read_entry(
    const void *bytes, size_t len, flights_each *each, void *context, struct flights_found *ret)
{
	const struct reading r = {each, context, ret};
	const uint8_t *at = bytes;
	struct log_head head;
	size_t ring_bytes;
	int err = 0;

	if (len < sizeof(head))
		return -EBADMSG;
	memcpy(&head, at, sizeof(head));
	if (head.magic != LOG_MAGIC || !flightread_is_sound(&head))
		return -EBADMSG;
	ring_bytes = sizeof(struct log_chunk) + (size_t)head.entries * sizeof(struct flight_entry);
	if ((len - sizeof(head)) % ring_bytes != 0)
		return -EBADMSG;
	ret->processes++;
	for (at += sizeof(head), len -= sizeof(head); len > 0 && err == 0;
	     at += ring_bytes, len -= ring_bytes) {
		struct log_chunk c;

		memcpy(&c, at, sizeof(c));
		/* entries of a recording are aligned, and so are their parts */
		err = give_out(&r, &head, &c, (const void *)(at + sizeof(c)));
	}
	return err;
}

static int read_entry(void *context, const void *bytes, size_t len)
{
	const struct reading *r = context;
	int err = flights_read_entry(bytes, len, r->each, r->context, r->found);

	if (err == -EBADMSG) {
		r->found->is_damaged = true;
		return 0;
	}
	return err;
}

static int read_recording(void *context, struct recording *b)
{
	const struct reading *r = context;

	return pools_entries(b, RECORDING_FLIGHT, read_entry, context, &r->found->is_damaged);
}

int flights_read(const char *path, pid_t pid, flights_each *each, void *context,
    struct flights_found *ret, struct fault *where)
{
	struct reading r = {each, context, ret};
	const struct pools_visitor v = {
	    .pool = read_pool, .recording = read_recording, .context = &r};

	*ret = (struct flights_found){0};
	return pools_visit(path, pid, &v, where);
}
