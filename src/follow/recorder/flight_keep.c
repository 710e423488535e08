/* flight_keep.c - the last events of a process go into the recording. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "follow/recorder/collect_parts.h"

#include "session/events/flightread.h"
#include "segments/find/segment_dir.h"

enum {
	LEVEL = 1,
	ENTRY_BYTES = 32 << 20, /* of rings in one entry, about */
};

struct keeping {
	struct log_head head;
	size_t ring_bytes;
	uint8_t *bytes; /* of rings that are not written yet */
	size_t len, room;
	uint64_t left;
	bool (*may_take)(void *context, uint64_t bytes);
	void *context;
	struct recording_writer *writer;
};

static int write_entry(struct keeping *k)
{
	int err = 0;

	if (k->len > 0 && k->may_take(k->context, k->len))
		err = recording_append_packed(k->writer, RECORDING_FLIGHT, &k->head,
		    sizeof(k->head), k->bytes, k->len, LEVEL);
	k->len = 0;
	return err;
}

static int add_ring(
    struct keeping *k, const struct log_chunk *head, const struct flight_entry *entries)
{
	if (!k->bytes || k->len + k->ring_bytes > k->room) {
		size_t room =
		    k->len + k->ring_bytes + (k->len < ENTRY_BYTES / 2 ? k->len : ENTRY_BYTES);
		uint8_t *more = realloc(k->bytes, room);

		if (!more)
			return -ENOMEM;
		k->bytes = more;
		k->room = room;
	}
	memcpy(k->bytes + k->len, head, sizeof(*head));
	memcpy(k->bytes + k->len + sizeof(*head), entries, k->ring_bytes - sizeof(*head));
	k->len += k->ring_bytes;
	return k->len >= ENTRY_BYTES ? write_entry(k) : 0;
}

static int keep_rings(struct keeping *k, struct flightread *r)
{
	const struct flight_entry *entries;
	struct log_chunk head;
	int got, err = 0;

	k->head = *flightread_head(r);
	k->ring_bytes =
	    sizeof(struct log_chunk) + (size_t)k->head.entries * sizeof(struct flight_entry);
	for (;;) {
		got = flightread_next(r, &head, &entries);
		if (got != 1 || err < 0 || k->left < k->ring_bytes)
			break;
		k->left -= k->ring_bytes;
		err = add_ring(k, &head, entries);
	}
	if (got < 0)
		err = got;
	return err == 0 ? write_entry(k) : err;
}

int flight_keep(const char *dir, const char *name, const struct seg_header *h,
    bool (*may_take)(void *context, uint64_t bytes), void *context, struct recording_writer *w)
{
	struct keeping k = {
	    .left = FLIGHT_KEEP_MAX, .may_take = may_take, .context = context, .writer = w};
	struct flightread *r;
	int dir_fd, err;

	if (h->log_state != SEG_LOG_LAST)
		return 0;
	dir_fd = segment_dir_reopen(dir);
	if (dir_fd < 0)
		return 0;
	err = flightread_open(dir_fd, name, h->log_pool, h->uuid, &r);
	(void)close(dir_fd);
	if (err < 0)
		return err == -ENOMEM ? err : 0; /* it is not there any more */
	err = keep_rings(&k, r);
	flightread_close(r);
	free(k.bytes);
	return err;
}
