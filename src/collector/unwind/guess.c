/* guess.c - leaves frames of code that has no unwind information. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/unwind/guess.h"

#include <stddef.h>

#include "base/attr.h"
#include "base/hash.h"
#include "base/sys.h"
#include "collector/unwind/module.h"

enum {
	KNOWN_BITS = 9,
	LOWEST = 64 << 10, /* no code is below */
	BYTES = CPU_CALL_BYTES + CPU_EPILOGUE_BYTES,
	QUICK_CYCLES = 1 << 12, /* 1 to 2 us; a question takes half of one */
	ASKS = 8,
};
#define HIGHEST (UINT64_C(1) << 47)

static const struct unwind_rule fp_rule = {
    .kind = RULE_FP, .fp = RULE_FP_AT_CFA, .fp_offset = -CPU_FP_CFA, .cfa = CPU_FP_CFA};

static bool is_on, can_ask;

/*
 * Return addresses in modules that follow a call, with the low bits of the
 * generation. One word each, so that threads can share them.
 */
static uint64_t known[1 << KNOWN_BITS];

void guess_init(bool on, bool can_probe)
{
	is_on = on;
	can_ask = can_probe;
}

/*
 * Are these pages readable? Code in no module is `loose`: any thread may unmap it
 * at any time, and the caller reads right behind a yes. So a late yes does not
 * count, because then this thread did not run all the time: most often the
 * thread that unmaps has taken the CPU, having waited for the lock of the memory
 * map that the question holds. Answers that are always late come from a tracer
 * or an emulated kernel; there such code is not read.
 */
static bool readable(uint64_t from, uint64_t to, bool loose)
{
	uint64_t begin;
	uint32_t i;

	from = cpu_page_down(from);
	to = cpu_page_down(to - 1) + CPU_PAGE;
	for (i = 0; i < ASKS; i++) {
		begin = cpu_cycles();
		if (sys_madvise((void *)(uintptr_t)from, to - from, MADV_POPULATE_READ) != 0)
			return false;
		if (!loose || cpu_cycles() - begin <= QUICK_CYCLES)
			return true;
	}
	return false;
}

/*
 * Makes [*lo, *hi) around pc readable: if it is in two pages, and one of them
 * is not readable, the page of the call alone.
 */
static bool narrow(uint64_t pc, uint64_t *lo, uint64_t *hi, bool loose)
{
	uint64_t page = cpu_page_down(pc - 1);

	if (readable(*lo, *hi, loose))
		return true;
	if (cpu_page_down(*lo) == cpu_page_down(*hi - 1))
		return false;
	*lo = *lo < page ? page : *lo;
	*hi = *hi > page + CPU_PAGE ? page + CPU_PAGE : *hi;
	return readable(*lo, *hi, loose);
}

/*
 * Copies [lo, hi), so that it is loaded right after it was asked for. ASan would
 * look for the state of these bytes, which memory of its own does not have.
 */
__attribute__((no_sanitize_address)) static void copy_code(uint8_t *to, uint64_t lo, uint64_t hi)
{
	const volatile uint8_t *from = (const volatile uint8_t *)(uintptr_t)lo;
	uint64_t i;

	for (i = 0; i < hi - lo; i++)
		to[i] = from[i];
}

static bool is_code_address(uint64_t pc)
{
	return pc > LOWEST && pc < HIGHEST - CPU_PAGE;
}

/* The code at pc, which is in no module, as this walk knows it. */
static const struct guess_code *code_at(struct guess *g, uint64_t pc)
{
	uint64_t lo = pc - CPU_CALL_BYTES, hi = pc + CPU_EPILOGUE_BYTES;
	uint32_t i, n = g->used < GUESS_CODES ? g->used : GUESS_CODES;
	uint8_t bytes[BYTES];
	struct guess_code *c;
	const uint8_t *at;
	int32_t cfa = 0;

	for (i = 0; i < n; i++) {
		if (g->codes[i].pc == pc)
			return &g->codes[i];
	}
	c = &g->codes[g->used++ % GUESS_CODES];
	*c = (struct guess_code){.pc = pc};
	if (!can_ask || !is_code_address(pc) || !narrow(pc, &lo, &hi, true))
		return c;
	copy_code(bytes, lo, hi);
	at = bytes + (pc - lo);
	c->follows_call = cpu_follows_call(at, (uint32_t)(pc - lo));
	c->rule = fp_rule;
	switch (cpu_epilogue(at, (uint32_t)(hi - pc), &cfa)) {
	case CPU_EPILOGUE_SP:
		c->rule = (struct unwind_rule){.kind = RULE_SP, .cfa = cfa};
		break;
	case CPU_EPILOGUE_POP_FP:
		c->rule.kind = RULE_SP;
		c->rule.cfa = cfa;
		break;
	case CPU_EPILOGUE_FP:
		break;
	case CPU_EPILOGUE_NONE:
		return c;
	}
	c->is_seen = true;
	return c;
}

struct unwind_rule guess_rule(struct guess *g, struct unwind_rule rule, uint64_t pc, bool *ret_seen)
{
	const struct guess_code *c;

	*ret_seen = false;
	if (!is_on)
		return (struct unwind_rule){.kind = RULE_STOP};
	if (rule.kind == RULE_GUESS)
		return fp_rule;
	c = code_at(g, pc);
	*ret_seen = c->is_seen;
	return c->rule;
}

static bool module_follows_call(const struct module *m, uint64_t pc)
{
	uint64_t lo = pc - CPU_CALL_BYTES, hi = pc;
	uint8_t bytes[CPU_CALL_BYTES];

	if (lo < m->text_lo)
		lo = m->text_lo;
	if (pc <= m->text_lo || pc > m->text_hi)
		return false;
	/* the program may have made its own text unreadable */
	if (can_ask && !narrow(pc, &lo, &hi, false))
		return false;
	copy_code(bytes, lo, hi);
	return cpu_follows_call(bytes + (hi - lo), (uint32_t)(hi - lo));
}

static uint64_t *place_of(uint64_t pc)
{
	return &known[hash_word(pc) >> (64 - KNOWN_BITS)];
}

/* What is at the place of a known address. */
static uint64_t known_word(uint64_t pc)
{
	return pc | (uint64_t)LOAD_ACQUIRE(&module_gen) << 48;
}

bool guess_is_loose(uint64_t pc)
{
	return is_code_address(pc) && LOAD(place_of(pc)) != known_word(pc) && !module_of(pc - 1);
}

bool guess_is_return(struct guess *g, uint64_t pc)
{
	const uint64_t word = known_word(pc);
	const struct module *m;
	uint64_t *k;

	if (!is_code_address(pc))
		return false;
	k = place_of(pc);
	if (LOAD(k) == word)
		return true;
	m = module_of(pc - 1);
	if (!m)
		return code_at(g, pc)->follows_call;
	if (!module_follows_call(m, pc))
		return false;
	STORE(k, word);
	return true;
}
