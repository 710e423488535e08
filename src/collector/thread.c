/* thread.c - the gate and the block of one thread: its states, its caches. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/thread.h"

#include "base/hash.h"
#include "collector/event/pace.h"
#include "collector/event/recorder.h"
#include "collector/heap/ledger.h"
#include "collector/log/flight.h"
#include "collector/log/log.h"
#include "collector/segment/mem.h"
#include "collector/unwind/module.h"
#include "collector/heap/resizing.h"
#include "collector/owner.h"
#include "collector/heap/sample.h"
#include "collector/segment/tick.h"
#include "collector/stack/known.h"
#include "collector/stack/memo.h"
#include "collector/stack/outer.h"
#include "collector/unwind/walk.h"

enum {
	LOOK_BLOCKS = 8,
	LEND_FROM = 64,    /* blocks */
	RETRY_ALWAYS = 64, /* events */
	RETRY_EVENTS = 1024,
	HOLD_TRIES = 50000, /* about 0.2 s, because threads may wait for a CPU */
	HOLD_SETTLE = 100,
};

_Thread_local struct gate *thread_gate __attribute__((tls_model("initial-exec")));
_Thread_local struct thread *thread_self __attribute__((tls_model("initial-exec")));

/*
 * The gate of all threads that cannot have their own. Only its state is used.
 */
static struct gate crowded = {.state = THREAD_CROWDED, .resting = THREAD_CROWDED};
static uint32_t crowded_events;

/* Stacks; the low bits of a head are a number, against ABA. */
static uint64_t free_owning, free_sharing; /* blocks, by their array */

static struct thread *all;       /* every block of this process, newest first */
static struct thread *look_from; /* the block that was examined last */
static uint32_t blocks;
static uint32_t arrays_taken; /* owned arrays given out */
static uint32_t process;      /* how many forks led to this process */
static bool all_slow;         /* no thread takes the fast path */

void thread_init(bool wipe_on_fork, bool probe)
{
	owner_init(wipe_on_fork, probe);
}

static void push_block(struct thread *t)
{
	uint64_t *stack = ledger_is_owned(t->ledger.array) ? &free_owning : &free_sharing;
	uint64_t head = LOAD_ACQUIRE(stack);

	do
		STORE(&t->next_free, (struct thread *)owner_node(head));
	while (!CAS(stack, &head, owner_head(head, t)));
}

static struct thread *pop_block(uint64_t *stack)
{
	uint64_t head = LOAD_ACQUIRE(stack);
	struct thread *t;

	do
		t = owner_node(head);
	while (t && !CAS(stack, &head, owner_head(head, LOAD(&t->next_free))));
	return t;
}

SEEP_COLD void thread_forget_dtv(void)
{
	struct gate *g = thread_gate;

	if (g && g->owner)
		__atomic_store_n(&g->owner->dtv, 0, __ATOMIC_SEQ_CST);
}

void thread_give_back(struct thread *t)
{
	STORE(&t->gate, NULL);
	push_block(t);
}

/*
 * Blocks are large, and there may be many places that have none. So a thread
 * that needs a block examines the existing blocks, not the places.
 */
static void look_at_blocks(void)
{
	struct thread *t = LOAD_ACQUIRE(&look_from);
	int n;

	for (n = 0; n < LOOK_BLOCKS; n++) {
		struct gate *g;
		struct owner *o;

		t = t ? t->next : NULL;
		if (!t)
			t = LOAD_ACQUIRE(&all);
		if (!t)
			break;
		g = LOAD_ACQUIRE(&t->gate);
		o = g ? LOAD(&g->owner) : NULL;
		if (o && LOAD(&o->block) == t && owner_dtv_is_freed(o))
			owner_look_at(o);
	}
	STORE_RELEASE(&look_from, t);
}

void thread_drop_caches(struct thread *t)
{
	memo_forget(t);
	blocks_forget(&t->leaves);
	known_forget(t);
	outer_forget(t); /* no chunk is left that remembers a stamp */
}

/*
 * A block has an array of its own, as long as there are any and the segment has
 * room; the others share sixteen. Samples are rare and booked with atomic
 * operations anyway, so a sampled process has sixteen of each.
 */
static bool take_array(struct thread *t)
{
	const uint32_t more = SEG_ARRAYS - SEG_OWNED_ARRAYS;
	uint32_t n = ADD(&arrays_taken, 1);

	if (n < SEG_OWNED_ARRAYS && ledger_claim(t, n))
		return true;
	if (n >= SEG_OWNED_ARRAYS && n + more < LEDGER_ARRAYS && !sample_rate() &&
	    !segment_is_tight() && ledger_claim(t, n + more))
		return true;
	/* the very last array belongs to nested events */
	return ledger_share(t, SEG_OWNED_ARRAYS + n % (SEG_ARRAYS - SEG_OWNED_ARRAYS - 1));
}

/*
 * The owner changes its state by a plain add, and our CAS may come between the
 * load and the store of that add. Then the add wins and HELD is lost. An add
 * takes nanoseconds and cannot be interrupted half-way, so a state that is
 * still HELD after a few microseconds stays HELD.
 */
static bool hold(struct gate *g)
{
	uint32_t resting = LOAD(&g->resting);
	int i, settle;

	for (i = 0; i < HOLD_TRIES; i++) {
		uint32_t s = LOAD_ACQUIRE(&g->state), home = thread_home(s);

		if (home == resting)
			CAS(&g->state, &s, THREAD_HELD);
		else if (home != resting + 1 && s != THREAD_HELD && s != THREAD_HELD + 1)
			return true; /* off, or not yet set up */
		for (settle = 0; settle < HOLD_SETTLE; settle++)
			cpu_pause();
		/* HELD + 1: the thread had tested the state before our CAS */
		if (LOAD_ACQUIRE(&g->state) == THREAD_HELD)
			return true;
	}
	return false;
}

static uint32_t state_in(const struct thread *t, enum seg_mode mode)
{
	if (t && t->record.paused)
		return THREAD_PAUSED;
	switch (mode) {
	case SEG_MODE_ON:
		if (!t)
			return THREAD_BARE;
		if (!ledger_is_owned(t->ledger.array) || LOAD(&all_slow))
			return THREAD_SHARED;
		if (flight_is_on)
			return THREAD_FLYING;
		return log_is_on ? THREAD_LOGGING : THREAD_READY;
	case SEG_MODE_SAMPLED:
		return THREAD_SAMPLING;
	case SEG_MODE_DORMANT:
		return THREAD_DORMANT;
	default:
		return THREAD_OFF;
	}
}

void thread_slow_down(bool slow)
{
	STORE(&all_slow, slow);
}

void thread_release_others(void)
{
	struct gate *g;
	uint32_t at = 0;

	while ((g = owner_gate_at(&at))) {
		uint32_t held = THREAD_HELD, resting;

		if (LOAD(&g->state) != held)
			continue;
		resting = LOAD(&g->resting);
		if (resting == THREAD_SHARED) {
			resting = state_in(LOAD(&g->block), SEG_MODE_ON);
			STORE(&g->resting, resting);
		}
		CAS(&g->state, &held, resting);
	}
}

bool thread_hold_others(void)
{
	struct gate *g;
	uint32_t at = 0;

	while ((g = owner_gate_at(&at))) {
		if (!hold(g)) {
			thread_release_others();
			return false;
		}
	}
	return true;
}

void thread_make_ready(enum seg_mode mode)
{
	struct gate *g = thread_gate;
	struct thread *t;
	uint32_t was;

	if (!g || g == &crowded)
		return;
	/* dormant threads have none, sampled ones from their first sample on */
	t = mode == SEG_MODE_ON ? thread_attach() : thread_self;
	was = g->resting;
	g->resting = state_in(t, mode);
	if (g->resting == THREAD_BARE && was != THREAD_BARE)
		g->left = 0; /* see thread_may_retry() */
	if (mode == SEG_MODE_SAMPLED) {
		/* not the cycle counter: see describe_child() */
		if (!g->rng)
			g->rng = hash_mix(tick_realtime(false), (uint64_t)(uintptr_t)g) | 1;
		g->left = sample_distance(&g->rng);
	}
	if (t) {
		pace_begin(t);
		recorder_begin(t);
	}
	STORE(&g->block, t);
	STORE_RELEASE(&g->state, g->resting);
}

void thread_change_home(enum seg_mode mode)
{
	struct gate *g = thread_gate;
	uint32_t s = LOAD(&g->state);
	uint32_t busy = thread_home(s) == g->resting + 1;

	if (s == THREAD_CLOSING || g == &crowded)
		return; /* recorder_closed() will set the state */
	g->resting = state_in(thread_self, mode);
	STORE(&g->block, thread_self);
	STORE_RELEASE(&g->state, g->resting + busy);
}

static struct thread *new_block(void)
{
	static struct thread *spare; /* one whose set-up has failed */
	struct thread *t = __atomic_exchange_n(&spare, NULL, __ATOMIC_ACQUIRE);

	if (!t)
		t = mem_alloc(sizeof(struct thread));
	if (!t)
		return NULL;
	outer_begin(t);
	if (!t->resizing)
		t->resizing = resizing_note_new();
	if (memo_begin(t) && take_array(t))
		return t;
	STORE_RELEASE(&spare, t);
	return NULL;
}

/* The new owner's stack is another one than that of the dead owner. */
static void adopt(struct thread *t)
{
	walk_forget(t);
	recorder_forget(t);
	t->counted = 0;
	pace_forget(t);
	log_leave(t);
	memo_shrink(t);
	thread_drop_caches(t);
}

static void link_block(struct thread *t)
{
	ADD(&blocks, 1);
	t->process = process;
	t->next = LOAD(&all);
	while (!CAS(&all, &t->next, t))
		;
}

SEEP_COLD struct thread *thread_attach(void)
{
	struct gate *g = thread_gate;
	struct thread *t = thread_self, *none = NULL;

	if (t || !g || g == &crowded)
		return t;
	look_at_blocks();
	t = pop_block(&free_owning);
	if (!t)
		t = pop_block(&free_sharing);
	if (t) {
		adopt(t);
	} else {
		t = new_block();
		if (!t)
			return NULL;
		link_block(t);
	}
	STORE_RELEASE(&t->gate, g);
	if (!CAS(&thread_self, &none, t)) {
		/* a signal handler has been here meanwhile */
		thread_give_back(t);
		return none;
	}
	if (g->owner) {
		owner_note_dtv(g->owner);
		STORE_RELEASE(&g->owner->block, t);
	}
	return t;
}

void thread_lend(void)
{
	struct gate *g = thread_gate;
	struct thread *t = thread_self;

	if (!t || t->record.paused || LOAD(&blocks) <= LEND_FROM)
		return;
	STORE(&g->block, NULL);
	if (g->owner)
		STORE(&g->owner->block, NULL);
	thread_self = NULL;
	thread_give_back(t);
}

SEEP_COLD struct gate *thread_arrive(void)
{
	struct gate *was = thread_gate; /* NULL or crowded */
	struct owner *o = owner_take_over();
	struct gate *g = o ? o->gate : NULL;

	if (o && LOAD(&o->block)) {
		thread_self = LOAD(&o->block);
		adopt(thread_self);
		STORE(&thread_self->gate, g); /* it may have been taken back */
	}
	if (!g) {
		owner_look_around();
		g = owner_new_gate();
		if (!g || !owner_settle(g, NULL)) {
			if (g)
				owner_give_gate(g);
			g = &crowded;
		}
	}
	if (CAS(&thread_gate, &was, g))
		return g;
	/* a signal handler has been here meanwhile */
	if (g != was && g != &crowded)
		owner_clear(g->owner);
	return was;
}

bool thread_may_retry(void)
{
	struct gate *g = thread_gate;

	uint64_t n = g == &crowded ? ADD(&crowded_events, 1) : (uint64_t)++g->left;

	/* so a short failure costs one event, and a lasting one little time */
	return n < RETRY_ALWAYS || n % RETRY_EVENTS == 0;
}

bool thread_rejoin(void)
{
	struct gate *g = thread_gate;
	struct thread *t = thread_self;

	if (t && t->gate != g)
		t = thread_self = NULL; /* retired, see retire_block() */
	if (t)
		thread_drop_caches(t);
	if (t && t->process != process)
		log_forget(t);
	if (!g->owner && !owner_settle(g, t))
		return false;
	if (!t || t->process == process)
		return true;
	if (!take_array(t))
		return false;
	link_block(t);
	return true;
}

uint32_t thread_renewed_tid(void)
{
	return owner_renewed_tid(thread_gate && thread_gate != &crowded);
}

struct thread *thread_first(void)
{
	return LOAD_ACQUIRE(&all);
}

bool thread_any(void)
{
	return owner_count() != 0;
}

void thread_restart(void)
{
	struct gate *g = thread_gate;
	struct thread *self = thread_self;

	/*
	 * The gates and blocks of the parent's other threads are not given to
	 * new threads, because one of them may belong to the thread that
	 * forked, if that is not the caller.
	 */
	owner_restart();
	free_owning = free_sharing = 0;
	all = look_from = NULL;
	blocks = self != NULL;
	arrays_taken = 0;
	process++;
	if (!g || g == &crowded) {
		thread_gate = NULL;
		return;
	}
	if (self && self->gate != g)
		self = thread_self = NULL;
	if (self) {
		self->process = process;
		self->counted = 0;
		self->next = NULL;
		all = self;
		log_forget(self);
		thread_drop_caches(self);
		take_array(self);
	}
	if (!owner_settle(g, self))
		thread_gate = NULL;
}
