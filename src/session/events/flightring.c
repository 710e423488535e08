/* flightring.c - the entries of one ring of a flight recorder, as events. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "session/events/flightread.h"

#include "format/seg_log.h"
#include "kit/data/sorted.h"

enum { TID_SHIFT = 42 };

#define TIME_MASK ((UINT64_C(1) << TID_SHIFT) - 1)

static enum flight_type type_of(uint64_t what)
{
	return (enum flight_type)(what >> LOG_PAYLOAD_BITS & 63);
}

static bool is_other(uint64_t what, enum flight_type type)
{
	return what >> 62 == FLIGHT_OTHER && type_of(what) == type;
}

/* What the entries before an event say of it. */
struct before {
	uint64_t size; /* 0: nothing */
	uint32_t by;
};

/* False: this is no event. */
static bool make_event(
    const struct flight_entry *e, const struct before *b, struct flightring_event *ret)
{
	const uint64_t what = e->what;

	*ret = (struct flightring_event){
	    .address = e->where & FLIGHT_ADDRESS_MASK, .is_resized = e->where & FLIGHT_RESIZED};
	if (what >> 62 == FLIGHT_ALLOC) {
		ret->kind = FLIGHTRING_ALLOC;
		ret->site = log_site(what);
		ret->size = log_size(what);
		if (ret->size == LOG_LARGE && b->size)
			ret->size = b->size;
		return true;
	}
	if (what >> 62 == FLIGHT_FREE) {
		ret->kind = FLIGHTRING_FREE;
		ret->site = log_site(what);
		ret->size = what & FLIGHT_FREED_MASK;
		if (ret->size == FLIGHT_FREED_LARGE && b->size)
			ret->size = b->size;
		ret->age = flight_age((uint32_t)(what >> FLIGHT_FREED_BITS) & 255);
		ret->by = b->by;
		return true;
	}
	ret->kind = FLIGHTRING_UNKNOWN;
	ret->by = b->by;
	return is_other(what, FLIGHT_UNKNOWN);
}

/* The place of the oldest entry: behind the one that has no first word. */
static size_t oldest(const struct flight_entry *e, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (e[i].what == 0 && e[(i + 1) % count].what != 0)
			return (i + 1) % count;
	return 0;
}

/*
 * Entries have the low bits of the time, and the head has all of the newest
 * one. So the times are found from the newest to the oldest.
 */
static void set_times(
    struct flightring *r, const struct flight_entry *e, size_t count, size_t first, uint64_t now)
{
	size_t at = r->count;

	for (size_t i = count; i-- > 0;) {
		const struct flight_entry *x = &e[(first + i) % count];
		uint64_t back = (now - (x->where >> FLIGHT_TIME_SHIFT)) & UINT16_MAX;
		struct flightring_event unused;

		if (x->what == 0)
			continue;
		if (is_other(x->what, FLIGHT_TIME)) {
			now = log_payload(x->what);
			continue;
		}
		now = now > back ? now - back : 0;
		if (at > 0 && make_event(x, &(struct before){0}, &unused))
			r->events[--at].tick = now;
	}
}

static void decode_own(
    struct flightring *r, const struct log_chunk *head, const struct flight_entry *e, size_t count)
{
	const size_t first = oldest(e, count);
	struct before b = {0};

	for (size_t i = 0; i < count; i++) {
		const struct flight_entry *x = &e[(first + i) % count];
		struct flightring_event *to = &r->events[r->count];

		if (x->what == 0 || is_other(x->what, FLIGHT_TIME))
			continue;
		if (is_other(x->what, FLIGHT_SIZE)) {
			b.size = log_payload(x->what);
			continue;
		}
		if (is_other(x->what, FLIGHT_BY)) {
			b.by = (uint32_t)log_payload(x->what) & ((1u << LOG_SITE_BITS) - 1);
			continue;
		}
		if (make_event(x, &b, to)) {
			to->tid = head->tid;
			r->count++;
		} else {
			r->strange++;
		}
		b = (struct before){0};
	}
	set_times(r, e, count, first, head->now);
}

struct pair {
	uint64_t number;
	const struct flight_entry *event;
};

BY(by_number, struct pair, UP(number))

/* Events of several threads, in pairs that have a number. */
static int decode_common(struct flightring *r, const struct flight_entry *e, size_t count)
{
	struct pair *pairs = calloc(count / 2 + 1, sizeof(*pairs));
	size_t used = 0;

	if (!pairs)
		return -ENOMEM;
	for (size_t i = 0; i < count / 2; i++) {
		const struct flight_entry *x = &e[2 * i];

		if (!is_other(x->what, FLIGHT_NUMBER) || x[1].what == 0 ||
		    log_payload(x->what) % (count / 2) != i)
			r->strange += x->what != 0;
		else
			pairs[used++] = (struct pair){log_payload(x->what), x + 1};
	}
	qsort(pairs, used, sizeof(*pairs), by_number);
	for (size_t i = 0; i < used; i++) {
		const struct flight_entry *x = pairs[i].event;
		struct flightring_event *to = &r->events[r->count];

		if (!make_event(x, &(struct before){0}, to)) {
			r->strange++;
			continue;
		}
		to->tid = (uint32_t)(x[-1].where >> TID_SHIFT);
		to->tick = x[-1].where & TIME_MASK;
		r->count++;
	}
	free(pairs);
	return 0;
}

int flightring_decode(const struct log_chunk *head, const struct flight_entry *entries,
    size_t count, struct flightring *ret)
{
	int err = 0;

	*ret = (struct flightring){
	    .thread = head->thread, .tid = head->tid, .has_ended = head->closed != 0};
	ret->events = calloc(count + 1, sizeof(*ret->events));
	if (!ret->events)
		return -ENOMEM;
	if (head->thread != 0)
		decode_own(ret, head, entries, count);
	else
		err = decode_common(ret, entries, count);
	if (err < 0)
		flightring_release(ret);
	return err;
}

void flightring_release(struct flightring *r)
{
	free(r->events);
	r->events = NULL;
	r->count = 0;
}
