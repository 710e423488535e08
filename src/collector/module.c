/* module.c - loaded objects: ranges, unwind tables, names, build-ids. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/module.h"

#include <elf.h>
#include <link.h>
#include <string.h>
#include <sys/auxv.h>

#include "base/attr.h"
#include "base/cpu.h"
#include "base/fmt.h"
#include "base/hash.h"
#include "collector/mem.h"
#include "collector/segment.h"
#include "collector/tick.h"

/* glibc's struct dl_find_object, by hand: older headers lack it. */
struct found {
	unsigned long long flags;
	void *map_start;
	void *map_end;
	struct link_map *link_map;
	void *eh_frame;
	unsigned long long reserved[7];
};
typedef int find_object_fn(void *pc, struct found *ret);

enum {
	BLOCK = 64, /* modules per block of private memory */
	BLOCKS = 1023,
	MODULES_MAX = BLOCK * BLOCKS, /* number 0xffff stays unused */
	NOTE_MAX = 4096,
	PLACES = 256, /* sets of modules that have been at one place */
	WAYS = 8,
	SWEEP = 16, /* modules looked at when another one is added */
};

static find_object_fn *find_object;
static const char *exe_path;
static struct module *blocks[BLOCKS];
static uint32_t count; /* numbers given out; number i is entry i - 1 */
static uint32_t alive_in[BLOCKS];     /* so that the dead cost no look */
static uint16_t places[PLACES][WAYS]; /* numbers by hash of the place */
static uint32_t places_next[PLACES];
static uint32_t table_life = 1; /* a forked child's table is another one */
static uint64_t strings_used;
static uint64_t own_start, own_end;

uint32_t module_gen SEEP_HOT = 1;
struct segment_table module_table, module_strings;

static struct module *
module_at(uint32_t number)
{
	struct module *b = LOAD_ACQUIRE(&blocks[(number - 1) / BLOCK]);

	return b ? &b[(number - 1) % BLOCK] : NULL;
}

/* Is [p, p + bytes) inside the readable segment? */
static bool
inside(const struct module *m, const uint8_t *p, uint64_t bytes)
{
	return p >= m->seg_lo && p <= m->seg_hi &&
	    bytes <= (uint64_t)(m->seg_hi - p);
}

static const Elf64_Ehdr *
elf_header(const struct found *f)
{
	const Elf64_Ehdr *e = f->map_start;
	uint64_t size = (uint64_t)((char *)f->map_end - (char *)f->map_start);

	if (size < CPU_PAGE || memcmp(e->e_ident, ELFMAG, SELFMAG) != 0 ||
	    e->e_phentsize != sizeof(Elf64_Phdr) ||
	    e->e_phoff > CPU_PAGE - sizeof(Elf64_Phdr) ||
	    e->e_phnum > (CPU_PAGE - e->e_phoff) / sizeof(Elf64_Phdr))
		return NULL;
	return e;
}

/* The loaded, readable segment that contains p; sets seg_lo and seg_hi. */
static bool
find_segment(struct module *m, const Elf64_Ehdr *e, const uint8_t *p)
{
	const Elf64_Phdr *ph = (const void *)((const char *)e + e->e_phoff);
	int i;

	for (i = 0; i < e->e_phnum; i++) {
		uint64_t lo = m->base + ph[i].p_vaddr;
		uint64_t hi = lo + ph[i].p_memsz;

		if (ph[i].p_type != PT_LOAD || !(ph[i].p_flags & PF_R) ||
		    lo < m->start || hi > m->end || hi < lo)
			continue;
		if ((uint64_t)(uintptr_t)p >= lo &&
		    (uint64_t)(uintptr_t)p < hi) {
			m->seg_lo = (const uint8_t *)(uintptr_t)lo;
			m->seg_hi = (const uint8_t *)(uintptr_t)hi;
			return true;
		}
	}
	return false;
}

static void
copy_build_id(struct seg_module *row, const uint8_t *p, uint64_t bytes)
{
	while (bytes >= sizeof(Elf64_Nhdr)) {
		Elf64_Nhdr n;
		uint64_t name, desc;

		memcpy(&n, p, sizeof(n));
		name = ((uint64_t)n.n_namesz + 3) & ~UINT64_C(3);
		desc = ((uint64_t)n.n_descsz + 3) & ~UINT64_C(3);
		if (name + desc > bytes - sizeof(n))
			return;
		if (n.n_type == NT_GNU_BUILD_ID && n.n_namesz == 4 &&
		    n.n_descsz <= sizeof(row->build_id) &&
		    memcmp(p + sizeof(n), "GNU", 4) == 0) {
			memcpy(row->build_id, p + sizeof(n) + name, n.n_descsz);
			row->build_id_bytes = (uint8_t)n.n_descsz;
			return;
		}
		p += sizeof(n) + name + desc;
		bytes -= sizeof(n) + name + desc;
	}
}

static void
find_build_id(
    struct seg_module *row, const struct module *m, const Elf64_Ehdr *e)
{
	const Elf64_Phdr *ph = (const void *)((const char *)e + e->e_phoff);
	int i;

	for (i = 0; i < e->e_phnum && !row->build_id_bytes; i++) {
		struct module in = *m;
		const uint8_t *p =
		    (const uint8_t *)(uintptr_t)(m->base + ph[i].p_vaddr);

		if (ph[i].p_type == PT_NOTE && ph[i].p_memsz <= NOTE_MAX &&
		    find_segment(&in, e, p) && inside(&in, p, ph[i].p_memsz))
			copy_build_id(row, p, ph[i].p_memsz);
	}
}

/* The search table of .eh_frame_hdr, in the one form that linkers write. */
static void
find_table(struct module *m, const Elf64_Ehdr *e, const uint8_t *hdr)
{
	const uint8_t *p;
	uint32_t n;

	if (!hdr || !find_segment(m, e, hdr) || !inside(m, hdr, 12))
		return;
	/* version 1; eh_frame_ptr 4 bytes; count udata4; table datarel sdata4 */
	if (hdr[0] != 1 || (hdr[1] & 7) != 3 || hdr[2] != 3 || hdr[3] != 0x3b)
		return;
	p = hdr + 8;
	memcpy(&n, p, 4);
	if (!n || !inside(m, p + 4, (uint64_t)n * 8))
		return;
	m->table = (const int32_t *)(const void *)(p + 4);
	m->table_count = n;
	m->eh_hdr = hdr;
}

static uint64_t
store_string(const char *s, size_t bytes)
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

/* Names live in pages of their own, filled from one end. */
static const char *
keep_name(const char *s)
{
	static char *page;
	static uint32_t used = CPU_PAGE;
	size_t n = fmt_length(s, CPU_PAGE - 1);
	uint32_t at = ADD(&used, (uint32_t)n + 1);
	char *p = LOAD_ACQUIRE(&page);

	if (!p || at + n + 1 > CPU_PAGE) {
		p = mem_alloc(CPU_PAGE);
		if (!p)
			return "";
		STORE(&used, (uint32_t)n + 1);
		STORE_RELEASE(&page, p);
		at = 0;
	}
	memcpy(p + at, s, n);
	return p + at;
}

static void
describe(struct module *m, const Elf64_Ehdr *e)
{
	const struct link_map *l = m->link_map;
	struct seg_module *row = &m->row;

	row->is_main = l && l->l_name && !l->l_name[0];
	if (row->is_main)
		m->name = exe_path;
	else
		m->name = l && l->l_name ? keep_name(l->l_name) : "";
	row->base = m->base;
	row->start = m->start;
	row->end = m->end;
	row->generation = LOAD(&module_gen);
	row->first_tick = tick_now();
	if (e)
		find_build_id(row, m, e);
}

static bool
write_row(struct module *m)
{
	struct seg_module *row = segment_table_row(&module_table, m->number);
	size_t n = fmt_length(m->name, CPU_PAGE - 1);
	uint64_t at;

	if (!row)
		return false;
	at = store_string(m->name, n);
	*row = m->row;
	if (at != UINT64_MAX) {
		row->path = at;
		row->path_bytes = (uint32_t)n;
	}
	STORE(&m->written, table_life);
	return true;
}

static uint32_t
place_of(uint64_t start)
{
	return (uint32_t)(hash_word(start) >> 32) % PLACES;
}

static void
set_alive(struct module *m)
{
	uint32_t zero = 0;

	ADD(&alive_in[(m->number - 1) / BLOCK], 1);
	if (!CAS(&m->alive, &zero, 1)) /* another thread was first */
		ADD(&alive_in[(m->number - 1) / BLOCK], -1);
}

static void
module_gone(struct module *m)
{
	uint32_t one = 1;
	struct seg_module *row;

	if (!CAS(&m->alive, &one, 0))
		return;
	ADD(&alive_in[(m->number - 1) / BLOCK], -1);
	row = segment_table_row(&module_table, m->number);
	if (row)
		row->gone_tick = tick_now() ? tick_now() : 1;
	module_distrust();
	segment_count(SEG_GENERATIONS, 1);
}

/* The number before this one whose block has somebody alive in it; or 0. */
static uint32_t
next_alive(uint32_t number)
{
	while (number && !LOAD_ACQUIRE(&alive_in[(number - 1) / BLOCK]))
		number -= (number - 1) % BLOCK + 1;
	return number;
}

/*
 * Where nothing new comes to lie, nobody finds out that a module is gone, and
 * a host whose plugins wander would leave ever more of them to look through.
 * So who adds one looks after a few others, in turn.
 */
static SEEP_COLD void
module_sweep(void)
{
	static uint32_t turn;
	uint32_t i, at = LOAD(&turn), n = LOAD_ACQUIRE(&count);

	for (i = 0; i < SWEEP; i++) {
		struct module *m;
		struct found f;

		at = next_alive(at ? at : n < MODULES_MAX ? n : MODULES_MAX);
		if (!at)
			break;
		m = module_at(at--);
		if (m && LOAD_ACQUIRE(&m->alive) &&
		    (find_object((void *)(uintptr_t)m->start, &f) != 0 ||
		        f.link_map != LOAD(&m->link_map)))
			module_gone(m);
	}
	STORE(&turn, at);
}

/* Two threads may add one module at once; the reader merges by content. */
static SEEP_COLD const struct module *
module_add(const struct found *f)
{
	uint32_t number = ADD(&count, 1) + 1;
	struct module **block = &blocks[(number - 1) / BLOCK];
	const Elf64_Ehdr *e;
	struct module *m;
	uint32_t at;

	if (number > MODULES_MAX) {
		STORE(&count, MODULES_MAX);
		segment_count(SEG_LOST_MODULES, 1);
		return NULL;
	}
	if (!LOAD_ACQUIRE(block)) {
		struct module *none = NULL;
		struct module *mine = mem_alloc(BLOCK * sizeof(*mine));

		if (!mine)
			return NULL;
		CAS(block, &none, mine); /* the loser's page is wasted */
	}
	m = module_at(number);
	m->number = number;
	m->start = (uint64_t)(uintptr_t)f->map_start;
	m->end = (uint64_t)(uintptr_t)f->map_end;
	m->link_map = f->link_map;
	m->base = f->link_map ? f->link_map->l_addr : m->start;
	e = elf_header(f);
	if (e)
		find_table(m, e, f->eh_frame);
	describe(m, e);
	write_row(m);
	m->verified = LOAD(&module_gen);
	set_alive(m);
	at = place_of(m->start);
	STORE(&places[at][ADD(&places_next[at], 1) % WAYS], (uint16_t)number);
	return m;
}

static bool
same_range(const struct module *m, const struct found *f)
{
	return m->start == (uint64_t)(uintptr_t)f->map_start &&
	    m->end == (uint64_t)(uintptr_t)f->map_end &&
	    (!m->eh_hdr || m->eh_hdr == (const uint8_t *)f->eh_frame);
}

/*
 * Another object may have been loaded at the very same place, with the same
 * layout, and even its link map at the same address. It has another name or
 * another build-id. The object is in use, so both can be read.
 */
static bool
same_contents(const struct module *m, const struct found *f)
{
	const struct link_map *l = f->link_map;
	const Elf64_Ehdr *e = elf_header(f);
	struct seg_module now = {0};

	if (e)
		find_build_id(&now, m, e);
	if (now.build_id_bytes != m->row.build_id_bytes ||
	    memcmp(now.build_id, m->row.build_id, sizeof(now.build_id)) != 0)
		return false;
	return m->row.is_main || !l || !l->l_name ||
	    fmt_same(l->l_name, m->name);
}

static bool
same_object(struct module *m, const struct found *f)
{
	uint32_t gen = LOAD_ACQUIRE(&module_gen);

	if (LOAD(&m->verified) == gen)
		return true;
	if (!same_contents(m, f))
		return false;
	STORE(&m->verified, gen);
	return true;
}

/*
 * An object that was here before, was unloaded and is back: the same file by
 * its build-id, at the same place, so all that is known of it holds. Its
 * number is used again, or a host that loads a plugin for every request would
 * get new sites each time, and run out of numbers in the end.
 */
static struct module *
module_back(const struct found *f)
{
	uint32_t at = place_of((uint64_t)(uintptr_t)f->map_start), i;
	const struct link_map *l = f->link_map;

	for (i = 0; i < WAYS; i++) {
		uint32_t number = LOAD(&places[at][i]);
		struct module *m = number ? module_at(number) : NULL;
		struct seg_module *row;

		if (!m || LOAD_ACQUIRE(&m->alive) || !l ||
		    !m->row.build_id_bytes || m->base != l->l_addr ||
		    !same_range(m, f) || !same_contents(m, f))
			continue;
		/* a forked child's table lacks what was gone by then */
		if (LOAD(&m->written) != table_life && !write_row(m))
			return NULL;
		row = segment_table_row(&module_table, number);
		if (row)
			row->gone_tick = 0;
		STORE(&m->link_map, l);
		STORE(&m->verified, LOAD_ACQUIRE(&module_gen));
		set_alive(m);
		return m;
	}
	return NULL;
}

const struct module *
module_of(uint64_t pc)
{
	uint32_t n = LOAD_ACQUIRE(&count);
	struct module *m;
	struct found f;
	uint32_t i;

	if (n > MODULES_MAX)
		n = MODULES_MAX;
	if (find_object((void *)(uintptr_t)pc, &f) != 0)
		return NULL;
	for (i = next_alive(n); i > 0; i = next_alive(i - 1)) {
		m = module_at(i);
		if (!m || !LOAD_ACQUIRE(&m->alive) || pc < m->start ||
		    pc >= m->end)
			continue;
		if (same_range(m, &f) && LOAD(&m->link_map) == f.link_map &&
		    same_object(m, &f))
			return m;
		module_gone(m);
	}
	module_sweep();
	m = module_back(&f);
	return m ? m : module_add(&f);
}

void
module_distrust(void)
{
	__atomic_fetch_add(&module_gen, 1, __ATOMIC_ACQ_REL);
}

bool
module_is_own(uint64_t pc)
{
	return pc >= own_start && pc < own_end;
}

bool
module_same(const void *a, const void *b)
{
	struct found fa, fb;

	return find_object((void *)(uintptr_t)a, &fa) == 0 &&
	    find_object((void *)(uintptr_t)b, &fb) == 0 &&
	    fa.link_map == fb.link_map;
}

const struct link_map *
module_of_executable(void *fn)
{
	find_object_fn *find = (find_object_fn *)fn;
	struct found f;

	return find((void *)getauxval(AT_PHDR), &f) == 0 ? f.link_map : NULL;
}

static bool
open_tables(void)
{
	strings_used = 1; /* offset 0 means: no string */
	return segment_table_init(&module_table, SEG_EXT_MODULE, 0,
	           sizeof(struct seg_module), 0, MODULES_MAX + 1) &&
	    segment_table_init(
	        &module_strings, SEG_EXT_STRING, 0, 1, 0, 16 << 20);
}

bool
module_init(void *fn, const char *exe)
{
	struct found f;

	find_object = (find_object_fn *)fn;
	exe_path = exe;
	if (find_object((void *)&module_gen, &f) == 0) {
		own_start = (uint64_t)(uintptr_t)f.map_start;
		own_end = (uint64_t)(uintptr_t)f.map_end;
	}
	return open_tables();
}

bool
module_restart(void)
{
	uint32_t i;

	if (!open_tables())
		return false;
	table_life++;
	for (i = 1; i <= count && i <= MODULES_MAX; i++) {
		struct module *m = module_at(i);

		/* what is gone can be in no stack of this child */
		if (m && m->alive && !write_row(m))
			return false;
	}
	return true;
}
