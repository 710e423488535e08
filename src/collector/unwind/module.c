/* module.c - loaded objects: ranges, unwind tables, names, build-ids. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/unwind/module.h"

#include <link.h>
#include <string.h>
#include <sys/auxv.h>

#include "base/attr.h"
#include "base/cpu/cpu.h"
#include "base/fmt.h"
#include "base/hash.h"
#include "collector/segment/kernel.h"
#include "collector/segment/mem.h"
#include "collector/unwind/object.h"
#include "collector/segment/segment.h"
#include "collector/segment/tick.h"

typedef int find_object_fn(void *pc, struct object *ret);

enum {
	BLOCK = 64, /* modules per block of private memory: bits of a word */
	BLOCKS = 1023,
	MODULES_MAX = BLOCK * BLOCKS, /* number 0xffff stays unused */
	CHAIN_BITS = 12,
	CHAIN_MAX = 256, /* 16 when all numbers are given out */
	SWEEP = 16,      /* modules that are checked when another one is added */
};

static find_object_fn *find_object;
static const char *exe_path;
static struct module *blocks[BLOCKS];
static uint64_t loaded[BLOCKS]; /* one bit each: filled, and not gone */
static uint32_t count;          /* numbers given out; number i is entry i - 1 */
/* numbers by build-id and place, the newest; the others by module.older */
static uint32_t chains[1 << CHAIN_BITS];
static uint64_t strings_used;
static uint32_t incarnation = 1; /* rises with each fork on the way here */
static uint32_t unwritten;       /* modules without a row, or a name in it */
static uint64_t own_start, own_end;

uint32_t module_gen SEEP_HOT = 1;
struct segment_table module_table, module_strings;

static struct module *module_at(uint32_t number)
{
	struct module *b = LOAD_ACQUIRE(&blocks[(number - 1) / BLOCK]);

	return b ? &b[(number - 1) % BLOCK] : NULL;
}

static bool same_id(const struct seg_module *row, const struct build_id *id)
{
	return row->build_id_bytes == id->count &&
	    memcmp(row->build_id, id->bytes, sizeof(id->bytes)) == 0;
}

static uint64_t store_string(const char *s, size_t bytes)
{
	uint64_t at = ADD(&strings_used, bytes + 1);
	size_t i;

	for (i = 0; i <= bytes; i++) {
		char *c = segment_table_row(&module_strings, at + i);

		if (!c)
			return UINT64_MAX;
		*c = (char)(i < bytes ? s[i] : 0);
	}
	return at;
}

/*
 * Names are in pages of their own, which are filled from one end. The page
 * itself says how far it is filled, so two threads never get the same bytes.
 */
struct names_page {
	uint32_t used;
	char text[2UL * CPU_PAGE - sizeof(uint32_t)];
};

static const char *keep_name(const char *s)
{
	static struct names_page *page;
	struct names_page *p = LOAD_ACQUIRE(&page), *mine;
	size_t n = fmt_length(s, CPU_PAGE - 1);
	uint32_t at = p ? ADD(&p->used, (uint32_t)n + 1) : 0;

	if (!p || at + n + 1 > sizeof(p->text)) {
		mine = mem_alloc(sizeof(*mine));
		if (!mine) {
			segment_count(SEG_NO_MEMORY, 1);
			return "";
		}
		mine->used = (uint32_t)n + 1;
		at = 0;
		CAS(&page, &p, mine); /* otherwise the page holds this name only */
		p = mine;
	}
	memcpy(p->text + at, s, n);
	return p->text + at;
}

static const char *name_of(const struct object *f)
{
	return f->link_map && f->link_map->l_name ? f->link_map->l_name : "";
}

/* An object that was built again and loaded again has the name of `before`. */
static void describe(struct module *m, const struct object *f, const struct build_id *id,
    const struct module *before)
{
	struct seg_module *row = &m->row;

	row->is_main = f->link_map && !name_of(f)[0];
	if (row->is_main) {
		m->name = exe_path;
	} else if (before && fmt_same(before->name, name_of(f))) {
		m->name = before->name;
		m->life = before->life;
		row->path = before->row.path;
		row->path_bytes = before->row.path_bytes;
	} else {
		m->name = keep_name(name_of(f));
	}
	row->base = m->base;
	row->start = m->start;
	row->end = m->end;
	row->generation = LOAD(&module_gen);
	row->first_tick = tick_now();
	memcpy(row->build_id, id->bytes, sizeof(id->bytes));
	row->build_id_bytes = id->count;
}

/* Writes row and name into the segment. False: one of them found no room. */
static bool write_row(struct module *m)
{
	struct seg_module *row = segment_table_row(&module_table, m->number);
	size_t n = fmt_length(m->name, CPU_PAGE - 1);
	uint64_t at;

	if (m->life != incarnation)
		m->row.path = m->row.path_bytes = m->written = 0;
	m->life = incarnation;
	if (!row)
		return false;
	if (!m->row.path && n) {
		at = store_string(m->name, n);
		if (at != UINT64_MAX) {
			m->row.path = at;
			m->row.path_bytes = (uint32_t)n;
		}
	}
	*row = m->row;
	STORE(&m->written, m->row.path || !n);
	return m->written;
}

/*
 * A module that finds no room in the segment is counted, and tried again later.
 */
static void write_or_count(struct module *m)
{
	if (!write_row(m)) {
		segment_count(SEG_LOST_MODULES, 1);
		ADD(&unwritten, 1);
	}
}

static uint32_t *chain_of(uint64_t base, const struct build_id *id)
{
	uint64_t word;

	memcpy(&word, id->bytes, sizeof(word));
	return &chains[hash_finish(hash_mix(hash_word(base), word)) >> (64 - CHAIN_BITS)];
}

static void chain_add(struct module *m, const struct build_id *id)
{
	uint32_t *newest = chain_of(m->base, id);

	if (!id->count)
		return; /* without a build-id: never the same */
	m->older = LOAD(newest);
	while (!CAS(newest, &m->older, m->number))
		;
}

static uint64_t bit_of(const struct module *m)
{
	return UINT64_C(1) << (m->number - 1) % BLOCK;
}

static void now_loaded(const struct module *m)
{
	__atomic_fetch_or(&loaded[(m->number - 1) / BLOCK], bit_of(m), __ATOMIC_RELEASE);
}

/* A number and room for its module; NULL, counted, when there is none. */
static struct module *new_module(void)
{
	uint32_t number = ADD(&count, 1) + 1;

	if (number > MODULES_MAX) {
		STORE(&count, MODULES_MAX);
		segment_count(SEG_LOST_MODULES, 1);
		return NULL;
	}
	if (!mem_publish(&blocks[(number - 1) / BLOCK], BLOCK * sizeof(struct module))) {
		/* gives the number back if it is the last one */
		CAS(&count, &number, number - 1);
		segment_count(SEG_NO_MEMORY, 1);
		return NULL;
	}
	module_at(number)->number = number;
	return module_at(number);
}

/* Two threads may add one module at once; the reader merges by content. */
static SEEP_COLD const struct module *module_add(
    const struct object *f, const struct build_id *id, const struct module *before)
{
	struct module *m = new_module();
	struct object_table table;

	if (!m)
		return NULL;
	m->start = object_start(f);
	m->end = object_end(f);
	m->link_map = f->link_map;
	m->base = object_base(f);
	if (object_table(f, &table)) {
		m->seg_lo = table.lo;
		m->seg_hi = table.hi;
		m->table = table.rows;
		m->table_count = table.count;
		m->eh_hdr = f->eh_frame;
	}
	object_text(f, &m->text_lo, &m->text_hi);
	describe(m, f, id, before);
	write_or_count(m);
	m->verified = LOAD(&module_gen);
	chain_add(m, id);
	now_loaded(m);
	return m;
}

static void module_gone(struct module *m)
{
	struct seg_module *row;

	if (!(__atomic_fetch_and(&loaded[(m->number - 1) / BLOCK], ~bit_of(m), __ATOMIC_ACQ_REL) &
	        bit_of(m)))
		return;
	row = segment_table_row(&module_table, m->number);
	if (row)
		row->gone_tick = tick_now() ? tick_now() : 1;
	module_distrust();
	segment_count(SEG_GENERATIONS, 1);
}

static bool same_range(const struct module *m, const struct object *f)
{
	return m->start == object_start(f) && m->end == object_end(f) &&
	    (!m->eh_hdr || m->eh_hdr == (const uint8_t *)f->eh_frame);
}

static bool same_name(const struct module *m, const struct object *f)
{
	return m->row.is_main || !f->link_map || !f->link_map->l_name || !m->name[0] ||
	    fmt_same(f->link_map->l_name, m->name);
}

/*
 * An object that was unloaded, and is loaded again with the same build-id, name
 * and addresses, gets its old number. So a host that loads its plugins again
 * and again needs no more numbers than it has plugins.
 */
static SEEP_COLD const struct module *module_back(const struct object *f, const struct build_id *id)
{
	uint32_t n = LOAD_ACQUIRE(chain_of(object_base(f), id));
	struct seg_module *row;
	int i;

	for (i = 0; id->count && n && i < CHAIN_MAX; i++) {
		struct module *m = module_at(n);

		if (same_range(m, f) && same_id(&m->row, id) && same_name(m, f)) {
			STORE(&m->link_map, f->link_map);
			STORE(&m->verified, LOAD_ACQUIRE(&module_gen));
			/* gone before a fork: unknown to this segment */
			if (m->life != incarnation)
				write_or_count(m);
			row = segment_table_row(&module_table, n);
			if (row)
				row->gone_tick = 0;
			now_loaded(m);
			return m;
		}
		n = m->older;
	}
	return NULL;
}

/*
 * Another object may be loaded at the same address, with the same layout, and
 * even with its link map at the same address. Then its name or its build-id
 * differs. The object is in use, so both can be read.
 */
static bool same_object(struct module *m, const struct object *f)
{
	uint32_t gen = LOAD_ACQUIRE(&module_gen);
	struct build_id id;

	if (!same_range(m, f) || LOAD(&m->link_map) != f->link_map)
		return false;
	if (LOAD(&m->verified) == gen)
		return true;
	id = object_build_id(f);
	if (!same_id(&m->row, &id) || !same_name(m, f))
		return false;
	STORE(&m->verified, gen);
	return true;
}

/* The highest number up to this one that is loaded, 0: none. */
static uint32_t next_loaded(uint32_t number)
{
	while (number) {
		uint32_t block = (number - 1) / BLOCK;
		uint64_t bits = LOAD_ACQUIRE(&loaded[block]) &
		    ~UINT64_C(0) >> (BLOCK - 1 - (number - 1) % BLOCK);

		if (bits)
			return block * BLOCK + BLOCK - (uint32_t)__builtin_clzll(bits);
		number = block * BLOCK;
	}
	return 0;
}

static uint32_t highest(void)
{
	uint32_t n = LOAD_ACQUIRE(&count);

	return n < MODULES_MAX ? n : MODULES_MAX;
}

/*
 * If no other object is loaded at its address, nobody finds out that a module
 * is gone. A host whose plugins are loaded at ever new addresses would then
 * have ever more modules to search. So a thread that adds one checks a few
 * others, in turn.
 */
static SEEP_COLD void module_sweep(void)
{
	static uint32_t turn;
	uint32_t i, at = LOAD(&turn);

	for (i = 0; i < SWEEP; i++) {
		struct module *m;
		struct object f;

		at = next_loaded(at ? at : highest());
		if (!at)
			break;
		m = module_at(at--);
		if (find_object((void *)(uintptr_t)m->start, &f) != 0 ||
		    f.link_map != LOAD(&m->link_map))
			module_gone(m);
	}
	STORE(&turn, at);
}

static SEEP_COLD const struct module *module_found(
    const struct object *f, const struct module *before)
{
	struct build_id id = object_build_id(f);
	const struct module *m;

	module_sweep();
	m = module_back(f, &id);
	return m ? m : module_add(f, &id, before);
}

/* The medium may have room again. */
static SEEP_COLD void catch_up(void)
{
	uint32_t i;

	STORE(&unwritten, 0);
	for (i = next_loaded(highest()); i; i = next_loaded(i - 1)) {
		struct module *m = module_at(i);

		if (!LOAD(&m->written) && !write_row(m))
			ADD(&unwritten, 1);
	}
}

/*
 * Searches only the modules that are loaded now, which are few even if many
 * have come and gone. One word has the bits of 64 modules.
 */
const struct module *module_of(uint64_t pc)
{
	const struct module *before = NULL;
	struct object f;
	uint32_t i;

	if (find_object((void *)(uintptr_t)pc, &f) != 0)
		return NULL;
	object_complete(&f);
	if (unlikely(LOAD(&unwritten)))
		catch_up();
	for (i = next_loaded(highest()); i; i = next_loaded(i - 1)) {
		struct module *m = module_at(i);

		if (pc < m->start || pc >= m->end)
			continue;
		if (same_object(m, &f))
			return m;
		if (m->row.is_main)
			continue; /* the other object is in a gap of it */
		module_gone(m);
		before = m;
	}
	return module_found(&f, before);
}

void module_distrust(void)
{
	__atomic_fetch_add(&module_gen, 1, __ATOMIC_ACQ_REL);
}

bool module_is_own(uint64_t pc)
{
	return pc >= own_start && pc < own_end;
}

bool module_same(const void *a, const void *b)
{
	struct object fa, fb;

	return find_object((void *)(uintptr_t)a, &fa) == 0 &&
	    find_object((void *)(uintptr_t)b, &fb) == 0 && fa.link_map == fb.link_map;
}

bool module_range(const void *p, uint64_t *ret_start, uint64_t *ret_end)
{
	struct object f;

	if (!find_object || find_object((void *)(uintptr_t)p, &f))
		return false;
	*ret_start = object_start(&f);
	*ret_end = object_end(&f);
	return true;
}

const struct link_map *module_of_executable(void *fn)
{
	find_object_fn *find = (find_object_fn *)fn;
	struct object f;

	return find((void *)kernel_auxval(AT_PHDR), &f) == 0 ? f.link_map : NULL;
}

static bool open_tables(void)
{
	strings_used = 1; /* offset 0 means that there is no string */
	return segment_table_init(&module_table, SEG_EXT_MODULE, 0, sizeof(struct seg_module), 0,
	           MODULES_MAX + 1) &&
	    segment_table_init(&module_strings, SEG_EXT_STRING, 0, 1, 0, 16 << 20);
}

bool module_init(void *fn, const char *exe)
{
	struct object f;

	find_object = (find_object_fn *)fn;
	exe_path = exe;
	object_init(module_of_executable(fn), (void *)kernel_auxval(AT_PHDR),
	    kernel_auxval(AT_PHNUM), kernel_auxval(AT_PHENT));
	if (find_object((void *)&module_gen, &f) == 0) {
		own_start = object_start(&f);
		own_end = object_end(&f);
	}
	return open_tables();
}

bool module_restart(void)
{
	uint32_t i;

	if (!open_tables())
		return false;
	incarnation++;
	unwritten = 0;
	/* a module that is gone is in no stack of this child */
	for (i = next_loaded(highest()); i; i = next_loaded(i - 1))
		write_or_count(module_at(i));
	return true;
}
