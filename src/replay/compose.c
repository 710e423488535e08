/* compose.c - makes the script of a replay out of an event log. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/compose.h"

#include "kit/data/capped.h"
#include "kit/data/room.h"
#include "replay/script.h"

enum {
	NONE = UINT32_MAX,
	WINDOW_EVENTS = 256, /* at least so many are in a window */
	ALIGNMENT_GUESS = 64,
	ALIGNMENT_MIN = 16,
	PAGE = 4096,
	BLOCK_BYTES = 64, /* that a block takes besides its size, at most */
};

struct carrier {
	struct script_stream stream;
	struct slots_kept slots;
	uint32_t users; /* threads whose events it has; 0: it is not open */
	uint32_t window;
	uint64_t tick;
};

struct site {
	uint8_t api;
	uint8_t is_other; /* not of the heap */
	uint16_t alignment;
};

struct compose {
	struct compose_options options;
	struct compose_facts facts;
	struct script_writer writer;
	struct slots slots;
	struct carrier *carriers;
	size_t carrier_count, carrier_room;
	uint32_t *carrier_of; /* of log_threads_process.threads */
	uint32_t main;        /* number of the main thread */
	struct site *sites;
	size_t site_count;
	uint32_t *windows; /* how many carriers have words in it */
	size_t window_count, window_room;
	uint64_t window_events;
	uint64_t first_tick, tick; /* of the first event, and the latest one */
	uint64_t seen;
	uint64_t live_bytes, live_blocks;
	uint64_t main_at; /* the first chunk of the main thread */
};

/* ---- begin and end ---- */

/* What the sites are, by id; ids have 26 bits. */
static int read_sites(struct compose *c)
{
	const struct process *p = c->options.process;

	if (!p || p->id_count == 0)
		return 0;
	c->site_count = (size_t)p->ids[p->id_count - 1].id + 1;
	c->sites = calloc(c->site_count, sizeof(*c->sites));
	if (!c->sites)
		return -ENOMEM;
	for (size_t i = 0; i < p->id_count; i++) {
		const struct process_site *s = &p->sites[p->ids[i].site];

		c->sites[p->ids[i].id] =
		    (struct site){.api = s->api, .is_other = s->kind != SEG_SITE_HEAP};
	}
	return 0;
}

static int begin_window(struct compose *c)
{
	if (room_make(&c->windows, &c->window_room, c->window_count, sizeof(*c->windows)) < 0)
		return -ENOMEM;
	c->windows[c->window_count++] = 0;
	c->window_events = 0;
	return 0;
}

/* Opens a carrier that is not in use; *ret is its number. */
static int open_carrier(struct compose *c, uint32_t *ret)
{
	size_t i = 0;
	int err;

	while (i < c->carrier_count && c->carriers[i].users > 0)
		i++;
	if (i == c->carrier_count) {
		if (room_make(&c->carriers, &c->carrier_room, i, sizeof(*c->carriers)) < 0)
			return -ENOMEM;
		memset(&c->carriers[i], 0, sizeof(*c->carriers));
		c->carrier_count++;
	}
	err = script_writer_open(&c->writer, &c->carriers[i].stream);
	if (err < 0)
		return err;
	c->carriers[i].users = 1;
	c->carriers[i].window = NONE;
	c->carriers[i].tick = 0;
	*ret = (uint32_t)i;
	return 0;
}

int compose_new(const struct compose_options *o, struct compose **ret)
{
	struct compose *c = calloc(1, sizeof(*c));
	uint32_t main_carrier = 0;
	int err = -ENOMEM;

	if (!c)
		return -ENOMEM;
	c->options = *o;
	c->writer.fd = -1;
	c->main = log_threads_main(o->threads);
	c->carrier_of = malloc((o->threads->count + 1) * sizeof(uint32_t));
	if (!c->carrier_of)
		goto out;
	memset(c->carrier_of, 0xff, (o->threads->count + 1) * sizeof(uint32_t));
	err = read_sites(c);
	if (err == 0)
		err = script_writer_init(&c->writer);
	if (err == 0)
		err = begin_window(c);
	if (err == 0)
		err = open_carrier(c, &main_carrier); /* 0 */
	if (err < 0)
		goto out;
	c->main_at = c->carriers[main_carrier].stream.at;
	c->facts.threads = 1;
	*ret = c;
	return 0;
out:
	compose_free(c);
	return err;
}

void compose_free(struct compose *c)
{
	if (!c)
		return;
	if (c->writer.fd >= 0)
		(void)close(c->writer.fd);
	for (size_t i = 0; i < c->carrier_count; i++)
		free(c->carriers[i].stream.words);
	replay_slots_release(&c->slots);
	free(c->carriers);
	free(c->carrier_of);
	free(c->sites);
	free(c->windows);
	free(c);
}

/* ---- words ---- */

static int put_word(struct compose *c, struct carrier *k, uint64_t word)
{
	return script_writer_put(&c->writer, &k->stream, &word, 1);
}

/* Before an operation of this carrier: the window and the time that it is in. */
static int enter(struct compose *c, struct carrier *k, uint64_t tick)
{
	uint32_t window = (uint32_t)(c->window_count - 1);
	uint64_t since = tick > c->first_tick ? tick - c->first_tick : 0;
	int err = 0;

	if (k->window != window) {
		k->window = window;
		c->windows[window]++;
		err = put_word(c, k, script_word(SCRIPT_WINDOW, window));
	}
	if (err == 0 && c->options.with_time && since > k->tick) {
		k->tick = since;
		err = put_word(c, k, script_word(SCRIPT_TIME, since));
	}
	return err;
}

/* An operation on a slot: a word, the size if it is large, and one more. */
static int put_block(struct compose *c, struct carrier *k, enum script_op op, uint32_t slot,
    uint64_t size, uint64_t last)
{
	uint64_t words[SCRIPT_OP_WORDS];
	uint32_t n = 0;

	words[n++] = script_block_word(op, slot, replay_slots_turn(&c->slots, slot), size);
	if (size >= SCRIPT_LARGE)
		words[n++] = size;
	if (op == SCRIPT_ALIGNED || op == SCRIPT_REALLOC)
		words[n++] = last;
	return script_writer_put(&c->writer, &k->stream, words, n);
}

/* ---- threads ---- */

/* The main thread starts all others. */
static int spawn(struct compose *c, uint64_t tick, uint32_t *ret)
{
	uint64_t words[2];
	int err = open_carrier(c, ret); /* may move the carriers */

	if (err < 0)
		return err;
	words[0] = script_word(SCRIPT_SPAWN, *ret);
	words[1] = c->carriers[*ret].stream.at;
	err = enter(c, &c->carriers[0], tick);
	if (err == 0)
		err = script_writer_put(&c->writer, &c->carriers[0].stream, words, 2);
	return err;
}

/* Opens a carrier for a thread, or lets it share one if there are too many. */
static int begin_thread(struct compose *c, uint32_t number, uint64_t tick, uint32_t *ret)
{
	size_t open = 0;

	for (size_t i = 0; i < c->carrier_count; i++)
		open += c->carriers[i].users > 0;
	c->facts.threads++;
	if (open < SCRIPT_CARRIERS_MAX)
		return spawn(c, tick, ret);
	c->facts.sharing++;
	*ret = 1 + number % (SCRIPT_CARRIERS_MAX - 1);
	c->carriers[*ret].users++;
	return 0;
}

static int end_thread(struct compose *c, uint32_t carrier)
{
	struct carrier *k = &c->carriers[carrier];

	if (--k->users > 0)
		return 0;
	return script_writer_close(&c->writer, &k->stream);
}

/*
 * The carrier of the thread of an event. Events of several threads, and of a
 * thread that the log did not have when its threads were counted, are the main
 * thread's.
 */
static int carrier_of(struct compose *c, const struct events_event *e,
    const struct log_threads_thread **ret_thread, struct carrier **ret)
{
	const struct log_threads_process *p = c->options.threads;
	const struct log_threads_thread *t = log_threads_find(p, e->thread);
	uint32_t *at = t ? &c->carrier_of[t - p->threads] : NULL;
	int err = 0;

	*ret_thread = NULL;
	*ret = &c->carriers[0];
	if (!at || e->thread == 0 || e->thread == c->main)
		return 0;
	if (*at == NONE)
		err = begin_thread(c, e->thread, e->tick, at);
	*ret_thread = t;
	*ret = &c->carriers[*at == NONE ? 0 : *at];
	return err;
}

/* ---- events ---- */

static enum script_op operation(
    struct compose *c, const struct events_event *e, uint64_t *ret_align)
{
	struct site *s = e->site < c->site_count ? &c->sites[e->site] : NULL;
	uint64_t lowest = e->address & -e->address;

	*ret_align = PAGE;
	switch (s ? s->api : SEG_API_NONE) {
	case SEG_API_CALLOC:
		return SCRIPT_CALLOC;
	case SEG_API_VALLOC:
	case SEG_API_PVALLOC:
		return SCRIPT_ALIGNED;
	case SEG_API_MEMALIGN:
	case SEG_API_ALIGNED_ALLOC:
	case SEG_API_POSIX_MEMALIGN:
		break;
	default:
		return SCRIPT_MALLOC;
	}
	/* what all addresses of the site so far have in common */
	if (lowest == 0) {
		*ret_align = ALIGNMENT_GUESS;
		c->facts.alignments++;
		return SCRIPT_ALIGNED;
	}
	if (s->alignment == 0 || s->alignment > lowest)
		s->alignment = (uint16_t)(lowest < PAGE ? lowest : PAGE);
	if (s->alignment < ALIGNMENT_MIN)
		s->alignment = ALIGNMENT_MIN;
	*ret_align = s->alignment;
	return SCRIPT_ALIGNED;
}

static void count_live(struct compose *c, uint64_t size)
{
	c->live_bytes += size;
	c->live_blocks++;
	if (c->live_bytes > c->facts.peak_bytes)
		c->facts.peak_bytes = c->live_bytes;
	if (c->live_blocks > c->facts.peak_blocks)
		c->facts.peak_blocks = c->live_blocks;
}

/* Must the block be left out? */
static bool is_too_large(const struct compose *c, uint64_t size)
{
	uint64_t taken = c->live_bytes + c->live_blocks * BLOCK_BYTES;

	return size > c->options.live_max || taken > c->options.live_max - size;
}

/* The mark of a block in the script is its slot + 1. */
static int allocate(struct compose *c, struct carrier *k, const struct events_event *e)
{
	uint64_t alignment;
	enum script_op op;
	uint32_t slot;

	*e->mark = 0;
	if (e->site < c->site_count && c->sites[e->site].is_other)
		return 0;
	if (is_too_large(c, e->size)) {
		c->facts.too_large++;
		return 0;
	}
	if (replay_slots_take(&c->slots, &k->slots, &slot) < 0)
		return -ENOMEM;
	*e->mark = (uint64_t)slot + 1;
	c->facts.allocations++;
	count_live(c, e->size);
	op = operation(c, e, &alignment);
	return put_block(c, k, op, slot, e->size, alignment);
}

static int release(struct compose *c, struct carrier *k, const struct events_event *e)
{
	uint32_t slot = (uint32_t)(*e->mark - 1);
	int err = put_block(c, k, SCRIPT_FREE, slot, 0, 0);

	c->facts.frees++;
	c->live_bytes -= e->old_size;
	c->live_blocks--;
	*e->mark = 0;
	return err < 0 ? err : replay_slots_give(&c->slots, &k->slots, slot);
}

static int resize(struct compose *c, struct carrier *k, const struct events_event *e)
{
	uint32_t slot = (uint32_t)(*e->mark - 1);

	c->live_bytes -= e->old_size;
	c->live_blocks--;
	if (is_too_large(c, e->size)) {
		c->live_bytes += e->old_size;
		c->live_blocks++;
		c->facts.too_large++;
		return release(c, k, e);
	}
	c->facts.reallocs++;
	count_live(c, e->size);
	return put_block(c, k, SCRIPT_REALLOC, slot, e->size, e->old_size);
}

static int perform(struct compose *c, struct carrier *k, const struct events_event *e)
{
	bool is_known = e->was_found && *e->mark != 0;

	if (e->kind == EVENTS_ALLOC)
		return allocate(c, k, e);
	c->facts.unknown += !e->was_found;
	if (e->kind == EVENTS_FREE)
		return is_known ? release(c, k, e) : 0;
	return is_known ? resize(c, k, e) : allocate(c, k, e);
}

/* Time goes on: a new window, if there is enough in the last one. */
static int advance(struct compose *c, uint64_t tick)
{
	if (c->seen == 0)
		c->first_tick = c->tick = tick;
	c->window_events++;
	if (tick <= c->tick)
		return 0;
	if (tick - c->tick > c->facts.pause_ticks)
		c->facts.pause_ticks = tick - c->tick;
	c->tick = tick;
	return c->window_events > WINDOW_EVENTS ? begin_window(c) : 0;
}

int compose_event(void *context, const struct events_event *e)
{
	struct compose *c = context;
	const struct log_threads_thread *t;
	struct carrier *k;
	int err;

	if (memcmp(e->process->uuid, c->options.threads->uuid, 16) != 0 ||
	    c->seen >= c->options.events_max)
		return 0;
	if (e->kind == EVENTS_GAP)
		c->facts.lost = capped_sum(c->facts.lost, e->count);
	c->facts.inherited += e->kind == EVENTS_INHERITED;
	c->facts.unknown += e->kind == EVENTS_UNLOGGED;
	if (!log_threads_is_event(e))
		return 0;
	err = advance(c, e->tick);
	c->seen++;
	if (err == 0)
		err = carrier_of(c, e, &t, &k);
	if (err == 0)
		err = enter(c, k, e->tick);
	if (err == 0)
		err = perform(c, k, e);
	if (err == 0 && t && c->seen == t->last) {
		uint32_t *at = &c->carrier_of[t - c->options.threads->threads];

		err = end_thread(c, *at);
		*at = NONE;
	}
	return err;
}

/* A thread that ends without a chunk leaves no word of what it has lost. */
static void count_lost(struct compose *c)
{
	const struct process *p = c->options.process;

	if (p && c->seen < c->options.events_max && p->header.counts[SEG_LOG_LOST] > c->facts.lost)
		c->facts.lost = p->header.counts[SEG_LOG_LOST];
	/* behind the end of a log with a limit, or taken out of a pool */
	if (p && p->log.lost > c->facts.lost)
		c->facts.lost = p->log.lost;
}

int compose_finish(struct compose *c, struct compose_facts *ret, int *ret_fd)
{
	struct script_head head = {0};
	int err = 0;

	if (c->facts.allocations == 0)
		return -ENODATA;
	count_lost(c);
	for (size_t i = 0; err == 0 && i < c->carrier_count; i++)
		if (c->carriers[i].users > 0)
			err = script_writer_close(&c->writer, &c->carriers[i].stream);
	if (err < 0)
		return err;
	head.slots = c->slots.count;
	head.carriers = (uint32_t)c->carrier_count;
	head.main_at = c->main_at;
	err = script_writer_finish(&c->writer, &head, c->windows, c->window_count);
	c->facts.at_once = c->carrier_count;
	c->facts.end_bytes = c->live_bytes;
	c->facts.end_blocks = c->live_blocks;
	c->facts.ticks = c->tick - c->first_tick;
	c->facts.script_bytes = c->writer.end * sizeof(uint64_t);
	*ret = c->facts;
	*ret_fd = c->writer.fd;
	return err;
}

/* ---- replay_slots: which slots of a script are free, and whose turn it is in each ---- */

/* So many slots were freed after one before it is used again. */
enum { QUEUE_MIN = 8192 };

int replay_slots_take(struct slots *s, struct slots_kept *own, uint32_t *ret)
{
	if (own->count > 0) {
		*ret = own->at[--own->count];
		return 0;
	}
	if (s->waiting > QUEUE_MIN) {
		*ret = s->queue[s->first];
		s->first = (s->first + 1) % s->queue_room;
		s->waiting--;
		return 0;
	}
	if (s->count >= 1u << SCRIPT_SLOT_BITS ||
	    room_make(&s->turns, &s->room, s->count, sizeof(*s->turns)) < 0)
		return -ENOMEM;
	s->turns[s->count] = 0;
	*ret = (uint32_t)s->count++;
	return 0;
}

/* Makes the ring larger: what was before its first item moves behind the last. */
static int grow(struct slots *s)
{
	size_t room = s->queue_room;

	if (s->waiting < room)
		return 0;
	if (room_make(&s->queue, &s->queue_room, room, sizeof(*s->queue)) < 0)
		return -ENOMEM;
	memcpy(s->queue + room, s->queue, s->first * sizeof(*s->queue));
	return 0;
}

int replay_slots_give(struct slots *s, struct slots_kept *own, uint32_t slot)
{
	if (own->count < SLOTS_KEPT) {
		own->at[own->count++] = slot;
		return 0;
	}
	if (grow(s) < 0)
		return -ENOMEM;
	s->queue[(s->first + s->waiting++) % s->queue_room] = slot;
	return 0;
}

uint16_t replay_slots_turn(struct slots *s, uint32_t slot)
{
	return s->turns[slot]++;
}

void replay_slots_release(struct slots *s)
{
	free(s->turns);
	free(s->queue);
	*s = (struct slots){0};
}
