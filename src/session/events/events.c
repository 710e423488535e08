/* events.c - the events of a log: every free finds its allocation. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "session/events/events.h"

#include "session/events/logblocks.h"
#include "session/events/logread.h"
#include "format/seg_log.h"
#include "kit/data/capped.h"
#include "kit/data/dict.h"
#include "kit/data/room.h"

/* Allocations that a thread has made so far. */
struct thread {
	uint32_t thread;
	uint32_t ordinal;
};

struct member {
	uint8_t uuid[16];
	struct events_sums sums;
	struct logblocks blocks;
	struct logsites sites;
	struct dict by_thread;
	struct thread *threads;
	size_t thread_count, thread_room;
	bool is_cut; /* some of its events are later than the cut */
	uint64_t left_out;
};

struct events {
	events_each *each;
	void *context;
	struct dict by_uuid;
	struct member *members;
	size_t count, room;
	bool counts_sites;
	bool is_cut;
	uint64_t base_ns, until_ms; /* of the cut */
};

/* An entry while it is fed. */
struct feeding {
	struct events *events;
	struct member *member;
	uint32_t thread; /* number in member->threads, of the last event */
	uint64_t mark;   /* of a block that is gone, or has none yet */
};

int events_new(events_each *each, void *context, struct events **ret)
{
	struct events *e = calloc(1, sizeof(*e));

	if (!e)
		return -ENOMEM;
	e->each = each;
	e->context = context;
	*ret = e;
	return 0;
}

void events_free(struct events *e)
{
	if (!e)
		return;
	for (size_t i = 0; i < e->count; i++) {
		logblocks_release(&e->members[i].blocks);
		logsites_release(&e->members[i].sites);
		dict_release(&e->members[i].by_thread);
		free(e->members[i].threads);
	}
	dict_release(&e->by_uuid);
	free(e->members);
	free(e);
}

void events_cut(struct events *e, uint64_t base_ns, uint64_t until_ms)
{
	e->is_cut = true;
	e->base_ns = base_ns;
	e->until_ms = until_ms;
}

void events_count_sites(struct events *e)
{
	e->counts_sites = true;
}

uint64_t events_time_ms(const struct logcode_head *process, uint64_t tick, uint64_t base_ns)
{
	uint64_t start = process->start_monotonic_ns;

	start = start > base_ns ? start - base_ns : 0;
	if (tick > UINT64_MAX / LOG_TICK_NS / 2 || start > UINT64_MAX / 2)
		return UINT64_MAX / 1000000;
	return (start + tick * LOG_TICK_NS) / 1000000;
}

/* ---- processes and threads ---- */

static bool same_uuid(const void *items, uint32_t item, const void *key)
{
	const struct member *m = items;

	return memcmp(m[item].uuid, key, 16) == 0;
}

static bool same_thread(const void *items, uint32_t item, const void *key)
{
	const struct thread *t = items;

	return t[item].thread == *(const uint32_t *)key;
}

static struct member *member_of(struct events *e, const uint8_t uuid[16])
{
	uint32_t number;

	if (room_make(&e->members, &e->room, e->count, sizeof(*e->members)) < 0 ||
	    dict_find(&e->by_uuid, dict_hash_bytes(uuid, 16), same_uuid, e->members, uuid,
	        (uint32_t)e->count, &number) < 0)
		return NULL;
	if (number == e->count) {
		memset(&e->members[e->count], 0, sizeof(*e->members));
		memcpy(e->members[e->count++].uuid, uuid, 16);
	}
	return &e->members[number];
}

/* NULL: out of memory. */
static struct thread *thread_of(struct feeding *f, uint32_t thread)
{
	struct member *m = f->member;
	uint32_t number;

	if (f->thread < m->thread_count && m->threads[f->thread].thread == thread)
		return &m->threads[f->thread];
	if (room_make(&m->threads, &m->thread_room, m->thread_count, sizeof(*m->threads)) < 0 ||
	    dict_find(&m->by_thread, dict_hash(thread, 0, 0), same_thread, m->threads, &thread,
	        (uint32_t)m->thread_count, &number) < 0)
		return NULL;
	if (number == m->thread_count)
		m->threads[m->thread_count++] = (struct thread){.thread = thread};
	f->thread = number;
	return &m->threads[number];
}

/* ---- events ---- */

static int count_free(struct events *e, struct member *m, uint32_t site, uint64_t size)
{
	struct logindex_site *row;

	if (!e->counts_sites)
		return 0;
	row = logsites_row(&m->sites, site);
	if (!row)
		return -ENOMEM;
	logsites_free(row, size);
	return 0;
}

static int count_alloc(struct events *e, struct member *m, uint32_t site, uint64_t size)
{
	struct logindex_site *row;

	if (!e->counts_sites)
		return 0;
	row = logsites_row(&m->sites, site);
	if (!row)
		return -ENOMEM;
	logsites_alloc(row, size);
	return 0;
}

/* What the freed or resized block was. */
static int find_old(struct feeding *f, struct events_event *ev, const struct thread *t)
{
	struct member *m = f->member;
	struct logblocks_block old;

	m->sums.frees++;
	ev->was_found = logblocks_take(&m->blocks, ev->name, &old);
	if (!ev->was_found) {
		m->sums.orphans++;
		return 0;
	}
	ev->old_site = old.site;
	ev->old_size = old.size;
	ev->old_address = old.address;
	ev->born = old.born;
	f->mark = old.mark;
	/* thread 0 stands for several */
	ev->is_same_thread = old.thread == ev->thread && ev->thread != 0 && old.ordinal != 0;
	ev->between = t->ordinal - old.ordinal;
	if (ev->kind == EVENTS_FREE) {
		ev->site = ev->old_site;
		ev->size = ev->old_size;
	}
	return count_free(f->events, m, old.site, old.size);
}

static int put_block(struct feeding *f, struct events_event *ev, struct thread *t)
{
	struct member *m = f->member;
	struct logblocks_block *at;
	const struct logblocks_block one = {.name = ev->name,
	    .site = ev->site,
	    .size = ev->size,
	    .born = ev->kind == EVENTS_REALLOC && ev->was_found ? ev->born : ev->tick,
	    .thread = ev->thread,
	    .ordinal = ++t->ordinal,
	    .address = ev->address,
	    .mark = f->mark};
	int err;

	m->sums.allocations++;
	err = count_alloc(f->events, m, ev->site, ev->size);
	if (err < 0 || ev->name == 0)
		return err;
	err = logblocks_put(&m->blocks, &one);
	at = err < 0 ? NULL : logblocks_find(&m->blocks, ev->name);
	if (at)
		ev->mark = &at->mark;
	return err;
}

/* Allocations and frees in one event, as struct events_sums counts them. */
static uint64_t weight(const struct events_event *ev)
{
	switch (ev->kind) {
	case EVENTS_REALLOC:
		return 2;
	case EVENTS_ALLOC:
	case EVENTS_FREE:
	case EVENTS_UNLOGGED:
		return 1;
	default:
		return 0;
	}
}

static bool is_left_out(const struct feeding *f, const struct events_event *ev)
{
	const struct events *e = f->events;

	if (!e->is_cut)
		return false;
	if (events_time_ms(ev->process, ev->tick, e->base_ns) > e->until_ms) {
		f->member->is_cut = true;
		return true;
	}
	/* its allocation was left out, because every free comes after it */
	return (ev->kind == EVENTS_FREE || ev->kind == EVENTS_REALLOC) &&
	    !logblocks_find(&f->member->blocks, ev->name);
}

static int see(void *context, struct events_event *ev)
{
	struct feeding *f = context;
	struct events *e = f->events;
	struct member *m = f->member;
	struct thread *t;
	int err = 0;

	if (is_left_out(f, ev)) {
		m->left_out = capped_sum(m->left_out, weight(ev));
		return 0;
	}
	t = thread_of(f, ev->thread);
	if (!t)
		return -ENOMEM;
	f->mark = 0;
	ev->mark = &f->mark;
	if (ev->kind == EVENTS_FREE || ev->kind == EVENTS_REALLOC)
		err = find_old(f, ev, t);
	if (err == 0 && (ev->kind == EVENTS_ALLOC || ev->kind == EVENTS_REALLOC))
		err = put_block(f, ev, t);
	m->sums.inherited += ev->kind == EVENTS_INHERITED;
	m->sums.unlogged += ev->kind == EVENTS_UNLOGGED;
	if (ev->kind == EVENTS_GAP) {
		m->sums.lost = capped_sum(m->sums.lost, ev->count);
		t->ordinal += (uint32_t)ev->count;
	}
	return err < 0 || !e->each ? err : e->each(e->context, ev);
}

int events_feed(struct events *e, const struct logcode *c)
{
	struct feeding f = {.events = e, .thread = UINT32_MAX};

	f.member = member_of(e, c->head.uuid);
	if (!f.member)
		return -ENOMEM;
	return logwords_read(c, see, &f, &f.member->sums.strange);
}

/* ---- by the index ---- */

/* Removes a block that the entry freed or resized, and counts it as freed. */
static int take_old(
    struct events *e, struct member *m, uint32_t name, struct logblocks_block *ret, bool *ret_found)
{
	*ret_found = logblocks_take(&m->blocks, name, ret);
	if (*ret_found)
		return count_free(e, m, ret->site, ret->size);
	m->sums.orphans += !e->is_cut; /* as is_left_out() */
	return 0;
}

static int skip_block(struct member *m, const struct logindex_block *b, uint64_t born)
{
	/* thread and ordinal are not known */
	const struct logblocks_block one = {
	    .name = b->name, .site = b->site, .size = b->size, .born = born};

	return b->name ? logblocks_put(&m->blocks, &one) : 0;
}

static int skip_blocks(struct events *e, struct member *m, const struct logindex *x)
{
	struct logblocks_block old;
	bool found;
	int err = 0;

	for (uint32_t i = 0; i < x->head.gone && err == 0; i++)
		err = take_old(e, m, x->gone[i], &old, &found);
	for (uint32_t i = 0; i < x->head.moved && err == 0; i++) {
		err = take_old(e, m, x->moved[i].name, &old, &found);
		if (err == 0 && (found || !e->is_cut))
			err = skip_block(m, &x->moved[i], found ? old.born : x->moved[i].tick);
	}
	for (uint32_t i = 0; i < x->head.born && err == 0; i++)
		err = skip_block(m, &x->born[i], x->born[i].tick);
	return err;
}

static int skip_sites(struct events *e, struct member *m, const struct logindex *x)
{
	for (uint32_t i = 0; e->counts_sites && i < x->head.sites; i++) {
		struct logindex_site *row = logsites_row(&m->sites, x->sites[i].site);

		if (!row)
			return -ENOMEM;
		logsites_add(row, &x->sites[i]);
	}
	return 0;
}

static void add_sums(struct events_sums *to, const struct events_sums *from)
{
	to->allocations = capped_sum(to->allocations, from->allocations);
	to->frees = capped_sum(to->frees, from->frees);
	to->inherited = capped_sum(to->inherited, from->inherited);
	to->unlogged = capped_sum(to->unlogged, from->unlogged);
	to->lost = capped_sum(to->lost, from->lost);
	to->orphans = capped_sum(to->orphans, from->orphans);
	to->strange = capped_sum(to->strange, from->strange);
}

int events_skip(struct events *e, const struct logindex *x)
{
	const struct events_sums sums = {.allocations = x->head.allocations,
	    .frees = x->head.frees,
	    .inherited = x->head.inherited,
	    .unlogged = x->head.unlogged,
	    .lost = x->head.lost,
	    .orphans = x->head.orphans,
	    .strange = x->head.strange};
	struct member *m = member_of(e, x->head.log.uuid);
	int err;

	if (!m)
		return -ENOMEM;
	add_sums(&m->sums, &sums);
	err = skip_sites(e, m, x);
	return err < 0 ? err : skip_blocks(e, m, x);
}

int events_drop(struct events *e, const struct logindex *x)
{
	struct member *m = member_of(e, x->head.log.uuid);

	if (!m)
		return -ENOMEM;
	m->is_cut = true;
	m->left_out = capped_sum(m->left_out,
	    capped_sum(capped_sum(x->head.allocations, x->head.frees), x->head.unlogged));
	return 0;
}

/* ---- results ---- */

struct events_sums events_sums(const struct events *e)
{
	struct events_sums sums = {0};

	for (size_t i = 0; i < e->count; i++)
		add_sums(&sums, &e->members[i].sums);
	return sums;
}

bool events_process(const struct events *e, const uint8_t uuid[16], struct events_process *ret)
{
	const struct member *m;
	uint32_t number;

	if (!dict_seek(
	        &e->by_uuid, dict_hash_bytes(uuid, 16), same_uuid, e->members, uuid, &number))
		return false;
	m = &e->members[number];
	*ret = (struct events_process){.sums = m->sums,
	    .blocks = &m->blocks,
	    .sites = &m->sites,
	    .is_whole = !m->is_cut,
	    .left_out = m->left_out};
	return true;
}
