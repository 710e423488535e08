/* rules.c - unwind rules once computed, by code address. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/unwind/rules.h"

#include <string.h>
#include <sys/auxv.h>
#include <ucontext.h>

#include "base/attr.h"
#include "base/cpu/cpu.h"
#include "base/hash.h"
#include "collector/segment/kernel.h"
#include "collector/segment/levels.h"
#include "collector/unwind/module.h"
#include "collector/segment/loader.h"
#include "format/frame.h"

/*
 * A table of levels (levels.h). A rule is put into the newest level, and
 * searched from the newest to the oldest; a rule that is found in an old level
 * is put into the newest, too. A thread claims an entry by its key, and writes
 * `meta` last, which says for which generation the rule holds. A rule of an
 * older generation is computed again and overwritten. If two threads do that at
 * once, both write the same.
 */
struct entry {
	uint64_t key; /* code address that was looked up, 0: free */
	uint64_t rule;
	uint64_t meta; /* module << 32 | generation, 0: being filled */
};

struct rules_level {
	struct level head;
	uint64_t used;
	struct entry entries[];
};

enum { LEVELS = 5, PROBES = 16 };

static const struct levels_shape shape = {
    LEVELS, 10, 2, sizeof(struct rules_level), sizeof(struct entry)};
static struct level *levels[LEVELS];
static uint32_t newest; /* index of the newest level */
static uint64_t loader_base;
static uint64_t context_base; /* see find_context_base() */

/*
 * The return address that makecontext() gives to the function of a coroutine.
 * It is the first byte of a private function of libc, and no unwind rule says
 * so. To find it, this asks libc to prepare a context, which never runs.
 * Start-up.
 */
static uint64_t find_context_base(void)
{
	const void *in_libc = loader_symbol("gnu_get_libc_version");
	void *symbol = loader_symbol("makecontext");
	void (*make)(ucontext_t *, void (*)(void), int, ...);
	uint64_t stack[64], sp;
	ucontext_t context;

	/*
	 * with shadow stacks makecontext() would map one; other libcs are not
	 * known
	 */
	if (!symbol || !in_libc || !module_same(symbol, in_libc) || cpu_has_shadow_stack())
		return 0;
	memcpy(&make, &symbol, sizeof(make));
	memset(&context, 0, sizeof(context));
	memset(stack, 0, sizeof(stack));
	context.uc_stack.ss_sp = stack;
	context.uc_stack.ss_size = sizeof(stack);
	make(&context, (void (*)(void))find_context_base, 0);
	sp = cpu_context_sp(&context);
	sp -= (uint64_t)(uintptr_t)stack;
	return sp < sizeof(stack) && sp % 8 == 0 ? stack[sp / 8] : 0;
}

bool rules_init(void)
{
	loader_base = kernel_auxval(AT_BASE);
	context_base = find_context_base();
	return levels_open(levels, &shape, 0) != NULL;
}

static struct rules_level *level_at(uint32_t i)
{
	return (struct rules_level *)LOAD_ACQUIRE(&levels[i]);
}

static struct entry *find(struct rules_level *l, uint64_t key)
{
	uint32_t n;

	for (n = 0; n < PROBES; n++) {
		struct entry *e = &l->entries[levels_place(&l->head, hash_word(key), n)];
		uint64_t k = LOAD_ACQUIRE(&e->key);

		if (k == key)
			return e;
		if (!k)
			return NULL;
	}
	return NULL;
}

static void insert(uint64_t key, uint64_t rule, uint64_t meta)
{
	uint32_t at = LOAD_ACQUIRE(&newest);
	struct rules_level *l = level_at(at);
	uint32_t n;

	if (LOAD(&l->used) > (UINT64_C(1) << l->head.bits) / 2)
		levels_grow(levels, &newest, &shape, at);
	for (n = 0; n < PROBES; n++) {
		struct entry *e = &l->entries[levels_place(&l->head, hash_word(key), n)];
		uint64_t k = 0;

		if (CAS(&e->key, &k, key))
			ADD(&l->used, 1);
		else if (k != key)
			continue;
		STORE(&e->rule, rule);
		STORE_RELEASE(&e->meta, meta);
		return;
	}
	/* no free entry here; the next event tries again */
	levels_grow(levels, &newest, &shape, at);
}

static SEEP_NOINLINE uint64_t compute(uint64_t key, uint32_t *ret_module)
{
	const struct module *m = module_of(key);
	uint32_t gen = LOAD_ACQUIRE(&module_gen);
	struct unwind_rule r = {.kind = RULE_STOP};
	uint64_t word;

	if (m)
		r = cfi_rule(m, key);
	/*
	 * The start code of ld.so has no unwind information, and stacks begin
	 * there. A return address that is the first byte of a function was not
	 * written by a call, but by code that prepares a coroutine, for the
	 * case that its function returns.
	 */
	if (m && key + 1 == context_base)
		r = (struct unwind_rule){.kind = RULE_END, .cfa = RULE_END_CONTEXT};
	else if (m && r.kind == RULE_STOP && (m->base == loader_base || cfi_begins(m, key + 1)))
		r = (struct unwind_rule){.kind = RULE_END, .cfa = RULE_END_OTHER};
	else if (m && r.kind == RULE_STOP)
		r.kind = RULE_GUESS;
	*ret_module = m ? m->number : 0;
	memcpy(&word, &r, sizeof(word));
	if (r.kind != RULE_STOP)
		insert(key, word, (uint64_t)m->number << 32 | gen);
	return word;
}

/* A rule of an older generation holds if its module is still the same. */
static SEEP_NOINLINE bool still_holds(struct entry *e, uint64_t meta)
{
	const struct module *m = module_of(e->key);
	uint32_t gen = LOAD_ACQUIRE(&module_gen);

	if (!m || m->number != meta >> 32)
		return false;
	STORE_RELEASE(&e->meta, (meta >> 32 << 32) | gen);
	return true;
}

/* Not at its first place in the newest level, or of an older generation. */
static SEEP_NOINLINE struct unwind_rule get_slow(uint64_t pc, bool exact, uint64_t *ret_frame)
{
	uint64_t key = exact ? pc : pc - 1;
	uint32_t gen = LOAD_ACQUIRE(&module_gen);
	uint32_t module = 0;
	uint64_t word = 0;
	struct unwind_rule r;
	int i;

	for (i = (int)LOAD_ACQUIRE(&newest); i >= 0; i--) {
		struct entry *e = find(level_at((uint32_t)i), key);
		uint64_t meta = e ? LOAD_ACQUIRE(&e->meta) : 0;

		if (!meta)
			continue;
		word = LOAD(&e->rule);
		if ((uint32_t)meta == gen || still_holds(e, meta)) {
			module = (uint32_t)(meta >> 32);
			if (i != (int)newest)
				insert(key, word, LOAD(&e->meta));
			goto found;
		}
		break;
	}
	word = compute(key, &module);
found:
	memcpy(&r, &word, sizeof(r));
	*ret_frame = frame_pack(pc, exact, module);
	return r;
}

struct unwind_rule rules_get(uint64_t pc, bool exact, uint64_t *ret_frame)
{
	const uint64_t key = exact ? pc : pc - 1;
	const struct rules_level *l = level_at(LOAD_ACQUIRE(&newest));
	const struct entry *e = &l->entries[hash_word(key) >> (64 - l->head.bits)];
	struct unwind_rule r;
	uint64_t meta, word;

	if (unlikely(LOAD_ACQUIRE(&e->key) != key))
		return get_slow(pc, exact, ret_frame);
	meta = LOAD_ACQUIRE(&e->meta);
	if (unlikely((uint32_t)meta != LOAD_ACQUIRE(&module_gen)))
		return get_slow(pc, exact, ret_frame);
	word = LOAD(&e->rule);
	memcpy(&r, &word, sizeof(r));
	*ret_frame = frame_pack(pc, exact, (uint32_t)(meta >> 32));
	return r;
}
