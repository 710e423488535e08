/* who.c - finds the block that holds, or last held, an address. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "findings/who.h"

#include "kit/data/room.h"
#include "segments/blocks/live_map.h"
#include "session/process/family.h"
#include "view/stacks/frames.h"

/* of one process; at this number the older half is given up */
enum { MATCHES_MAX = 1 << 20 };

#define MAP_NS (UINT64_C(10) * 1000000000)

struct match {
	uint32_t ring; /* in which order the rings came */
	uint32_t index;
	struct who_event at;
};

struct found {
	struct match *matches; /* from who_answer() on by time */
	size_t count, room;
	bool has_map; /* all live blocks were looked at */
	bool is_in_map;
	struct live_map_block block;
};

struct who {
	const struct session *session;
	uint64_t address;
	struct found *found; /* for each process */
	uint32_t rings;
	uint8_t uuid[16]; /* of the last ring, and the number of its process */
	size_t at;
};

int who_new(const struct session *s, uint64_t address, struct who **ret)
{
	struct who *w = calloc(1, sizeof(*w));

	if (!w)
		return -ENOMEM;
	w->session = s;
	w->address = address;
	w->at = s->count; /* the uuid 0 is nobody's */
	w->found = calloc(s->count + 1, sizeof(*w->found));
	if (!w->found) {
		free(w);
		return -ENOMEM;
	}
	*ret = w;
	return 0;
}

void who_free(struct who *w)
{
	if (!w)
		return;
	for (size_t i = 0; i < w->session->count; i++)
		free(w->found[i].matches);
	free(w->found);
	free(w);
}

static bool covers(uint64_t address, uint64_t size, uint64_t asked)
{
	return asked >= address && asked - address < (size ? size : 1);
}

/*
 * By time, and events of one thread in their order. Whether two events of
 * different threads in the same 10 ms came in this order is not known.
 */
static int by_time(const void *a, const void *b)
{
	const struct match *x = a, *y = b;
	const uint64_t s = x->at.event.tick, t = y->at.event.tick;

	if (s != t)
		return s > t ? 1 : -1;
	if (x->ring != y->ring)
		return x->ring > y->ring ? 1 : -1;
	return (x->index > y->index) - (x->index < y->index);
}

static void forget_older_half(struct found *f)
{
	const size_t kept = f->count / 2;

	qsort(f->matches, f->count, sizeof(*f->matches), by_time);
	memmove(f->matches, f->matches + f->count - kept, kept * sizeof(*f->matches));
	f->count = kept;
}

int who_look(void *who, const struct log_head *head, const struct flightring *ring)
{
	struct who *w = who;
	struct found *f = NULL;

	w->rings++;
	if (memcmp(w->uuid, head->uuid, sizeof(w->uuid)) != 0) {
		memcpy(w->uuid, head->uuid, sizeof(w->uuid));
		w->at = session_number(w->session, head->uuid);
	}
	if (w->at < w->session->count)
		f = &w->found[w->at];
	for (size_t i = 0; f && i < ring->count; i++) {
		const struct flightring_event *e = &ring->events[i];

		/* of an unknown block only the beginning is known */
		if (e->kind == FLIGHTRING_UNKNOWN ? e->address > w->address
		                                  : !covers(e->address, e->size, w->address))
			continue;
		if (f->count >= MATCHES_MAX)
			forget_older_half(f);
		if (room_make(&f->matches, &f->room, f->count, sizeof(*f->matches)) < 0)
			return -ENOMEM;
		f->matches[f->count++] =
		    (struct match){w->rings, (uint32_t)i, {true, ring->thread, *e}};
	}
	return 0;
}

/* ---- live maps ---- */

struct map_search {
	struct found *found;
	uint64_t address;
};

static bool look_at_block(const struct live_map_block *b, void *arg)
{
	struct map_search *m = arg;

	if (covers(b->address, b->size, m->address)) {
		m->found->is_in_map = true;
		m->found->block = *b;
	}
	return true;
}

int who_look_at_maps(struct who *w, unsigned pid)
{
	int count = 0;

	for (size_t i = 0; i < w->session->count; i++) {
		struct process *p = w->session->processes[i];
		struct map_search search = {&w->found[i], w->address};
		struct live_map m = {.each = look_at_block,
		    .arg = &search,
		    .wants_inherited = true,
		    .is_list = true};
		int err;

		if (p->running_pid == 0 || (pid && p->header.pid != pid))
			continue;
		err = live_map_read(&m, p->running_pid, &p->header, MAP_NS);
		if (err == -ENOMEM) {
			live_map_release(&m);
			return err;
		}
		w->found[i].has_map = err == 0 && !m.is_partial;
		count += err == 0;
		live_map_release(&m);
	}
	return count;
}

/* ---- the answer ---- */

static const struct match *newest(const struct found *f, enum flightring_kind kind)
{
	for (size_t i = f->count; i-- > 0;)
		if (f->matches[i].at.event.kind == kind)
			return &f->matches[i];
	return NULL;
}

static bool is_same_block(const struct flightring_event *a, const struct flightring_event *b)
{
	return a->address == b->address && a->size == b->size && a->site == b->site;
}

/* Did a come after b, as far as that is known? */
static bool is_after(const struct match *a, const struct match *b)
{
	const struct flightring_event *x = &a->at.event, *y = &b->at.event;

	if (x->tick != y->tick)
		return x->tick > y->tick;
	if (a->ring == b->ring)
		return a->index > b->index;
	/* a free of this very block came after it */
	return x->kind != FLIGHTRING_ALLOC && is_same_block(x, y);
}

/*
 * Threads have freed and allocated this address in the same 10 ms, in an order
 * that is not known. But the one follows the other, so their numbers say which
 * was the last: after as many frees as allocations the address is what it was
 * before them. Returns 1: in use, 0: free, -1: that is not known.
 */
static int use_by_count(const struct found *f, const struct match *last)
{
	const struct flightring_event *l = &last->at.event;
	long sum = 0;
	int before = -1;

	for (size_t i = 0; i < f->count; i++) {
		const struct flightring_event *e = &f->matches[i].at.event;
		const bool allocates = e->kind == FLIGHTRING_ALLOC;

		if (e->address != l->address || e->kind == FLIGHTRING_UNKNOWN || e->tick > l->tick)
			continue;
		if (e->tick < l->tick)
			before = allocates;
		else
			sum += allocates ? 1 : -1;
	}
	return sum > 0 ? 1 : sum < 0 ? 0 : before;
}

/* Is the block of the allocation `a` freed, as far as that is known? */
static bool is_freed(const struct found *f, const struct match *a, const struct match *freed)
{
	const struct flightring_event *x = &a->at.event, *y = &freed->at.event;
	int use = -1;

	if (x->tick == y->tick && a->ring != freed->ring && x->address == y->address)
		use = use_by_count(f, a);
	return use < 0 ? is_after(freed, a) : use == 0;
}

/* The allocation of the block that was freed. */
static void find_allocation(const struct found *f, const struct match *freed, struct who_event *ret)
{
	for (size_t i = f->count; i-- > 0;) {
		const struct match *m = &f->matches[i];

		if (m->at.event.kind == FLIGHTRING_ALLOC &&
		    is_same_block(&m->at.event, &freed->at.event) && is_after(freed, m)) {
			*ret = m->at;
			return;
		}
	}
}

/*
 * A site with a lower id than the first of the process is one of a process from
 * which it was forked.
 */
static void find_ancestor(const struct session *s, struct who_block *b)
{
	const struct process *p = b->process;
	uint32_t stack;

	b->is_inherited = b->site < p->header.first_id;
	if (!b->is_inherited)
		return;
	p = family_owner(s, p, b->site);
	if (p && callstack_find(p, b->site, &stack))
		b->ancestor = p;
}

static void answer_map(const struct found *f, struct who_block *ret)
{
	ret->state = WHO_LIVE;
	ret->is_in_map = ret->is_birth_known = true;
	ret->address = f->block.address;
	ret->size = f->block.size;
	ret->site = f->block.site;
	ret->birth = f->block.birth;
	for (size_t i = f->count; i-- > 0;) {
		const struct flightring_event *e = &f->matches[i].at.event;

		if (e->kind == FLIGHTRING_ALLOC && e->site == ret->site && e->size == ret->size &&
		    e->address == ret->address) {
			ret->allocated = f->matches[i].at;
			return;
		}
	}
}

static void answer_freed(const struct found *f, const struct match *freed, struct who_block *ret)
{
	const struct flightring_event *e = &freed->at.event;
	const uint64_t ticks = SEG_TICK_NS / LOG_TICK_NS;

	ret->state = e->is_resized ? WHO_RESIZED : WHO_FREED;
	ret->address = e->address;
	ret->size = e->size;
	ret->site = e->site;
	ret->freed = freed->at;
	ret->birth = e->tick / ticks > e->age ? (uint32_t)(e->tick / ticks - e->age) : 0;
	/* the age of an inherited block is one on the parent's clock */
	ret->is_birth_known = e->site >= ret->process->header.first_id;
	find_allocation(f, freed, &ret->allocated);
}

/* The newest free of what was no block, at this address. */
static const struct match *newest_again(const struct found *f, uint64_t address)
{
	for (size_t i = f->count; i-- > 0;)
		if (f->matches[i].at.event.kind == FLIGHTRING_UNKNOWN &&
		    f->matches[i].at.event.address == address)
			return &f->matches[i];
	return NULL;
}

bool who_answer(const struct who *w, size_t i, struct who_block *ret)
{
	struct found *f = &w->found[i];
	const struct match *a, *freed, *again;

	*ret = (struct who_block){.process = w->session->processes[i]};
	if (f->count > 0)
		qsort(f->matches, f->count, sizeof(*f->matches), by_time);
	a = newest(f, FLIGHTRING_ALLOC);
	freed = newest(f, FLIGHTRING_FREE);
	if (f->is_in_map) {
		answer_map(f, ret);
	} else if (freed && (!a || is_freed(f, a, freed))) {
		answer_freed(f, freed, ret);
	} else if (a) {
		ret->state = f->has_map ? WHO_GONE : WHO_LIVE;
		ret->address = a->at.event.address;
		ret->size = a->at.event.size;
		ret->site = a->at.event.site;
		ret->allocated = a->at;
	}
	again = newest_again(f, ret->state == WHO_UNKNOWN ? w->address : ret->address);
	if (again && !(freed && is_after(freed, again)) && !(a && is_after(a, again)))
		ret->again = again->at;
	if (ret->state == WHO_UNKNOWN)
		return false;
	find_ancestor(w->session, ret);
	ret->is_birth_known &= !ret->is_inherited || ret->ancestor;
	return true;
}

/* ---- log_places: what lines of events say of the sites of one process ---- */

static bool same_id(const void *items, uint32_t item, const void *key)
{
	const struct log_place *all = items;

	return all[item].id == *(const uint32_t *)key;
}

static bool is_included(void *context, const char *function)
{
	return regexec(context, function, 0, NULL, 0) == 0;
}

/* Of the process, but not asked for so far. NULL: out of memory. */
static const struct log_place *add(struct log_places *p, uint32_t id, uint32_t stack)
{
	struct log_place one = {
	    .id = id, .has_stack = true, .is_wanted = !p->include, .stack = stack};
	uint32_t number;

	if (room_make(&p->items, &p->room, p->count, sizeof(one)) < 0)
		return NULL;
	one.function = callstack_function(p->names, p->process, stack, &one.name);
	if (!one.function)
		return NULL;
	if (p->include)
		one.is_wanted = callstack_matches(
		    p->names, p->process, stack, is_included, (void *)(uintptr_t)p->include);
	if (dict_find(&p->by_id, dict_hash(id, 0, 0), same_id, p->items, &id, (uint32_t)p->count,
	        &number) < 0) {
		free(one.function);
		return NULL;
	}
	p->items[p->count] = one;
	return &p->items[p->count++];
}

const struct log_place *log_places_find(struct log_places *p, uint32_t id)
{
	static const struct log_place unknown = {.is_wanted = true},
	                              unwanted = {.is_wanted = false};
	uint32_t number, stack;

	if (dict_seek(&p->by_id, dict_hash(id, 0, 0), same_id, p->items, &id, &number))
		return &p->items[number];
	if (!callstack_find(p->process, id, &stack))
		return p->include ? &unwanted : &unknown;
	return add(p, id, stack);
}

void log_places_release(struct log_places *p)
{
	for (size_t i = 0; i < p->count; i++)
		free(p->items[i].function);
	free(p->items);
	dict_release(&p->by_id);
	p->items = NULL;
	p->count = p->room = 0;
}

/* ---- log_lack: says why a process has no event log ---- */

static const char *const reasons[] = {
    [SEG_LOG_LACK_SETTING] = "SEEP_LOG has a value that seep does not know (1, addresses, last, or "
                             "last:N with N from 16 to 1048576; ,frees behind last)",
    [SEG_LOG_LACK_SAMPLE] = "SEEP_LOG was ignored, because SEEP_SAMPLE was "
                            "set and a log needs every event",
    [SEG_LOG_LACK_PRIVATE] = "SEEP_LOG was ignored, because SEEP_PRIVATE was "
                             "set and a log needs shared memory",
    [SEG_LOG_LACK_SMALL] = "SEEP_LOG_POOL is below 256KiB, which is the least",
    [SEG_LOG_LACK_ROOM] = "there was too little room for its pool of 256KiB or more: it takes at "
                          "most 1/4 of what is free in the file system of SEEP_DIR, and a part "
                          "of the memory cgroup, of ulimit -f and of ulimit -v",
    [SEG_LOG_LACK_FILE] = "its file could not be made beside the segment",
    [SEG_LOG_LACK_MEMORY] = "there was no memory for it",
    [SEG_LOG_LACK_CHILD] = "a forked child for which its parent's log file has no pool left, or "
                           "one made by clone() or _Fork() by a process that may become another "
                           "user",
    [SEG_LOG_LACK_EARLY] = "a forked child that ended in its first events, of "
                           "which only sums are kept",
};

bool log_lack_words(const struct seg_header *h, char ret[LOG_LACK_BYTES])
{
	uint32_t why = h->log_lack;
	bool is_known = why < sizeof(reasons) / sizeof(reasons[0]) && reasons[why];
	const char *error = h->log_lack_error > 0 && h->log_lack_error < 4096
	    ? strerrordesc_np((int)h->log_lack_error)
	    : NULL;

	if (h->log_state == SEG_LOG_ON || h->log_state == SEG_LOG_LAST)
		return false;
	if (!is_known && h->log_state == SEG_LOG_NONE)
		return false;
	(void)snprintf(ret, LOG_LACK_BYTES, "%s%s%s",
	    is_known ? reasons[why] : "no pool could be made for it", error ? ": " : "",
	    error ? error : "");
	return true;
}
