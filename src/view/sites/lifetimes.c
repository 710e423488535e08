/* lifetimes.c - how long the blocks of a site live, from an event log. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "view/sites/ages.h"

#include "base/std.h"
#include "session/events/session_log.h"
#include "kit/data/capped.h"

/* Where sites are that were seen lately. */
enum { CACHE = 1024 };
struct cached {
	uint32_t id;
	uint32_t process; /* number + 1; 0: nothing is here */
	struct lifetimes_site *site;
};

struct lifetimes {
	const struct session *session;
	struct lifetimes_site **sites; /* by process, by site */
	size_t count;
	uint32_t within;
	size_t last; /* process of the last event */
	struct cached cache[CACHE];
	uint64_t strange;
};

/* ---- counts by value ---- */

static size_t bin_of(uint64_t v)
{
	unsigned bits;

	if (v < LIFETIMES_EXACT)
		return (size_t)v;
	bits = 63 - (unsigned)__builtin_clzll(v);
	return (size_t)(bits - 4) * LIFETIMES_EXACT + (size_t)(v >> (bits - 4));
}

/* The lowest value of a bin. */
static uint64_t value_of(size_t bin)
{
	size_t octave = bin / LIFETIMES_EXACT;

	if (octave == 0)
		return bin;
	return (uint64_t)(LIFETIMES_EXACT + bin % LIFETIMES_EXACT) << (octave - 1);
}

static int count(struct lifetimes_counts *c, uint64_t value)
{
	size_t bin = bin_of(value);

	if (bin >= c->room) {
		size_t room = (bin / LIFETIMES_EXACT + 1) * LIFETIMES_EXACT;
		uint64_t *more = reallocarray(c->bins, room, sizeof(*more));

		if (!more)
			return -ENOMEM;
		memset(more + c->room, 0, (room - c->room) * sizeof(*more));
		c->bins = more;
		c->room = room;
	}
	c->bins[bin]++;
	c->sum++;
	return 0;
}

uint64_t lifetimes_percentile(const struct lifetimes_counts *c, unsigned percent)
{
	/* without a product that wraps */
	uint64_t rest = c->sum % 100 * percent;
	uint64_t wanted = c->sum / 100 * percent + (rest + 99) / 100;
	uint64_t seen = 0;

	for (size_t i = 0; i < c->room; i++) {
		seen += c->bins[i];
		if (seen >= wanted && seen > 0)
			return value_of(i);
	}
	return 0;
}

void lifetimes_classes(const struct lifetimes_counts *c, uint64_t ret[LIFETIMES_CLASSES])
{
	memset(ret, 0, LIFETIMES_CLASSES * sizeof(*ret));
	for (size_t i = 0; i < c->room; i++) {
		uint64_t v = value_of(i);

		ret[v ? 64 - __builtin_clzll(v) : 0] += c->bins[i];
	}
}

/* ---- events ---- */

int lifetimes_new(const struct session *s, uint32_t within, struct lifetimes **ret)
{
	struct lifetimes *l = calloc(1, sizeof(*l));

	if (!l)
		return -ENOMEM;
	l->session = s;
	l->within = within;
	l->sites = calloc(s->count + 1, sizeof(struct lifetimes_site *));
	for (; l->sites && l->count < s->count; l->count++) {
		l->sites[l->count] =
		    calloc(s->processes[l->count]->site_count + 1, sizeof(struct lifetimes_site));
		if (!l->sites[l->count])
			break;
	}
	if (!l->sites || l->count < s->count) {
		lifetimes_free(l);
		return -ENOMEM;
	}
	*ret = l;
	return 0;
}

void lifetimes_free(struct lifetimes *l)
{
	if (!l)
		return;
	for (size_t i = 0; i < l->count; i++) {
		for (size_t k = 0; k < l->session->processes[i]->site_count; k++) {
			free(l->sites[i][k].ticks.bins);
			free(l->sites[i][k].between.bins);
		}
		free(l->sites[i]);
	}
	free(l->sites);
	free(l);
}

static bool is_process(const struct lifetimes *l, size_t i, const uint8_t uuid[16])
{
	return i < l->count && memcmp(l->session->processes[i]->header.uuid, uuid, 16) == 0;
}

/* NULL: the session does not have it. */
static struct lifetimes_site *site_of(struct lifetimes *l, const struct events_event *e)
{
	const uint8_t *uuid = e->process->uuid;
	struct cached *c = &l->cache[e->old_site % CACHE];
	size_t i = l->last, number;

	if (!is_process(l, i, uuid))
		for (i = 0; i < l->count && !is_process(l, i, uuid); i++)
			;
	if (c->process == i + 1 && c->id == e->old_site)
		return c->site;
	if (i == l->count || !session_log_site(l->session->processes[i], e->old_site, &number)) {
		/* a running process has new sites meanwhile */
		l->strange += i == l->count || l->session->processes[i]->end != PROCESS_RUNNING;
		return NULL;
	}
	l->last = i;
	*c = (struct cached){
	    .id = e->old_site, .process = (uint32_t)i + 1, .site = &l->sites[i][number]};
	return c->site;
}

int lifetimes_see(void *lifetimes, const struct events_event *e)
{
	struct lifetimes *l = lifetimes;
	struct lifetimes_site *s;
	int err = 0;

	if ((e->kind != EVENTS_FREE && e->kind != EVENTS_REALLOC) || !e->was_found)
		return 0;
	s = site_of(l, e);
	if (!s)
		return 0;
	if (e->is_same_thread && e->between <= l->within) {
		s->within_blocks++;
		s->within_bytes = capped_sum(s->within_bytes, e->old_size);
	}
	if (e->kind == EVENTS_REALLOC) {
		s->resized++;
		return 0;
	}
	s->freed++;
	err = count(&s->ticks, capped_difference(e->tick, e->born));
	if (err == 0 && e->is_same_thread)
		err = count(&s->between, e->between);
	return err;
}

const struct lifetimes_site *lifetimes_site(const struct lifetimes *l, size_t process, size_t site)
{
	return &l->sites[process][site];
}

uint32_t lifetimes_within(const struct lifetimes *l)
{
	return l->within;
}

uint64_t lifetimes_strange(const struct lifetimes *l)
{
	return l->strange;
}
