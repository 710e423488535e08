/* logwords.c - the events in the words of a log, one after the other. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "session/events/logwords.h"

#include "format/seg_log.h"

/* Words of a run, and where we are in it. */
struct words {
	const uint64_t *at, *end;
	uint32_t name; /* of *at */
};

static bool next_is(const struct words *w, enum log_type type)
{
	return w->at < w->end && log_tag(*w->at) == LOG_TAG_OTHER && log_type(*w->at) == type;
}

static uint64_t next(struct words *w)
{
	w->name++;
	return *w->at++;
}

/* The rest of an allocation, behind its first word. */
static void rest_of(struct words *w, uint64_t word, struct events_event *ev)
{
	ev->site = log_site(word);
	ev->size = log_size(word);
	if (ev->size == LOG_LARGE && next_is(w, LOG_SIZE))
		ev->size = log_payload(next(w));
	if (next_is(w, LOG_ADDRESS))
		ev->address = log_payload(next(w));
}

/* One event; false: these words are none. */
static bool read_other(
    struct words *w, uint64_t word, uint64_t *tick, struct events_event *ev, uint64_t *strange)
{
	/* LOG_THREAD is one of those without a meaning: see format/seg_log.h */
	switch (log_tag(word) == LOG_TAG_OTHER ? log_type(word) : 0) {
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
		ev->kind = log_type(word) == LOG_INHERITED ? EVENTS_INHERITED : EVENTS_UNLOGGED;
		ev->site = (uint32_t)log_payload(word) & ((1u << LOG_SITE_BITS) - 1);
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

static int read_run(const struct logcode_head *h, const struct logcode_run *r,
    const uint64_t *words, logwords_each *each, void *context, uint64_t *strange)
{
	struct words w = {words, words + r->words, (r->number << LOG_INDEX_BITS) + r->index};
	uint64_t tick = r->tick;
	int err = 0;

	while (err == 0 && w.at < w.end) {
		struct events_event ev = {
		    .process = h, .thread = r->thread, .tid = r->tid, .name = w.name};
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
			is_event = read_other(&w, word, &tick, &ev, strange);
		}
		ev.tick = tick;
		if (is_event)
			err = each(context, &ev);
	}
	return err;
}

int logwords_read(const struct logcode *c, logwords_each *each, void *context, uint64_t *strange)
{
	const uint64_t *words = c->words;
	int err = 0;

	for (uint32_t i = 0; err == 0 && i < c->head.runs; i++) {
		err = read_run(&c->head, &c->runs[i], words, each, context, strange);
		words += c->runs[i].words;
	}
	return err;
}
