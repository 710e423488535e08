/* thread.c - the block of one thread, and who owns which. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/thread.h"

#include "base/hash.h"
#include "base/sys.h"
#include "collector/ledger.h"
#include "collector/mem.h"
#include "collector/module.h"

enum {
	OWNER_BITS = 12, /* threads that ever lived at one time: 3,000 or so */
	PROBES = 64,
	MEMO_TOTAL_MAX = 32 << 20,
};

/* Address of a thread's thread_self -> its block, for ever. */
struct owner {
	const void *tls;
	struct thread *block;
};

_Thread_local struct thread *thread_self
    __attribute__((tls_model("initial-exec")));

static struct owner owners[1 << OWNER_BITS];
static struct thread *all; /* every block of this process, newest first */
static uint64_t memo_total;
static uint32_t arrays_taken; /* owned arrays given out */
static bool wipe = true;

void
thread_init(bool wipe_on_fork)
{
	wipe = wipe_on_fork;
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
	t->memo_shift = 64 - bits;
	return true;
}

SEEP_COLD void
thread_grow_memo(struct thread *t)
{
	uint32_t bits = 64 - t->memo_shift;

	t->memo_misses = 0;
	if (bits < THREAD_MEMO_MAX_BITS)
		give_memo(t, bits + 2 <= THREAD_MEMO_MAX_BITS ? bits + 2
							      : bits + 1);
}

void
thread_drop_caches(struct thread *t)
{
	uint64_t i;

	for (i = 0; i < UINT64_C(1) << (64 - t->memo_shift); i++)
		t->memo[i].pc = 0;
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
	return ledger_share(t,
	    SEG_OWNED_ARRAYS + n % (SEG_ARRAYS - SEG_OWNED_ARRAYS - 1));
}

void
thread_make_ready(struct thread *t, bool on)
{
	uint32_t ready =
	    t->array < SEG_OWNED_ARRAYS ? THREAD_READY : THREAD_SHARED;

	t->period = 1;
	t->countdown = 1;
	t->scratch_taken = 0;
	STORE(&t->state, on ? ready : THREAD_OFF);
}

static struct thread *
new_block(void)
{
	struct thread *t = mem_alloc(sizeof(struct thread));

	if (!t)
		return NULL;
	if (wipe)
		sys_madvise(t, CPU_PAGE, MADV_WIPEONFORK);
	if (!give_memo(t, THREAD_MEMO_MIN_BITS) || !take_array(t))
		return NULL;
	return t;
}

static void
adopt(struct thread *t)
{
	/* what the dead owner knew of its stack need not hold for ours */
	t->stack_lo = t->stack_hi = 0;
	t->is_main = 0;
	t->expect_free = NULL;
	thread_drop_caches(t);
}

static struct thread *
register_block(struct thread *t, struct owner *o)
{
	if (!t)
		return NULL;
	t->owner = o;
	t->next = LOAD(&all);
	while (!CAS(&all, &t->next, t))
		;
	return t;
}

SEEP_COLD struct thread *
thread_new(void)
{
	const void *me = &thread_self;
	uint64_t i = hash_word((uint64_t)(uintptr_t)me) >> (64 - OWNER_BITS);
	int n;

	for (n = 0; n < PROBES; n++) {
		struct owner *o =
		    &owners[(i + (uint64_t)n) & ((1u << OWNER_BITS) - 1)];
		const void *tls = LOAD_ACQUIRE(&o->tls);

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
	if (self) {
		self->next = NULL;
		all = self;
		thread_drop_caches(self);
		take_array(self);
	}
}
