/* owner.c - which thread has which gate and block, and which thread is dead. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/owner.h"

#include <string.h>

#include "base/hash.h"
#include "base/sys.h"
#include "collector/heap/blocks_inline.h"
#include "collector/segment/mem.h"

enum {
	PROBES = 16,
	LEVELS = 6, /* of 128, 512, 2048, ... places: 174,720 in all */
	LEVEL_BITS = 7,
	LEVEL_STEP = 2,
	SLABS = 7, /* of 32, 128, 512, ... gates: a page, four pages, ... */
	SLAB_BITS = 5,
	NUMBER_BITS = 20,
	TAKEN = 1,
	LOOK_FROM = 8, /* with fewer threads a look is not worth its time */
	LOOK_PLACES = 64,
	LOOK_THREADS = 4,
	TCB_FROM = 512, /* distance from the thread pointer up to */
	TCB_TO = 1024,  /* which the tid is searched */
};

static struct owner first_level[1 << LEVEL_BITS];
static struct owner *levels[LEVELS];
static uint32_t places_taken;
static uint32_t look_at; /* the next place that is looked at */
static uint32_t numbers;

static struct slab {
	struct gate *gates;
	struct gate *unfit; /* the kernel refused to wipe it on fork */
	uint32_t used;
} slabs[SLABS];

/* A stack; see owner_node(). */
static uint64_t free_gates;

static bool wipe = true;
static bool can_probe;
static uint32_t tid_offset; /* of the tid behind the thread pointer, 0: none */

/* Key and tid of the thread that forked, in the child; 0: not known. */
static uint64_t forked_key;
static uint32_t forked_tid;

/* Finds where glibc keeps the tid, by its value, if that value is unique. */
static uint32_t find_tid_offset(void)
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

void owner_init(bool wipe_on_fork, bool probe)
{
	wipe = wipe_on_fork;
	can_probe = probe;
	tid_offset = find_tid_offset();
}

/* The tid of the thread whose thread_self is at `tls`, 0: cannot be read. */
static uint32_t tid_of(uint64_t tls)
{
	uint64_t mine = (uint64_t)(uintptr_t)&thread_self;
	uint64_t at = cpu_thread_pointer() + tid_offset + (tls - mine);
	uint64_t page = cpu_page_down(at);
	uint32_t tid;

	if (!tid_offset)
		return 0;
	/* in a forked child the stacks of other threads stay mapped */
	if (tls != mine &&
	    (!can_probe || sys_madvise((void *)(uintptr_t)page, CPU_PAGE, MADV_POPULATE_READ) != 0))
		return 0;
	memcpy(&tid, (const void *)(uintptr_t)at, sizeof(tid));
	return tid;
}

/* ---- gates --------------------------------------------------------------- */

void owner_give_gate(struct gate *g)
{
	uint64_t head = LOAD_ACQUIRE(&free_gates);

	do
		STORE(&g->next, (struct gate *)owner_node(head));
	while (!CAS(&free_gates, &head, owner_head(head, g)));
}

static struct gate *pop_gate(void)
{
	uint64_t head = LOAD_ACQUIRE(&free_gates);
	struct gate *g;

	do
		g = owner_node(head);
	while (g && !CAS(&free_gates, &head, owner_head(head, LOAD(&g->next))));
	return g;
}

static struct gate *slab_gates(int k)
{
	struct slab *s = &slabs[k];
	uint64_t bytes = sizeof(struct gate) << (SLAB_BITS + LEVEL_STEP * k);
	struct gate *none = NULL;
	struct gate *g = LOAD_ACQUIRE(&s->gates);

	if (g)
		return g;
	g = __atomic_exchange_n(&s->unfit, NULL, __ATOMIC_ACQUIRE);
	if (!g)
		g = mem_alloc(bytes);
	if (!g)
		return NULL;
	/*
	 * With a gate that a fork does not wipe, a child would record its
	 * events as ours. The call splits a mapping, so it may fail if the
	 * process has as many as the kernel allows (max_map_count).
	 */
	if (wipe && sys_madvise(g, bytes, MADV_WIPEONFORK) != 0) {
		STORE_RELEASE(&s->unfit, g);
		return NULL;
	}
	CAS(&s->gates, &none, g);
	return LOAD_ACQUIRE(&s->gates);
}

struct gate *owner_new_gate(void)
{
	struct gate *g = pop_gate();
	int k;

	for (k = 0; k < SLABS && !g; k++) {
		uint32_t count = 1u << (SLAB_BITS + LEVEL_STEP * k), i;
		struct gate *gates = slab_gates(k);

		if (!gates)
			return NULL;
		if (LOAD(&slabs[k].used) >= count)
			continue;
		i = ADD(&slabs[k].used, 1);
		/*
		 * Gates are taken from the end of the page, because lines at
		 * its beginning would share a set of the cache with the first
		 * lines of blocks.
		 */
		if (i < count)
			g = &gates[count - 1 - i];
	}
	return g;
}

/* ---- places -------------------------------------------------------------- */

static uint64_t my_key(void)
{
	return (uint64_t)(uintptr_t)&thread_self;
}

static uint64_t key_of(uint64_t word)
{
	return word >> NUMBER_BITS << 3;
}

/* A word for this thread that no place has had for a long time. */
static uint64_t new_word(uint64_t key)
{
	return key >> 3 << NUMBER_BITS | (ADD(&numbers, 1) & ((1u << NUMBER_BITS) - 1));
}

static uint32_t level_bits(int level)
{
	return LEVEL_BITS + LEVEL_STEP * (uint32_t)level;
}

static struct owner *place_in(int level, uint64_t key, uint32_t n)
{
	uint32_t bits = level_bits(level);
	uint64_t i = (hash_word(key) >> (64 - bits)) + n;

	return LOAD_ACQUIRE(&levels[level]) + (i & ((1u << bits) - 1));
}

/* The place of the caller, as the last thread at this address has left it. */
static struct owner *find_place(uint64_t key)
{
	uint32_t n;
	int i;

	for (i = 0; i < LEVELS && LOAD_ACQUIRE(&levels[i]); i++) {
		for (n = 0; n < PROBES; n++) {
			struct owner *o = place_in(i, key, n);

			if (key_of(LOAD_ACQUIRE(&o->word)) == key)
				return o;
		}
	}
	return NULL;
}

static bool open_level(int level)
{
	struct owner *none = NULL;

	if (level == 0) {
		CAS(&levels[0], &none, first_level);
		return true;
	}
	return mem_publish(&levels[level], sizeof(*none) << level_bits(level));
}

static struct owner *claim_place(uint64_t key)
{
	uint32_t n;
	int i;

	for (i = 0; i < LEVELS; i++) {
		if (!LOAD_ACQUIRE(&levels[i]) && !open_level(i))
			return NULL;
		for (n = 0; n < PROBES; n++) {
			struct owner *o = place_in(i, key, n);
			uint64_t empty = 0;

			if (LOAD(&o->word) == 0 && CAS(&o->word, &empty, new_word(key))) {
				ADD(&places_taken, 1);
				return o;
			}
		}
	}
	return NULL;
}

/*
 * Returns false if the kernel cannot tell, too. This advice reads nothing but a
 * page that is swapped out, and fails with this error only for a hole.
 */
static bool is_unmapped(uint64_t address)
{
	enum { NO_MEMORY = -12 };
	uint64_t page = cpu_page_down(address);

	return sys_madvise((void *)(uintptr_t)page, CPU_PAGE, MADV_WILLNEED) == NO_MEMORY;
}

/*
 * Looks at a cell that another thread writes by plain stores. That works
 * because an aligned word is written whole, and because other CPUs see stores
 * in their order.
 */
__attribute__((no_sanitize_thread)) static uint64_t cell_at(uint64_t address)
{
	const volatile uint64_t *cell = cell_is_for(address) ? blocks_cell(address) : NULL;

	return cell ? *cell : 0;
}

void owner_note_dtv(struct owner *o)
{
	uint64_t dtv = (uint64_t)(uintptr_t)cpu_dtv_block();
	uint64_t cell = cell_at(dtv);

	STORE(&o->dtv_cell, cell);
	STORE_RELEASE(&o->dtv, cell_site(cell) ? dtv : 0);
}

bool owner_dtv_is_freed(const struct owner *o)
{
	uint64_t dtv = LOAD_ACQUIRE(&o->dtv);
	bool same;

	if (!dtv)
		return false;
	/* what is ours now was free before */
	same = cell_at(dtv) == LOAD(&o->dtv_cell) && dtv != (uint64_t)(uintptr_t)cpu_dtv_block();
	cpu_order_loads();
	return !same && LOAD(&o->dtv) == dtv;
}

void owner_clear(struct owner *o)
{
	struct thread *t = LOAD_ACQUIRE(&o->block);
	struct gate *g = o->gate;

	/* after all that its owner did */
	if (g)
		(void)LOAD_ACQUIRE(&g->state);
	STORE(&o->block, NULL);
	STORE(&o->dtv, 0);
	o->gate = NULL;
	o->condemned = 0;
	STORE_RELEASE(&o->word, 0);
	ADD(&places_taken, (uint32_t)-1);
	if (t)
		thread_give_back(t);
	if (g) {
		STORE(&g->owner, NULL);
		STORE(&g->state, THREAD_WIPED);
		owner_give_gate(g);
	}
}

/*
 * The memory of a dead thread may be mapped for another purpose, so its place
 * stays. Its block is taken in two steps. The first visit closes the gate, so
 * that the thread would ask for another block if it were alive. The next visit
 * takes the block if nobody has touched the gate since.
 */
static void retire_block(struct owner *o, uint64_t word)
{
	struct thread *t = LOAD_ACQUIRE(&o->block);
	struct gate *g = o->gate;
	uint32_t state = g ? LOAD_ACQUIRE(&g->state) : THREAD_WIPED;

	if (t && g && !o->condemned) {
		o->condemned =
		    thread_home(state) == g->resting && CAS(&g->state, &state, THREAD_RETIRED);
	} else if (t && state == THREAD_RETIRED) {
		o->condemned = 0;
		STORE(&o->block, NULL);
		thread_give_back(t);
	}
	STORE_RELEASE(&o->word, word);
}

bool owner_look_at(struct owner *o)
{
	uint64_t word = LOAD_ACQUIRE(&o->word);
	bool dead, freed;

	if (word <= TAKEN || key_of(word) == my_key())
		return false;
	freed = owner_dtv_is_freed(o);
	if (!freed && LOAD(&o->dtv))
		return true; /* alive, or in glibc's cache of stacks */
	dead = is_unmapped(key_of(word));
	/* otherwise a thread came after we looked, and has it now */
	if ((dead || (freed && LOAD(&o->block))) && CAS(&o->word, &word, TAKEN)) {
		if (dead)
			owner_clear(o);
		else
			retire_block(o, word);
	}
	return true;
}

void owner_look_around(void)
{
	uint32_t total = 0, at, i;
	int n, level, seen = 0;

	for (level = 0; level < LEVELS && LOAD(&levels[level]); level++)
		total += 1u << level_bits(level);
	if (!total || LOAD(&places_taken) < LOOK_FROM)
		return;
	for (n = 0; n < LOOK_PLACES && seen < LOOK_THREADS; n++) {
		at = ADD(&look_at, 1) % total;
		for (i = 0; at >= 1u << level_bits((int)i); i++)
			at -= 1u << level_bits((int)i);
		seen += owner_look_at(LOAD_ACQUIRE(&levels[i]) + at);
	}
}

void owner_note_fork(void)
{
	forked_key = my_key();
	forked_tid = tid_of(forked_key);
}

uint32_t owner_renewed_tid(bool has_forked)
{
	uint32_t first = 0, i;
	int level;

	if (has_forked) {
		const struct owner *o = find_place(my_key());
		uint32_t tid = tid_of(my_key());

		return o && tid != o->tid ? tid : 0;
	}
	/* if a child of that one was made by _Fork(), the tid is another one */
	if (forked_tid && tid_of(forked_key) == forked_tid)
		return forked_tid;
	for (level = 0; level < LEVELS && levels[level]; level++) {
		for (i = 0; i < 1u << level_bits(level); i++) {
			const struct owner *o = &levels[level][i];
			uint32_t tid;

			if (o->word <= TAKEN || key_of(o->word) == my_key())
				continue;
			tid = tid_of(key_of(o->word));
			/*
			 * A thread that the child has started since then may
			 * have the address of one of the parent's threads,
			 * whose place comes first. Its tid is the larger one,
			 * unless tids have begun again from the lowest.
			 */
			if (tid && tid != o->tid && (!first || tid < first))
				first = tid;
		}
	}
	return first;
}

bool owner_settle(struct gate *g, struct thread *t)
{
	struct owner *o = claim_place(my_key());

	if (!o)
		return false;
	o->tid = tid_of(my_key());
	o->gate = g;
	STORE(&g->owner, o);
	owner_note_dtv(o);
	STORE_RELEASE(&o->block, t);
	return true;
}

struct owner *owner_take_over(void)
{
	struct owner *o;
	uint64_t word;

	while ((o = find_place(my_key()))) {
		word = LOAD(&o->word);
		if (key_of(word) == my_key() && CAS(&o->word, &word, new_word(my_key())))
			break;
	}
	if (o) {
		o->tid = tid_of(my_key());
		o->condemned = 0;
		owner_note_dtv(o);
	}
	return o;
}

struct gate *owner_gate_at(uint32_t *at)
{
	uint32_t i = *at, level;

	for (level = 0; level < LEVELS && LOAD_ACQUIRE(&levels[level]); level++) {
		uint32_t size = 1u << level_bits((int)level);

		for (; i < size; i++, ++*at) {
			const struct owner *o = &levels[level][i];
			uint64_t word = LOAD_ACQUIRE(&o->word);

			if (word > TAKEN && key_of(word) != my_key() && o->gate) {
				++*at;
				return o->gate;
			}
		}
		i -= size;
	}
	return NULL;
}

uint32_t owner_count(void)
{
	return LOAD(&places_taken);
}

void owner_restart(void)
{
	int i;

	for (i = 0; i < LEVELS && levels[i]; i++) {
		if (i == 0)
			memset(first_level, 0, sizeof(first_level));
		else
			mem_zero(levels[i], sizeof(struct owner) << level_bits(i));
	}
	free_gates = 0;
	places_taken = 0;
	forked_tid = 0; /* its own children have to note theirs */
}
