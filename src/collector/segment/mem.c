/* mem.c - private memory of the collector: pages of our own, never freed. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/segment/mem.h"

#include <string.h>

#include "base/attr.h"
#include "base/cpu/cpu.h"
#include "base/sys.h"
#include "collector/segment/tick.h"

enum {
	BLOCK_FIRST = 1536 << 10, /* what every process needs */
	BLOCK_MIN = 256 << 10,
	BLOCK_MAX = 4 << 20,
	BLOCK_SHARE = 8, /* a block is this part of all memory in use */
};

/* Lives in the first page of the block it describes. */
struct block {
	uint64_t bytes;
	uint64_t used;
	struct block *next; /* blocks that core files still contain */
};

static struct block *current;
static struct block *ahead;  /* mapped before it is needed, or NULL */
static struct block *dumped; /* see mem_keep_out_of_cores() */
static uint64_t total;       /* handed out */
static uint64_t mapped;      /* of all blocks */
static uint64_t total_max = UINT64_MAX;
static uint32_t refused; /* the tick after that of the last failure */

void mem_init(uint64_t total_bytes)
{
	total_max = total_bytes;
}

/*
 * Pages that are mapped and not used count for the limits of the host, too. So
 * near the end of the budget a block is smaller than `wanted`. Returns its size,
 * which is counted, or 0 if there is no room for `least`.
 */
static size_t within_budget(size_t wanted, size_t least)
{
	uint64_t was = LOAD(&mapped);
	size_t size;

	do {
		uint64_t left = was < total_max ? total_max - was : 0;

		size = wanted < left ? wanted : cpu_page_down(left);
		if (size < least)
			return 0;
	} while (!CAS(&mapped, &was, was + size));
	return size;
}

/* A block with room for `bytes`, of which nothing is handed out yet. */
static SEEP_COLD struct block *new_block(size_t bytes)
{
	size_t size = cpu_page_up(LOAD(&total) / BLOCK_SHARE);
	struct block *b;

	/*
	 * At a limit every event that needs memory would make a call that
	 * fails. So the kernel is asked once in a tick.
	 */
	if (LOAD(&refused) == tick_now() + 1)
		return NULL;
	size = size < BLOCK_MIN ? BLOCK_MIN : size;
	size = LOAD(&current) ? size : BLOCK_FIRST;
	size = size > BLOCK_MAX ? BLOCK_MAX : size;
	size = (size < bytes ? bytes : size) + CPU_PAGE;
	size = within_budget(size, bytes + CPU_PAGE);
	if (!size)
		return NULL;
	b = sys_mmap(
	    NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (sys_failed(b)) {
		ADD(&mapped, (uint64_t)-size);
		STORE(&refused, tick_now() + 1);
		return NULL;
	}
	own_memory_add(b, size, OWN_MEMORY_FOREVER);
	b->bytes = size;
	b->used = CPU_PAGE;
	b->next = LOAD(&dumped);
	while (!CAS(&dumped, &b->next, b))
		;
	return b;
}

void mem_keep_out_of_cores(void)
{
	struct block *b;

	if (!LOAD(&dumped))
		return;
	b = __atomic_exchange_n(&dumped, NULL, __ATOMIC_ACQ_REL);
	for (; b; b = b->next)
		sys_madvise(b, b->bytes, MADV_DONTDUMP);
}

static uint64_t left_in(const struct block *b)
{
	return b ? b->bytes - LOAD(&b->used) : 0;
}

/* NULL: b is NULL, or has not that much left. */
static void *take(struct block *b, size_t bytes)
{
	uint64_t at = b ? LOAD(&b->used) : 0;

	do {
		if (!b || b->bytes - at < bytes)
			return NULL;
	} while (!CAS(&b->used, &at, at + bytes));
	return (char *)b + at;
}

/* From the block that was mapped ahead, or from a new one. */
static SEEP_COLD void *take_elsewhere(size_t bytes)
{
	struct block *b = __atomic_exchange_n(&ahead, NULL, __ATOMIC_ACQ_REL);
	struct block *none = NULL, *now;
	void *p = take(b, bytes);

	if (!p) {
		/* too small for this request; the next one may be smaller */
		if (b)
			CAS(&ahead, &none, b);
		b = new_block(bytes);
		p = take(b, bytes);
	}
	now = LOAD_ACQUIRE(&current);
	/* the rest of the other block is wasted, and nobody touches it */
	if (p && left_in(b) > left_in(now))
		CAS(&current, &now, b);
	return p;
}

void *mem_alloc(size_t bytes)
{
	struct block *b = LOAD_ACQUIRE(&current);
	void *p;

	bytes = cpu_page_up(bytes);
	if (ADD(&total, bytes) + bytes > total_max) {
		ADD(&total, (uint64_t)-bytes);
		return NULL;
	}
	p = take(b, bytes);
	if (!p)
		p = take_elsewhere(bytes);
	if (!p)
		ADD(&total, (uint64_t)-bytes);
	return p;
}

void *mem_publish(void *slot, size_t bytes)
{
	void *__attribute__((may_alias)) *at = slot;
	void *now = LOAD_ACQUIRE(at), *mine;

	if (now)
		return now;
	mine = mem_alloc(bytes);
	return mine && CAS(at, &now, mine) ? mine : now;
}

void mem_refill(void)
{
	struct block *none = NULL, *b;

	if (LOAD(&ahead))
		return;
	b = new_block(0);
	/* otherwise another thread was faster, and ours is wasted untouched */
	if (b)
		CAS(&ahead, &none, b);
}

void mem_refill_first(size_t bytes)
{
	struct block *now = LOAD_ACQUIRE(&current), *b;

	if (now && left_in(now) < bytes) {
		b = new_block(bytes);
		if (b) /* what is left of the other one is never touched */
			CAS(&current, &now, b);
	}
	mem_refill();
}

void mem_zero(void *p, size_t bytes)
{
	/* a filter may forbid the call, and locked pages refuse it */
	if (sys_madvise(p, cpu_page_up(bytes), MADV_DONTNEED) != 0)
		memset(p, 0, cpu_page_up(bytes));
}

uint64_t mem_total(void)
{
	return LOAD(&total);
}
