/* logread.c - reads the event log of a process out of its pool. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "session/events/logread.h"

#include <sys/file.h>

#include "format/seg_log.h"
#include "kit/data/room.h"
#include "kit/data/sorted.h"
#include "segments/read/segfile.h"

enum {
	NUMBERS = 1 << LOG_NUMBER_BITS,
	EMPTY_MAX = 16,   /* unused chunks in a row: no more will come */
	STAMP_TICKS = 10, /* stamps of words within so many can be compared */
};

/* One place of the pool, and the chunk that is in it. */
struct place {
	uint32_t number;      /* 0: none yet */
	uint32_t next;        /* index of the first word that was not given out */
	uint32_t end;         /* words are known up to here */
	uint32_t thread, tid; /* of `next` */
	uint32_t last_thread; /* of `end`; see LOG_THREAD */
	uint32_t use, closed;
	uint64_t tick;    /* at `next` */
	uint64_t *words;  /* LOG_CHUNK_WORDS, or NULL */
	uint32_t goal;    /* up to which words are given out in this call */
	bool is_complete; /* no more words come */
	bool is_waiting;  /* it is on the stack of turns */
	bool is_returned;
};

struct logread {
	int fd, control; /* control: -1 if it does not drain */
	uint64_t offset; /* of the pool in the file */
	uint64_t control_at;
	struct log_head head;
	struct place *places;
	uint32_t used;        /* places that ever had a chunk */
	uint16_t *where;      /* number of a chunk -> place + 1 */
	uint64_t first, last; /* ticks of this call */
	bool is_cut;          /* the file is shorter than the pool */
};

/* ---- files ---- */

static int read_at(const struct logread *r, uint64_t at, void *to, size_t bytes)
{
	return logfile_read(r->fd, at, to, bytes);
}

static int check_head(const struct log_head *h, const uint8_t uuid[16])
{
	if (h->magic != LOG_MAGIC)
		return -ESTALE;
	if (h->version != LOG_VERSION)
		return -ENOTSUP;
	if (h->chunk_bytes != LOG_CHUNK_BYTES || h->chunk_count == 0 ||
	    h->chunk_count > LOG_CHUNKS_MAX || h->tick_ns != LOG_TICK_NS ||
	    (h->mode != LOG_MODE_EVENTS && h->mode != LOG_MODE_ADDRESSES))
		return -EBADMSG;
	return memcmp(h->uuid, uuid, 16) == 0 ? 0 : -ESTALE;
}

static int lock_control(struct logread *r, int dir, const char *name)
{
	r->control = logfile_open(dir, name, ".ctl", O_RDWR);
	if (r->control < 0)
		return r->control;
	/* the pools of a family share the file, so the lock is for a byte */
	struct flock l = {
	    .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = (off_t)r->control_at, .l_len = 1};
	return fcntl(r->control, F_OFD_SETLK, &l) < 0 ? -EBUSY : 0;
}

int logread_open(int dir, const char *name, uint32_t pool, const uint8_t uuid[16], bool drains,
    struct logread **ret)
{
	struct logread *r = calloc(1, sizeof(*r));
	int err = -ENOMEM;

	if (!r)
		return -ENOMEM;
	r->control = -1;
	r->fd = logfile_open(dir, name, "", O_RDONLY);
	if (r->fd < 0) {
		err = r->fd;
		goto out;
	}
	err = logfile_find_pool(r->fd, pool, &r->offset, &r->control_at);
	if (err == 0)
		err = read_at(r, r->offset, &r->head, sizeof(r->head));
	if (err == 0)
		err = check_head(&r->head, uuid);
	if (err == 0 && drains)
		err = lock_control(r, dir, name);
	if (err < 0)
		goto out;
	err = -ENOMEM;
	r->places = calloc(r->head.chunk_count, sizeof(*r->places));
	r->where = calloc(NUMBERS, sizeof(*r->where));
	if (!r->places || !r->where)
		goto out;
	*ret = r;
	return 0;
out:
	logread_close(r);
	return err;
}

void logread_close(struct logread *r)
{
	if (!r)
		return;
	for (uint32_t i = 0; r->places && i < r->head.chunk_count; i++)
		free(r->places[i].words);
	free(r->places);
	free(r->where);
	if (r->fd >= 0)
		(void)close(r->fd);
	if (r->control >= 0)
		(void)close(r->control);
	free(r);
}

/* ---- what is in the pool ---- */

static uint64_t chunk_at(const struct logread *r, uint32_t i)
{
	return r->offset + LOG_HEAD_BYTES + (uint64_t)i * LOG_CHUNK_BYTES;
}

/* Another chunk is in this place now. */
static void begin_chunk(struct logread *r, uint32_t i, const struct log_chunk *c)
{
	struct place *p = &r->places[i];
	uint64_t *words = p->words;

	if (p->number && r->where[p->number] == i + 1)
		r->where[p->number] = 0;
	*p = (struct place){.number = (uint32_t)log_payload(c->head),
	    .next = LOG_FIRST,
	    .end = LOG_FIRST,
	    .thread = c->thread,
	    .last_thread = c->thread,
	    .tid = c->tid,
	    .use = c->use,
	    .tick = c->tick,
	    .words = words};
	r->where[p->number] = (uint16_t)(i + 1);
}

static bool is_other(uint64_t word, enum log_type type)
{
	return log_tag(word) == LOG_TAG_OTHER && log_type(word) == type;
}

static uint32_t thread_in(uint64_t word)
{
	return (uint32_t)(log_payload(word) >> LOG_TID_BITS);
}

/* Reads the words from p->end on that are there. */
static int read_words(struct logread *r, uint32_t i, uint32_t limit, bool skips)
{
	struct place *p = &r->places[i];

	if (!p->words)
		p->words = calloc(LOG_CHUNK_WORDS, sizeof(*p->words));
	if (!p->words)
		return -ENOMEM;
	while (p->end < limit) {
		uint32_t n = limit - p->end;
		int err;

		/* see format/seg_log.h: one step after the other */
		if (!p->closed && n > LOG_CLEAR_WORDS - p->end % LOG_CLEAR_WORDS)
			n = LOG_CLEAR_WORDS - p->end % LOG_CLEAR_WORDS;
		err = read_at(r, chunk_at(r, i) + p->end * sizeof(uint64_t), p->words + p->end,
		    n * sizeof(uint64_t));
		if (err < 0)
			return err;
		for (uint32_t k = 0; k < n; k++, p->end++) {
			if (p->words[p->end] == 0 && !skips)
				return 0;
			if (p->words[p->end] == 0)
				p->words[p->end] = log_word(LOG_NOTHING, 0);
			if (is_other(p->words[p->end], LOG_THREAD) && !skips)
				p->last_thread = thread_in(p->words[p->end]);
		}
	}
	return 0;
}

/* Looks at one place. False: no chunk has ever been there. */
static int look_at(struct logread *r, uint32_t i, bool is_over, bool *ret_used)
{
	struct place *p = &r->places[i];
	struct log_chunk c, again;
	uint32_t limit;
	bool several;
	int err = read_at(r, chunk_at(r, i), &c, sizeof(c));

	*ret_used = false;
	if (err < 0)
		return err;
	if (log_tag(c.head) != LOG_TAG_OTHER || log_type(c.head) != LOG_CHUNK ||
	    log_payload(c.head) >= NUMBERS || log_payload(c.head) == 0 ||
	    memcmp(c.uuid, r->head.uuid, sizeof(c.uuid)) != 0)
		return 0;
	*ret_used = true;
	if (p->number != log_payload(c.head))
		begin_chunk(r, i, &c);
	if (c.closed > LOG_CHUNK_WORDS || (c.closed && c.closed < LOG_FIRST))
		c.closed = LOG_CHUNK_WORDS;
	p->closed = c.closed;
	limit = c.closed ? c.closed : LOG_CHUNK_WORDS;
	several = c.thread == 0;
	p->is_complete = c.closed && (!several || c.done >= c.closed - LOG_FIRST);
	if (p->end < limit)
		err = read_words(r, i, limit, several && (p->is_complete || is_over));
	/* the process may have used the chunk again meanwhile */
	if (err == 0)
		err = read_at(r, chunk_at(r, i), &again, sizeof(again));
	if (err == 0 && again.head != c.head)
		p->end = p->next;
	return err;
}

static int look_at_all(struct logread *r, bool is_over)
{
	uint32_t empty = 0;

	for (uint32_t i = 0; i < r->head.chunk_count; i++) {
		bool used;
		int err = look_at(r, i, is_over, &used);

		/* beyond the end of a file that is cut off there is nothing */
		if (err == -EBADMSG) {
			r->is_cut = true;
			return 0;
		}
		if (err < 0)
			return err;
		if (used && i >= r->used)
			r->used = i + 1;
		empty = used ? 0 : empty + 1;
		if (empty > EMPTY_MAX && i > r->used)
			break;
	}
	return 0;
}

/* ---- in which order ---- */

/*
 * A thread's words are in their order, also from one chunk to its next one. A
 * free or realloc comes after the allocation, and a free after all reallocs of
 * the block. The pool is looked at twice: words that were there at the first
 * look are given out (up to `goal`), and whatever they need was there at the
 * second look (up to `end`), because it happened before.
 */
enum step {
	STEP_END,   /* all words that were asked for are out */
	STEP_LATER, /* the time is later than asked for */
	STEP_WAITS, /* for words of another chunk */
};

/* Words of one chunk are wanted up to this index. */
struct turn {
	struct place *place;
	uint32_t end;
};

/* A realloc that is not out yet. */
struct resize {
	uint32_t name, place, index, stamp;
	uint64_t tick;
};

struct order {
	struct logread *log;
	struct logcode *to;
	const struct place *last; /* of the last run */
	struct resize *resizes;   /* by name */
	size_t count, room;
	struct turn *stack; /* each chunk at most once */
	bool is_out;        /* the word must go out, whatever it waits for */
};

BY(by_name, struct resize, UP(name))

static bool is_realloc(uint64_t word)
{
	return is_other(word, LOG_REALLOC);
}

/* Lists all reallocs among the words that were read. */
static int list_resizes(struct order *o)
{
	for (uint32_t i = 0; i < o->log->used; i++) {
		const struct place *p = &o->log->places[i];
		uint64_t tick = p->tick;

		for (uint32_t k = p->next; k < p->end; k++) {
			uint64_t w = p->words[k];

			if (log_tag(w) == LOG_TAG_OTHER && log_type(w) == LOG_TICK)
				tick = log_payload(w);
			if (!is_realloc(w))
				continue;
			if (room_make(&o->resizes, &o->room, o->count, sizeof(*o->resizes)) < 0)
				return -ENOMEM;
			o->resizes[o->count++] = (struct resize){.name = log_name(w),
			    .place = i,
			    .index = k,
			    .stamp = log_stamp(w),
			    .tick = tick};
		}
	}
	if (o->count > 0)
		qsort(o->resizes, o->count, sizeof(*o->resizes), by_name);
	return 0;
}

/* Was the realloc before the one that is next in p? */
static bool is_before(const struct resize *r, const struct place *p, uint64_t word)
{
	if (r->tick + STAMP_TICKS < p->tick || p->tick + STAMP_TICKS < r->tick)
		return r->tick < p->tick;
	return log_stamp_is_before(r->stamp, log_stamp(word));
}

/*
 * A realloc of the block in another chunk that must come before the word at
 * `next` of p: before a free all of them, before a realloc the earlier ones.
 */
static bool find_resize(
    const struct order *o, const struct place *p, uint64_t word, struct turn *ret)
{
	const struct resize key = {.name = log_name(word)};
	const struct resize *r =
	    o->count == 0 ? NULL : bsearch(&key, o->resizes, o->count, sizeof(key), by_name);

	if (!r)
		return false;
	while (r > o->resizes && r[-1].name == key.name)
		r--;
	for (; r < o->resizes + o->count && r->name == key.name; r++) {
		struct place *other = &o->log->places[r->place];

		if (other == p || r->index < other->next)
			continue; /* ours, or out */
		if (is_realloc(word) && !is_before(r, p, word))
			continue;
		*ret = (struct turn){other, r->index + 2};
		return true;
	}
	return false;
}

/* Words of another chunk that the next word of p waits for. */
static bool waits(const struct order *o, const struct place *p, struct turn *ret)
{
	struct logread *l = o->log;
	uint64_t word = p->words[p->next];
	uint32_t number, index;
	struct place *other;

	if (p->next == LOG_FIRST && p->thread != 0) {
		for (uint32_t i = 0; i < l->used; i++) {
			other = &l->places[i];
			if (other->last_thread != p->thread || other == p ||
			    other->number > p->number || other->next >= other->end)
				continue;
			*ret = (struct turn){other, other->end};
			return true;
		}
	}
	if (log_tag(word) != LOG_TAG_FREE && !is_realloc(word))
		return false;
	number = log_name(word) >> LOG_INDEX_BITS & (NUMBERS - 1);
	index = log_name(word) & LOG_INDEX_MASK;
	if (l->where[number] != 0) {
		other = &l->places[l->where[number] - 1];
		if (other != p && index >= other->next && index < other->end) {
			*ret = (struct turn){other, index + 1};
			return true;
		}
	}
	return find_resize(o, p, word, ret);
}

static int give_out(struct order *o, struct place *p)
{
	uint64_t word = p->words[p->next];
	struct logread *l = o->log;
	int err = 0;

	if (is_other(word, LOG_THREAD) && p->thread != 0) {
		p->thread = thread_in(word);
		p->tid = (uint32_t)(log_payload(word) & ((1u << LOG_TID_BITS) - 1));
		p->next++;
		o->last = NULL; /* another run begins */
		return 0;
	}
	if (o->last != p) {
		const struct logcode_run run = {.number = p->number,
		    .index = p->next,
		    .thread = p->thread,
		    .tid = p->tid,
		    .tick = p->tick};

		err = logcode_add_run(o->to, &run);
		o->last = p;
	}
	if (err == 0)
		err = logcode_add_word(o->to, word);
	p->next++;
	if (log_tag(word) == LOG_TAG_OTHER && log_type(word) == LOG_TICK)
		p->tick = log_payload(word);
	if (p->tick > l->last)
		l->last = p->tick;
	if (p->tick < l->first)
		l->first = p->tick;
	return err;
}

/* Words of one event stay together: is this one of an event before it? */
static bool continues(const struct place *p)
{
	uint64_t word = p->words[p->next];

	if (p->next == LOG_FIRST)
		return false;
	return (log_tag(word) == LOG_TAG_OTHER &&
	           (log_type(word) == LOG_SIZE || log_type(word) == LOG_ADDRESS)) ||
	    (log_tag(word) == LOG_TAG_ALLOC && is_realloc(p->words[p->next - 1]));
}

/* Gives out words of one chunk, as far as possible. */
static int go_on(struct order *o, const struct turn *t, uint64_t limit_tick, struct turn *ret_other,
    enum step *ret)
{
	struct place *p = t->place;
	int err = 0;

	while (err == 0) {
		*ret = STEP_END;
		if (p->next >= p->end)
			return 0;
		if (!continues(p)) {
			if (p->next >= t->end)
				return 0;
			*ret = STEP_LATER;
			if (p->tick > limit_tick)
				return 0;
			*ret = STEP_WAITS;
			if (!o->is_out && waits(o, p, ret_other))
				return 0;
		}
		o->is_out = false;
		err = give_out(o, p);
	}
	return err;
}

/* The chunk with the earliest words, and the time of the next one. */
static struct place *earliest(struct logread *r, uint64_t *ret_limit)
{
	struct place *best = NULL;

	*ret_limit = UINT64_MAX;
	for (uint32_t i = 0; i < r->used; i++) {
		struct place *p = &r->places[i];

		if (p->next >= p->goal)
			continue;
		if (!best || p->tick < best->tick ||
		    (p->tick == best->tick && p->number < best->number)) {
			if (best)
				*ret_limit = best->tick;
			best = p;
		} else if (p->tick < *ret_limit) {
			*ret_limit = p->tick;
		}
	}
	return best;
}

/*
 * One chunk, and those whose words it waits for. Waiting for each other is not
 * possible in a sound log; in another one, the word goes out.
 */
static int take_turns(struct order *o, struct place *first, uint64_t limit)
{
	size_t depth = 1;
	int err = 0;

	o->stack[0] = (struct turn){first, first->goal};
	first->is_waiting = true;
	while (err == 0 && depth > 0) {
		struct turn *t = &o->stack[depth - 1], other = {0};
		enum step s;

		err = go_on(o, t, depth == 1 ? limit : UINT64_MAX, &other, &s);
		if (err < 0)
			break;
		if (s == STEP_WAITS && other.place && !other.place->is_waiting) {
			other.place->is_waiting = true;
			o->stack[depth++] = other;
		} else if (s == STEP_WAITS) {
			o->is_out = true;
		} else {
			t->place->is_waiting = false;
			depth--;
		}
	}
	return err;
}

int logread_take(struct logread *r, bool is_over, struct logcode *ret)
{
	struct order o = {.log = r, .to = ret};
	struct place *p;
	uint64_t limit;
	int err;

	if (ret->head.words == 0) {
		ret->head = (struct logcode_head){.version = LOGCODE_VERSION,
		    .mode = r->head.mode,
		    .pid = r->head.pid,
		    .first_number = r->head.first_number,
		    .first_tick = UINT64_MAX,
		    .start_monotonic_ns = r->head.start_monotonic_ns};
		memcpy(ret->head.uuid, r->head.uuid, sizeof(ret->head.uuid));
	}
	r->first = ret->head.first_tick;
	r->last = ret->head.last_tick;
	err = look_at_all(r, is_over);
	for (uint32_t i = 0; i < r->used; i++)
		r->places[i].goal = r->places[i].end;
	if (err == 0 && !is_over)
		err = look_at_all(r, is_over);
	o.stack = calloc((size_t)r->used + 1, sizeof(*o.stack));
	if (!o.stack)
		err = err < 0 ? err : -ENOMEM;
	if (err == 0)
		err = list_resizes(&o);
	while (err == 0 && ret->head.words < LOGCODE_WORDS_MAX / 2 && (p = earliest(r, &limit)))
		err = take_turns(&o, p, limit);
	free(o.resizes);
	free(o.stack);
	ret->head.first_tick = r->first;
	ret->head.last_tick = r->last;
	return err;
}

bool logread_is_cut(const struct logread *r)
{
	return r->is_cut;
}

void logread_done(struct logread *r)
{
	for (uint32_t i = 0; i < r->used; i++) {
		struct place *p = &r->places[i];
		uint8_t use = (uint8_t)p->use;

		if (!p->is_complete || p->is_returned || p->next < p->closed)
			continue;
		free(p->words);
		p->words = NULL;
		p->is_returned = true;
		/* if it cannot be written, the process uses other chunks */
		if (r->control >= 0 && pwrite(r->control, &use, 1, (off_t)(r->control_at + i)) != 1)
			p->is_returned = false;
	}
}

/* ---- logwords: the events in the words of a log, one after the other ---- */

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
