/* cfi.c - .eh_frame: the unwind rule of a code address, on demand. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/unwind/rules.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/attr.h"
#include "base/cpu/cpu.h"

enum { REMEMBER_MAX = 6 };
enum { OPS_MAX = 1 << 18 }; /* CFA instructions that are run for one rule */

/* How one register of the caller is found. */
enum saved_how { SAVED_SAME, SAVED_AT_CFA, SAVED_EXPRESSION, SAVED_UNDEFINED, SAVED_ODD };

struct saved {
	uint8_t how; /* enum saved_how */
	int64_t offset;
	const uint8_t *expression;
	uint32_t expression_bytes;
};

/*
 * Only what a rule can express is tracked: the CFA, the return address, the
 * frame pointer and the base register.
 */
struct state {
	uint8_t cfa_kind; /* 0 none, 1 register + offset, 2 expression, 9 bad */
	uint8_t base;     /* where it is saved, as in struct unwind_rule */
	uint32_t cfa_reg;
	int64_t cfa_offset;
	const uint8_t *cfa_expression;
	uint32_t cfa_bytes;
	struct saved fp, ra;
};

/*
 * A cursor that never leaves [at, end). Reads beyond it give 0 and set `bad`.
 */
struct bytes {
	const uint8_t *at, *end;
	bool bad;
};

struct cie {
	uint64_t code_align;
	int64_t data_align;
	uint8_t pointer_encoding;
	bool signal, has_augmentation;
	struct bytes program;
};

static uint64_t get(struct bytes *b, unsigned n)
{
	uint64_t v = 0;

	if ((size_t)(b->end - b->at) < n) {
		b->bad = true;
		b->at = b->end;
		return 0;
	}
	switch (n) { /* for sizes that the compiler knows these are plain loads */
	case 1:
		v = *b->at;
		break;
	case 2:
		memcpy(&v, b->at, 2);
		break;
	case 4:
		memcpy(&v, b->at, 4);
		break;
	default:
		memcpy(&v, b->at, 8);
		break;
	}
	b->at += n;
	return v;
}

/* One byte, the most frequent of all. */
SEEP_INLINE uint8_t get_byte(struct bytes *b)
{
	if (likely(b->at < b->end))
		return *b->at++;
	b->bad = true;
	return 0;
}

static uint64_t get_uleb(struct bytes *b)
{
	uint64_t v = 0;
	unsigned shift = 0;
	uint8_t c;

	do {
		c = get_byte(b);
		if (shift < 64)
			v |= (uint64_t)(c & 0x7f) << shift;
		shift += 7;
	} while (c & 0x80);
	return v;
}

static int64_t get_sleb(struct bytes *b)
{
	uint64_t v = 0;
	unsigned shift = 0;
	uint8_t c;

	do {
		c = get_byte(b);
		if (shift < 64)
			v |= (uint64_t)(c & 0x7f) << shift;
		shift += 7;
	} while (c & 0x80);
	if (shift < 64 && (c & 0x40))
		v |= ~UINT64_C(0) << shift;
	return (int64_t)v;
}

static void skip(struct bytes *b, uint64_t n)
{
	if ((uint64_t)(b->end - b->at) < n) {
		b->bad = true;
		b->at = b->end;
		return;
	}
	b->at += n;
}

/* DW_EH_PE: value format in the low four bits, pcrel or absolute above. */
static uint64_t get_encoded(struct bytes *b, uint8_t encoding)
{
	uint64_t here = (uint64_t)(uintptr_t)b->at;
	uint64_t v;

	if (encoding == 0xff)
		return 0;
	switch (encoding & 0xf) {
	case 0x0:
	case 0x4:
	case 0xc:
		v = get(b, 8);
		break;
	case 0x1:
		v = get_uleb(b);
		break;
	case 0x2:
		v = get(b, 2);
		break;
	case 0x3:
		v = get(b, 4);
		break;
	case 0x9:
		v = (uint64_t)get_sleb(b);
		break;
	case 0xa:
		v = (uint64_t)(int64_t)(int16_t)get(b, 2);
		break;
	case 0xb:
		v = (uint64_t)(int64_t)(int32_t)get(b, 4);
		break;
	default:
		b->bad = true;
		return 0;
	}
	if ((encoding & 0x70) == 0x10 && v)
		v += here;
	return v;
}

static struct saved *saved_of(struct state *s, uint64_t reg)
{
	if (reg == CPU_DWARF_FP)
		return &s->fp;
	if (reg == CPU_DWARF_RA)
		return &s->ra;
	return NULL;
}

static uint8_t place_of_base(enum saved_how how, int64_t offset)
{
	if (how == SAVED_SAME || how == SAVED_UNDEFINED)
		return 0;
	if (how != SAVED_AT_CFA || offset >= 0 || offset % 8 ||
	    offset <= INT64_C(-8) * RULE_BASE_LOST)
		return RULE_BASE_LOST;
	return (uint8_t)(-offset / 8);
}

static void set_saved(struct state *s, uint64_t reg, enum saved_how how, int64_t offset)
{
	struct saved *v = saved_of(s, reg);

	if (reg == CPU_DWARF_BASE)
		s->base = place_of_base(how, offset);

	if (v) {
		v->how = (uint8_t)how;
		v->offset = offset;
	}
}

static void set_expression(struct state *s, uint64_t reg, struct bytes *b, enum saved_how how)
{
	struct saved *v = saved_of(s, reg);
	uint64_t n = get_uleb(b);
	const uint8_t *at = b->at;

	skip(b, n);
	if (reg == CPU_DWARF_BASE)
		s->base = RULE_BASE_LOST;
	if (v && !b->bad) {
		v->how = (uint8_t)how;
		v->expression = at;
		v->expression_bytes = (uint32_t)n;
	}
}

static void restore(struct state *s, const struct state *initial, uint64_t reg)
{
	struct saved *v = saved_of(s, reg);

	if (reg == CPU_DWARF_BASE)
		s->base = initial->base;
	else if (v && reg == CPU_DWARF_FP)
		*v = initial->fp;
	else if (v)
		*v = initial->ra;
}

static void set_cfa(struct state *s, uint64_t reg, int64_t offset)
{
	s->cfa_kind = 1;
	s->cfa_reg = (uint32_t)reg;
	s->cfa_offset = offset;
}

/* The instructions without operand bits in the opcode. False: give up. */
static bool run_extended(struct state *s, const struct state *initial, const struct cie *cie,
    struct bytes *b, uint8_t op, struct state *stack, int *depth)
{
	int64_t factor = cie->data_align;
	uint64_t r;

	switch (op) {
	case 0x00: /* nop */
		return true;
	case 0x05: /* offset_extended */
		r = get_uleb(b);
		set_saved(s, r, SAVED_AT_CFA, (int64_t)get_uleb(b) * factor);
		return true;
	case 0x06: /* restore_extended */
		restore(s, initial, get_uleb(b));
		return true;
	case 0x07: /* undefined */
		set_saved(s, get_uleb(b), SAVED_UNDEFINED, 0);
		return true;
	case 0x08: /* same_value */
		set_saved(s, get_uleb(b), SAVED_SAME, 0);
		return true;
	case 0x09: /* register */
		r = get_uleb(b);
		get_uleb(b);
		set_saved(s, r, SAVED_ODD, 0);
		return true;
	case 0x0a: /* remember_state */
		if (*depth == REMEMBER_MAX)
			return false;
		stack[(*depth)++] = *s;
		return true;
	case 0x0b: /* restore_state */
		if (*depth == 0)
			return false;
		*s = stack[--*depth];
		return true;
	case 0x0c: /* def_cfa */
		r = get_uleb(b);
		set_cfa(s, r, (int64_t)get_uleb(b));
		return true;
	case 0x0d: /* def_cfa_register */
		set_cfa(s, get_uleb(b), s->cfa_offset);
		return true;
	case 0x0f: /* def_cfa_expression */
		s->cfa_kind = 2;
		s->cfa_bytes = (uint32_t)get_uleb(b);
		s->cfa_expression = b->at;
		skip(b, s->cfa_bytes);
		return true;
	case 0x10: /* expression */
		set_expression(s, get_uleb(b), b, SAVED_EXPRESSION);
		return true;
	case 0x11: /* offset_extended_sf */
		r = get_uleb(b);
		set_saved(s, r, SAVED_AT_CFA, get_sleb(b) * factor);
		return true;
	case 0x12: /* def_cfa_sf */
		r = get_uleb(b);
		set_cfa(s, r, get_sleb(b) * factor);
		return true;
	case 0x13: /* def_cfa_offset_sf */
		s->cfa_offset = get_sleb(b) * factor;
		return true;
	case 0x14: /* val_offset */
		r = get_uleb(b);
		get_uleb(b);
		set_saved(s, r, SAVED_ODD, 0);
		return true;
	case 0x15: /* val_offset_sf */
		r = get_uleb(b);
		get_sleb(b);
		set_saved(s, r, SAVED_ODD, 0);
		return true;
	case 0x16: /* val_expression */
		set_expression(s, get_uleb(b), b, SAVED_ODD);
		return true;
	case 0x2e: /* GNU_args_size */
		get_uleb(b);
		return true;
	default:
		return false;
	}
}

/* Does a rule say where this register is? */
SEEP_INLINE bool is_tracked(uint8_t reg)
{
	return reg == CPU_DWARF_FP || reg == CPU_DWARF_RA || reg == CPU_DWARF_BASE;
}

/* A number of one byte, or of several. */
SEEP_INLINE uint64_t get_short_uleb(struct bytes *b)
{
	if (likely(b->at < b->end && *b->at < 0x80))
		return *b->at++;
	return get_uleb(b);
}

/*
 * Runs a CFA program up to the table row that covers target. The programs of
 * large functions have thousands of instructions, nearly all of them one of the
 * first three kinds, or def_cfa_offset.
 */
static void run(struct state *s, const struct state *initial, const struct cie *cie, struct bytes b,
    uint64_t loc, uint64_t target)
{
	struct state stack[REMEMBER_MAX];
	int depth = 0;
	int i;

	for (i = 0; b.at < b.end; i++) {
		const uint8_t op = *b.at++;
		const uint8_t low = op & 0x3f;
		uint64_t n = 0;

		if (op >> 6 == 1) { /* advance_loc */
			n = low;
		} else if (op >> 6 == 2) { /* offset */
			const uint64_t at = get_short_uleb(&b);

			if (is_tracked(low))
				set_saved(s, low, SAVED_AT_CFA, (int64_t)at * cie->data_align);
		} else if (op >> 6 == 3) { /* restore */
			if (is_tracked(low))
				restore(s, initial, low);
		} else if (op == 0x0e) { /* def_cfa_offset */
			s->cfa_offset = (int64_t)get_short_uleb(&b);
		} else if (op == 0x01) { /* set_loc */
			loc = get_encoded(&b, cie->pointer_encoding);
		} else if (op >= 0x02 && op <= 0x04) { /* advance_loc1..4 */
			n = op == 0x02 ? get_byte(&b) : get(&b, 1u << (op - 2));
		} else if (!run_extended(s, initial, cie, &b, op, stack, &depth)) {
			s->cfa_kind = 9;
			return;
		}
		loc += n * cie->code_align;
		if (unlikely(b.bad || i == OPS_MAX)) {
			s->cfa_kind = 9;
			return;
		}
		if (loc > target)
			return;
	}
}

static bool read_cie(const struct module *m, const uint8_t *at, struct cie *ret)
{
	struct bytes b = {at, m->seg_hi, false};
	uint64_t n = get(&b, 4);
	const char *aug;
	uint8_t version;

	if (!n || n >= 0xfffffff0 || (uint64_t)(b.end - b.at) < n)
		return false; /* DWARF64 is not used in .eh_frame */
	b.end = b.at + n;
	if (get(&b, 4) != 0)
		return false;
	version = (uint8_t)get(&b, 1);
	if (version != 1 && version != 3)
		return false;
	aug = (const char *)b.at;
	while (get(&b, 1))
		;
	memset(ret, 0, sizeof(*ret));
	ret->code_align = get_uleb(&b);
	ret->data_align = get_sleb(&b);
	if (version == 1)
		get(&b, 1);
	else
		get_uleb(&b);
	if (b.bad)
		return false;
	if (*aug == 'z') {
		uint64_t bytes = get_uleb(&b);
		struct bytes a = b;

		skip(&b, bytes);
		if (b.bad)
			return false;
		ret->has_augmentation = true;
		for (aug++; *aug; aug++) {
			if (*aug == 'R')
				ret->pointer_encoding = (uint8_t)get(&a, 1);
			else if (*aug == 'P')
				get_encoded(&a, (uint8_t)get(&a, 1));
			else if (*aug == 'L')
				get(&a, 1);
			else if (*aug == 'S')
				ret->signal = true;
		}
		if (a.bad)
			return false;
	}
	ret->program = b;
	return true;
}

/* The entry of the search table that may cover pc, NULL: none does. */
static const int32_t *find_entry(const struct module *m, uint64_t pc)
{
	int64_t rel = (int64_t)(pc - (uint64_t)(uintptr_t)m->eh_hdr);
	uint32_t lo = 0, hi = m->table_count;

	while (hi - lo > 1) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (m->table[(size_t)mid * 2] <= rel)
			lo = mid;
		else
			hi = mid;
	}
	if (m->table[(size_t)lo * 2] > rel)
		return NULL;
	return &m->table[(size_t)lo * 2];
}

/* The FDE whose function may contain pc, NULL when there is none. */
static const uint8_t *find_fde(const struct module *m, uint64_t pc)
{
	const int32_t *entry = find_entry(m, pc);

	return entry ? m->eh_hdr + entry[1] : NULL;
}

bool cfi_begins(const struct module *m, uint64_t pc)
{
	const int32_t *entry = m->table ? find_entry(m, pc) : NULL;

	return entry && (uint64_t)(uintptr_t)m->eh_hdr + (uint64_t)(int64_t)entry[0] == pc;
}

/*
 * The CFA of the lazy PLT is a function of the pc, so its expression becomes a
 * plain offset.
 */
static const uint8_t plt_expression[] = CPU_PLT_EXPRESSION;

enum { DW_OP_BREG0 = 0x70 }; /* the value of a register, by its number */

static struct unwind_rule to_rule(const struct state *s, const struct cie *cie, uint64_t pc)
{
	struct unwind_rule r = {.kind = RULE_OTHER};
	struct bytes x;
	int64_t cfa = s->cfa_offset;

	if (s->ra.how == SAVED_UNDEFINED) {
		r.kind = RULE_END;
		return r;
	}
	if (s->cfa_kind == 1) {
		if (s->ra.how != SAVED_AT_CFA || s->ra.offset != -CPU_RETURN_BYTES)
			return r;
		if (s->cfa_reg == CPU_DWARF_SP)
			r.kind = RULE_SP;
		else if (s->cfa_reg == CPU_DWARF_FP)
			r.kind = RULE_FP;
		else if (s->cfa_reg == CPU_DWARF_BASE)
			r.kind = RULE_BASE;
		else
			return r;
	} else if (s->cfa_kind == 2 && s->cfa_bytes) {
		x = (struct bytes){s->cfa_expression, s->cfa_expression + s->cfa_bytes, false};
		if (s->cfa_bytes == sizeof(plt_expression) &&
		    memcmp(x.at, plt_expression, sizeof(plt_expression)) == 0) {
			r.kind = RULE_SP;
			cfa = cpu_plt_cfa(pc);
		} else {
			uint8_t base = (uint8_t)get(&x, 1);

			cfa = get_sleb(&x);
			/* DW_OP_bregN offset; DW_OP_deref; nothing else */
			if (get(&x, 1) != 0x06 || x.bad || x.at != x.end)
				return r;
			if (base == DW_OP_BREG0 + CPU_DWARF_SP && cie->signal &&
			    cfa == CPU_SIGNAL_SP) {
				r.kind = RULE_SIGNAL;
				return r;
			}
			if (base != DW_OP_BREG0 + CPU_DWARF_FP || s->ra.how != SAVED_AT_CFA ||
			    s->ra.offset != -CPU_RETURN_BYTES)
				return r;
			r.kind = RULE_FP_DEREF;
		}
	} else {
		return r;
	}
	if (cfa < INT32_MIN || cfa > INT32_MAX)
		goto odd;
	r.cfa = (int32_t)cfa;
	r.base = s->base & RULE_BASE_LOST;
	if (s->fp.how == SAVED_SAME || s->fp.how == SAVED_UNDEFINED) {
		r.fp = RULE_FP_SAME;
		return r;
	}
	if (s->fp.how == SAVED_AT_CFA) {
		r.fp = RULE_FP_AT_CFA;
		cfa = s->fp.offset;
	} else if (s->fp.how == SAVED_EXPRESSION && s->fp.expression_bytes) {
		x = (struct bytes){
		    s->fp.expression, s->fp.expression + s->fp.expression_bytes, false};
		if (get(&x, 1) != DW_OP_BREG0 + CPU_DWARF_FP)
			goto odd;
		cfa = get_sleb(&x);
		if (x.bad || x.at != x.end)
			goto odd;
		r.fp = RULE_FP_AT_FP;
	} else {
		goto odd;
	}
	if (cfa < INT16_MIN || cfa > INT16_MAX)
		goto odd;
	r.fp_offset = (int16_t)cfa;
	return r;
odd:
	r.kind = RULE_OTHER;
	return r;
}

/* Not `cold`, because the compiler would make it small and slow. */
SEEP_NOINLINE struct unwind_rule cfi_rule(const struct module *m, uint64_t pc)
{
	struct unwind_rule stop = {.kind = RULE_STOP};
	struct state s, initial;
	struct bytes b;
	struct cie cie;
	const uint8_t *fde;
	uint64_t n, start, range;
	uint32_t back;

	if (!m->table)
		return stop;
	fde = find_fde(m, pc);
	if (!fde || fde < m->seg_lo || fde >= m->seg_hi)
		return stop;
	b = (struct bytes){fde, m->seg_hi, false};
	n = get(&b, 4);
	if (!n || n >= 0xfffffff0 || (uint64_t)(b.end - b.at) < n)
		return stop;
	b.end = b.at + n;
	fde = b.at;
	back = (uint32_t)get(&b, 4);
	if (!back || back > (uint64_t)(fde - m->seg_lo) || !read_cie(m, fde - back, &cie))
		return stop;
	start = get_encoded(&b, cie.pointer_encoding);
	range = get_encoded(&b, cie.pointer_encoding & 0xf);
	if (cie.has_augmentation)
		skip(&b, get_uleb(&b));
	if (b.bad || pc < start || pc - start >= range)
		return stop;
	memset(&initial, 0, sizeof(initial));
	s = initial;
	run(&s, &initial, &cie, cie.program, 0, UINT64_MAX);
	initial = s;
	run(&s, &initial, &cie, b, start, pc);
	return to_rule(&s, &cie, pc);
}
