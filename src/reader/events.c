/* events.c - the events of a log: every free finds its allocation. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "reader/events.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "trace/log.h"
#include "util/room.h"

enum { FIRST_BITS = 10 };

/* A block that lives; name 0: the place is free. */
struct block {
	uint32_t name, site;
	uint64_t size, born;
};

/* The live blocks of one process, by name: open addressing. */
struct blocks {
	uint8_t uuid[16];
	struct block *at;
	unsigned bits;
	size_t count;
};

struct events {
	events_each *each;
	void *context;
	struct blocks *processes;
	size_t count, room;
	struct events_sums sums;
};

int
events_new(events_each *each, void *context, struct events **ret)
{
	struct events *e = calloc(1, sizeof(*e));

	if (!e)
		return -ENOMEM;
	e->each = each;
	e->context = context;
	*ret = e;
	return 0;
}

void
events_free(struct events *e)
{
	if (!e)
		return;
	for (size_t i = 0; i < e->count; i++)
		free(e->processes[i].at);
	free(e->processes);
	free(e);
}

struct events_sums
events_sums(const struct events *e)
{
	return e->sums;
}

/* ---- live blocks ---- */

static size_t
slot_of(const struct blocks *b, uint32_t name)
{
	return (size_t)(hash_mix(name, 1) >> (64 - b->bits));
}

/* The place of this block, or the free place where it would be. */
static struct block *
find(const struct blocks *b, uint32_t name)
{
	size_t mask = ((size_t)1 << b->bits) - 1, i = slot_of(b, name);

	while (b->at[i].name != 0 && b->at[i].name != name)
		i = (i + 1) & mask;
	return &b->at[i];
}

static int
grow(struct blocks *b)
{
	struct blocks bigger = *b;

	bigger.bits = b->at ? b->bits + 1 : FIRST_BITS;
	bigger.at = calloc((size_t)1 << bigger.bits, sizeof(*b->at));
	if (!bigger.at)
		return -ENOMEM;
	for (size_t i = 0; b->at && i < (size_t)1 << b->bits; i++)
		if (b->at[i].name != 0)
			*find(&bigger, b->at[i].name) = b->at[i];
	free(b->at);
	*b = bigger;
	return 0;
}

static int
put(struct blocks *b, const struct block *one)
{
	struct block *to;

	if ((!b->at || b->count >= ((size_t)1 << b->bits) / 4 * 3) &&
	    grow(b) < 0)
		return -ENOMEM;
	to = find(b, one->name);
	b->count += to->name == 0;
	*to = *one;
	return 0;
}

/* Removes a block; those behind it that it was in the way of move up. */
static bool
take(struct blocks *b, uint32_t name, struct block *ret)
{
	size_t mask, hole, i;
	struct block *at;

	if (!b->at || name == 0)
		return false;
	mask = ((size_t)1 << b->bits) - 1;
	at = find(b, name);
	if (at->name == 0)
		return false;
	*ret = *at;
	hole = (size_t)(at - b->at);
	for (i = (hole + 1) & mask; b->at[i].name != 0; i = (i + 1) & mask) {
		size_t home = slot_of(b, b->at[i].name);

		if (((i - home) & mask) < ((i - hole) & mask))
			continue;
		b->at[hole] = b->at[i];
		hole = i;
	}
	memset(&b->at[hole], 0, sizeof(b->at[hole]));
	b->count--;
	return true;
}

static struct blocks *
blocks_of(struct events *e, const uint8_t uuid[16])
{
	for (size_t i = e->count; i-- > 0;)
		if (memcmp(e->processes[i].uuid, uuid, 16) == 0)
			return &e->processes[i];
	if (room_make(
	        &e->processes, &e->room, e->count, sizeof(*e->processes)) < 0)
		return NULL;
	memset(&e->processes[e->count], 0, sizeof(*e->processes));
	memcpy(e->processes[e->count].uuid, uuid, 16);
	return &e->processes[e->count++];
}

/* ---- words ---- */

/* Words of a run, and where we are in it. */
struct words {
	const uint64_t *at, *end;
	uint32_t name; /* of *at */
};

static bool
next_is(const struct words *w, enum log_type type)
{
	return w->at < w->end && log_tag(*w->at) == LOG_TAG_OTHER &&
	    log_type(*w->at) == type;
}

static uint64_t
next(struct words *w)
{
	w->name++;
	return *w->at++;
}

/* The rest of an allocation, behind its first word. */
static void
rest_of(struct words *w, uint64_t word, struct events_event *ev)
{
	ev->site = log_site(word);
	ev->size = log_size(word);
	if (ev->size == LOG_LARGE && next_is(w, LOG_SIZE))
		ev->size = log_payload(next(w));
	if (next_is(w, LOG_ADDRESS))
		ev->address = log_payload(next(w));
}

static int
tell(struct events *e, struct blocks *b, struct events_event *ev)
{
	struct block old, one;
	int err = 0;

	if (ev->kind == EVENTS_FREE || ev->kind == EVENTS_REALLOC) {
		ev->was_found = take(b, ev->name, &old);
		if (ev->was_found) {
			ev->old_site = old.site;
			ev->old_size = old.size;
			ev->born = old.born;
		}
		e->sums.orphans += !ev->was_found;
		e->sums.frees++;
	}
	if (ev->kind == EVENTS_FREE && ev->was_found) {
		ev->site = ev->old_site;
		ev->size = ev->old_size;
	}
	if (ev->kind == EVENTS_ALLOC || ev->kind == EVENTS_REALLOC) {
		one = (struct block){.name = ev->name,
		    .site = ev->site,
		    .size = ev->size,
		    .born = ev->kind == EVENTS_REALLOC && ev->was_found
		        ? ev->born
		        : ev->tick};
		e->sums.allocations++;
		err = put(b, &one);
	}
	e->sums.inherited += ev->kind == EVENTS_INHERITED;
	e->sums.unlogged += ev->kind == EVENTS_UNLOGGED;
	e->sums.lost += ev->kind == EVENTS_GAP ? ev->count : 0;
	return err < 0 ? err : e->each(e->context, ev);
}

/* One event; false: these words are none. */
static bool
read_other(struct words *w, uint64_t word, uint64_t *tick,
    struct events_event *ev, uint64_t *strange)
{
	switch (log_type(word)) {
	case LOG_TICK:
		if (log_payload(word) >= *tick)
			*tick = log_payload(word);
		else
			(*strange)++;
		return false;
	case LOG_GAP:
		ev->kind = EVENTS_GAP;
		ev->count = log_payload(word);
		return true;
	case LOG_REALLOC:
		if (w->at == w->end || log_tag(*w->at) != LOG_TAG_ALLOC)
			break;
		ev->kind = EVENTS_REALLOC;
		ev->name = log_name(word);
		word = next(w);
		rest_of(w, word, ev);
		return true;
	case LOG_INHERITED:
	case LOG_UNNAMED:
		ev->kind = log_type(word) == LOG_INHERITED ? EVENTS_INHERITED
		                                           : EVENTS_UNLOGGED;
		ev->site =
		    (uint32_t)log_payload(word) & ((1u << LOG_SITE_BITS) - 1);
		if (next_is(w, LOG_SIZE))
			ev->size = log_payload(next(w));
		return true;
	case LOG_NOTHING:
		return false;
	default:
		break;
	}
	(*strange)++;
	return false;
}

static int
feed_run(struct events *e, struct blocks *b, const struct logcode_head *h,
    const struct logcode_run *r, const uint64_t *words)
{
	struct words w = {
	    words, words + r->words, (r->number << LOG_INDEX_BITS) + r->index};
	uint64_t tick = r->tick;
	int err = 0;

	while (err == 0 && w.at < w.end) {
		struct events_event ev = {.process = h,
		    .thread = r->thread,
		    .tid = r->tid,
		    .name = w.name};
		uint64_t word = next(&w);
		bool is_event = true;

		if (log_tag(word) == LOG_TAG_ALLOC) {
			ev.kind = EVENTS_ALLOC;
			rest_of(&w, word, &ev);
		} else if (log_tag(word) == LOG_TAG_FREE) {
			ev.kind = EVENTS_FREE;
			ev.name = log_name(word);
		} else {
			ev.name = 0;
			is_event = log_tag(word) == LOG_TAG_OTHER &&
			    read_other(&w, word, &tick, &ev, &e->sums.strange);
		}
		ev.tick = tick;
		if (is_event)
			err = tell(e, b, &ev);
	}
	return err;
}

int
events_feed(struct events *e, const struct logcode *c)
{
	struct blocks *b = blocks_of(e, c->head.uuid);
	const uint64_t *words = c->words;
	int err = b ? 0 : -ENOMEM;

	for (uint32_t i = 0; err == 0 && i < c->head.runs; i++) {
		err = feed_run(e, b, &c->head, &c->runs[i], words);
		words += c->runs[i].words;
	}
	return err;
}
