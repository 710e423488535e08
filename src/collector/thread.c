/* thread.c - the block of one thread, and who owns which. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/thread.h"

#include <string.h>

#include "base/hash.h"
#include "base/sys.h"
#include "collector/ledger.h"
#include "collector/mem.h"
#include "collector/module.h"
#include "collector/sample.h"

enum {
	OWNER_BITS = 12, /* threads that ever lived at one time: 3,000 or so */
	PROBES = 64,
	MEMO_TOTAL_MAX = 32 << 20,
	HOLD_TRIES = 50000, /* 0.2 s or so: threads may wait for a CPU */
	HOLD_SETTLE = 100,
	TCB_FROM = 512, /* where the tid is looked for, from the thread */
	TCB_TO = 1024,  /* pointer on */
};

/* Address of a thread's thread_self -> its block, for ever. */
struct owner {
	const struct thread *const *tls;
	struct thread *block;
};

_Thread_local struct thread *thread_self
    __attribute__((tls_model("initial-exec")));

static struct owner owners[1 << OWNER_BITS];
static struct thread *all; /* every block of this process, newest first */
static uint64_t memo_total;
static uint32_t arrays_taken; /* owned arrays given out */
static uint32_t process;      /* forks that lie behind us */
static bool wipe = true;
static bool all_slow; /* no thread takes the fast path */
static bool can_probe;
static uint32_t tid_offset; /* of the tid behind the thread pointer, 0: none */

/* Where glibc keeps the tid: found by its value, if that is unique. */
static uint32_t
find_tid_offset(void)
{
	const char *tp = (const char *)(uintptr_t)cpu_thread_pointer();
	uint32_t tid = (uint32_t)cpu_syscall3(SYS_gettid, 0, 0, 0);
	uint32_t at, v, found = 0;

	for (at = TCB_FROM; at < TCB_TO; at += 4) {
		memcpy(&v, tp + at, sizeof(v));
		if (v == tid && found)
			return 0;
		if (v == tid)
			found = at;
	}
	return found;
}

void
thread_init(bool wipe_on_fork, bool probe)
{
	wipe = wipe_on_fork;
	can_probe = probe;
	tid_offset = find_tid_offset();
}

/* The tid of the thread whose thread_self is at `tls`, 0: cannot be read. */
static uint32_t
tid_of(const struct thread *const *tls)
{
	uint64_t mine = (uint64_t)(uintptr_t)&thread_self;
	uint64_t at = cpu_thread_pointer() + tid_offset +
	    ((uint64_t)(uintptr_t)tls - mine);
	uint64_t page = at & ~(uint64_t)(CPU_PAGE - 1);
	uint32_t tid;

	if (!tid_offset)
		return 0;
	/* another thread's stack may be gone by now */
	if ((uint64_t)(uintptr_t)tls != mine &&
	    (!can_probe ||
	        sys_madvise((void *)(uintptr_t)page, CPU_PAGE,
	            MADV_POPULATE_READ) != 0))
		return 0;
	memcpy(&tid, (const void *)(uintptr_t)at, sizeof(tid));
	return tid;
}

uint32_t
thread_renewed_tid(void)
{
	const struct thread *t;
	uint32_t first = 0;

	for (t = all; t; t = t->next) {
		uint32_t tid = tid_of(t->owner->tls);

		/*
		 * A thread that the child has started since may stand where
		 * one of the parent's stood; the first one came before it.
		 */
		if (tid && tid != t->tid && (!first || tid < first) &&
		    (thread_self ||
		        (const void *)t->owner->tls !=
		            (const void *)&thread_self))
			first = tid;
	}
	return first;
}

static bool
give_memo(struct thread *t, uint32_t bits)
{
	uint64_t bytes = sizeof(struct memo_chunk) << bits;
	struct memo_chunk *m;

	if (ADD(&memo_total, bytes) + bytes > MEMO_TOTAL_MAX &&
	    bits > THREAD_MEMO_MIN_BITS) {
		ADD(&memo_total, -bytes);
		return false;
	}
	m = mem_alloc(bytes);
	if (!m)
		return false;
	t->memo = m;
	t->memo_mask = (uint32_t)(((1u << bits) - 1) * sizeof(*m));
	return true;
}

SEEP_COLD void
thread_grow_memo(struct thread *t)
{
	uint32_t bits = (uint32_t)__builtin_ctz(thread_memo_chunks(t));

	t->memo_misses = 0;
	if (bits < THREAD_MEMO_MAX_BITS)
		give_memo(
		    t, bits + 2 <= THREAD_MEMO_MAX_BITS ? bits + 2 : bits + 1);
}

void
thread_drop_caches(struct thread *t)
{
	uint64_t i;

	for (i = 0; i < thread_memo_chunks(t); i++)
		t->memo[i].key = 0;
	live_forget(&t->live);
	t->outer_version++;
	t->outer_count = 0;
}

/* The first sixteen have an array each, the others share sixteen. */
static bool
take_array(struct thread *t)
{
	uint32_t n = ADD(&arrays_taken, 1);

	if (n < SEG_OWNED_ARRAYS && ledger_claim(t, n))
		return true;
	/* the very last array belongs to nested events */
	return ledger_share(
	    t, SEG_OWNED_ARRAYS + n % (SEG_ARRAYS - SEG_OWNED_ARRAYS - 1));
}

/*
 * The owner changes its state by a plain add, which another CPU's CAS may
 * fall into the middle of: then the add wins and HELD is gone. An add takes
 * nanoseconds and cannot be interrupted half-way, so what is still HELD after
 * a few microseconds is held.
 */
static bool
hold(struct thread *t)
{
	uint32_t ready = t->ready;
	int i, settle;

	for (i = 0; i < HOLD_TRIES; i++) {
		uint32_t s = LOAD_ACQUIRE(&t->state);

		if (s == ready)
			CAS(&t->state, &s, THREAD_HELD);
		else if (s != ready + 1 && s != THREAD_HELD &&
		    s != THREAD_HELD + 1)
			return true; /* off, or not yet set up */
		for (settle = 0; settle < HOLD_SETTLE; settle++)
			cpu_pause();
		/* HELD + 1: it had passed the test before we came */
		if (LOAD_ACQUIRE(&t->state) == THREAD_HELD)
			return true;
	}
	return false;
}

static uint32_t
state_in(const struct thread *t, enum seg_mode mode)
{
	if (t->paused)
		return THREAD_PAUSED;
	switch (mode) {
	case SEG_MODE_ON:
		return t->array < SEG_OWNED_ARRAYS && !all_slow ? THREAD_READY
		                                                : THREAD_SHARED;
	case SEG_MODE_SAMPLED:
		return THREAD_SAMPLING;
	case SEG_MODE_DORMANT:
		return THREAD_DORMANT;
	default:
		return THREAD_OFF;
	}
}

void
thread_slow_down(bool slow)
{
	all_slow = slow;
}

void
thread_release_others(void)
{
	struct thread *t;

	for (t = all; t; t = t->next) {
		uint32_t held = THREAD_HELD;

		if (LOAD(&t->state) != held)
			continue;
		if (t->ready == THREAD_SHARED)
			t->ready = state_in(t, SEG_MODE_ON);
		CAS(&t->state, &held, t->ready);
	}
}

bool
thread_hold_others(const struct thread *self)
{
	struct thread *t;

	for (t = LOAD_ACQUIRE(&all); t; t = t->next) {
		if (t != self && !hold(t)) {
			thread_release_others();
			return false;
		}
	}
	return true;
}

void
thread_make_ready(struct thread *t, enum seg_mode mode)
{
	t->ready = state_in(t, mode);
	if (mode == SEG_MODE_SAMPLED) {
		if (!t->rng)
			t->rng = hash_mix(__builtin_ia32_rdtsc(),
			             (uint64_t)(uintptr_t)t) |
			    1;
		t->left = sample_distance(&t->rng);
	}
	t->period = 1;
	t->countdown = 1;
	t->scratch_taken = 0;
	STORE(&t->state, t->ready);
}

void
thread_change_home(struct thread *t, enum seg_mode mode)
{
	uint32_t s = LOAD(&t->state);
	uint32_t busy = s == t->ready + 1;

	if (s == THREAD_CLOSING)
		return; /* recorder_closed() will find the way */
	t->ready = state_in(t, mode);
	STORE(&t->state, t->ready + busy);
}

static struct thread *
new_block(void)
{
	static const uint64_t zero;  /* what padding checks for */
	static struct thread *spare; /* one whose set-up has failed */
	struct thread *t = __atomic_exchange_n(&spare, NULL, __ATOMIC_ACQUIRE);
	int i;

	if (!t)
		t = mem_alloc(sizeof(struct thread));
	if (!t)
		return NULL;
	for (i = 0; i < THREAD_CHECK_PAD; i++)
		t->check[i].address = (uint64_t)(uintptr_t)&zero;
	/*
	 * A block that a fork does not wipe would book a child's events as
	 * ours. The call may fail where mappings are counted (max_map_count):
	 * it splits one. The event passes by then, and the next one tries.
	 */
	if ((!wipe || sys_madvise(t, CPU_PAGE, MADV_WIPEONFORK) == 0) &&
	    (t->memo || give_memo(t, THREAD_MEMO_MIN_BITS)) && take_array(t))
		return t;
	STORE_RELEASE(&spare, t);
	return NULL;
}

static void
adopt(struct thread *t)
{
	/* what the dead owner knew of its stack need not hold for ours */
	t->stack_lo = t->stack_hi = 0;
	t->expect_free = NULL;
	t->paused = 0;
	t->tid = tid_of(t->owner->tls);
	thread_drop_caches(t);
}

static void
link_block(struct thread *t)
{
	t->process = process;
	t->next = LOAD(&all);
	while (!CAS(&all, &t->next, t))
		;
}

static struct thread *
register_block(struct thread *t, struct owner *o)
{
	if (!t)
		return NULL;
	t->owner = o;
	t->tid = tid_of(o->tls);
	link_block(t);
	return t;
}

bool
thread_rejoin(struct thread *t)
{
	thread_drop_caches(t);
	if (t->process == process)
		return true;
	t->owner->tls = (const struct thread *const *)&thread_self;
	t->owner->block = t;
	t->tid = tid_of(t->owner->tls);
	if (!take_array(t))
		return false;
	link_block(t);
	return true;
}

bool
thread_any(void)
{
	return LOAD(&all) != NULL;
}

SEEP_COLD struct thread *
thread_new(void)
{
	const struct thread *const *me =
	    (const struct thread *const *)&thread_self;
	uint64_t i = hash_word((uint64_t)(uintptr_t)me) >> (64 - OWNER_BITS);
	int n;

	for (n = 0; n < PROBES; n++) {
		struct owner *o =
		    &owners[(i + (uint64_t)n) & ((1u << OWNER_BITS) - 1)];
		const struct thread *const *tls = LOAD_ACQUIRE(&o->tls);

		if (!tls && !CAS(&o->tls, &tls, me))
			; /* taken this instant: tls says by whom */
		else if (!tls)
			tls = me;
		if (tls != me)
			continue;
		if (o->block)
			adopt(o->block);
		else
			o->block = register_block(new_block(), o);
		return o->block;
	}
	return NULL;
}

void
thread_restart(struct thread *self)
{
	struct thread *t;

	/* blocks of threads that did not come along are forgotten */
	for (t = all; t; t = t->next) {
		if (t != self) {
			t->owner->block = NULL;
			t->owner->tls = NULL;
		}
	}
	all = NULL;
	arrays_taken = 0;
	process++;
	if (self) {
		self->process = process;
		self->counted = 0;
		self->next = NULL;
		self->tid = tid_of(self->owner->tls);
		all = self;
		thread_drop_caches(self);
		take_array(self);
	}
}
