/* load_rss.c - matches readings of resident pages to processes of a recording. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "session/load/load_rss.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "recording/parts/rss_account.h"
#include "kit/data/room.h"

enum { UUID_BYTES = 16 };

struct load_residence_item {
	uint8_t uuid[UUID_BYTES];
	struct residence residence;
};

int load_rss_entry(struct load_residence *l, const void *bytes, size_t len, uint64_t limit)
{
	struct load_residence_item x;
	int err;

	if (len < UUID_BYTES || len > limit - l->bytes) {
		l->left_out++;
		return 0;
	}
	err = room_make(&l->items, &l->room, l->count, sizeof(*l->items));
	if (err < 0)
		return err;
	memcpy(x.uuid, bytes, UUID_BYTES);
	err =
	    rss_account_decode((const uint8_t *)bytes + UUID_BYTES, len - UUID_BYTES, &x.residence);
	if (err == -EBADMSG) {
		l->left_out++;
		return 0;
	}
	if (err < 0)
		return err;
	l->items[l->count++] = x;
	l->bytes += len;
	return 0;
}

static int by_time(const void *a, const void *b)
{
	const struct load_residence_item *x = a, *y = b;
	int n = memcmp(x->uuid, y->uuid, UUID_BYTES);

	if (n != 0)
		return n;
	return (x->residence.time_ns > y->residence.time_ns) -
	    (x->residence.time_ns < y->residence.time_ns);
}

/* The first item of a process, or where it would be. */
static size_t find(const struct load_residence *l, const uint8_t *uuid)
{
	size_t low = 0, high = l->count;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (memcmp(l->items[mid].uuid, uuid, UUID_BYTES) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

int load_rss_give(struct load_residence *l, const struct session *s, size_t first)
{
	int err = 0;

	if (l->count == 0)
		return 0;
	qsort(l->items, l->count, sizeof(*l->items), by_time);
	for (size_t i = first; i < s->count && err == 0; i++) {
		struct process *p = s->processes[i];
		size_t at = find(l, p->header.uuid);

		for (; at < l->count && err == 0 &&
		     memcmp(l->items[at].uuid, p->header.uuid, UUID_BYTES) == 0 &&
		     l->items[at].residence.page_bytes > 0;
		     at++)
			err = process_add_residence(p, &l->items[at].residence);
	}
	return err;
}

void load_rss_release(struct load_residence *l)
{
	for (size_t i = 0; i < l->count; i++)
		rss_account_release(&l->items[i].residence);
	free(l->items);
	*l = (struct load_residence){0};
}
