/* test_c_module.c - promises of module.h: who is who when objects come and go. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <elf.h>
#include <link.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "base/cpu.h"
#include "collector/module.h"
#include "collector/segment.h"

enum { NUMBERS = 65472, SEGMENT_BYTES = 64 << 20 };

/* What _dl_find_object would answer; the layout is glibc's. */
static struct answer {
	unsigned long long flags;
	void *map_start, *map_end;
	struct link_map *link_map;
	void *eh_frame;
	unsigned long long reserved[7];
} now, always; /* the one that comes and goes, the one that stays */

/* An object of one page: header, one segment, one note. */
struct image {
	Elf64_Ehdr header;
	Elf64_Phdr load, note;
	Elf64_Nhdr note_header;
	char owner[4];
	char build_id[8];
};

static bool
holds(const struct answer *a, const void *pc)
{
	return (const char *)pc >= (char *)a->map_start &&
	    (const char *)pc < (char *)a->map_end;
}

static int
find_object(void *pc, struct answer *ret)
{
	if (!holds(&now, pc) && !holds(&always, pc))
		return -1;
	*ret = holds(&now, pc) ? now : always;
	return 0;
}

static int
fresh_table(void **state)
{
	void *p = mmap(NULL, SEGMENT_BYTES, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	(void)state;
	return p == MAP_FAILED ||
	        !segment_init(p, SEGMENT_BYTES, SEGMENT_BYTES, true, false) ||
	        !module_init((void *)find_object, "/exe")
	    ? -1
	    : 0;
}

/* Loads an object at page; NULL: one without a build-id. */
static uint32_t
load(struct image *page, const char *build_id, struct link_map *l, char *name)
{
	const struct module *m;

	memset(page, 0, sizeof(*page));
	memcpy(page->header.e_ident, ELFMAG, SELFMAG);
	page->header.e_phentsize = sizeof(Elf64_Phdr);
	page->header.e_phoff = offsetof(struct image, load);
	page->header.e_phnum = build_id ? 2 : 1;
	page->load = (Elf64_Phdr){
	    .p_type = PT_LOAD, .p_flags = PF_R, .p_memsz = CPU_PAGE};
	if (build_id) {
		page->note = (Elf64_Phdr){.p_type = PT_NOTE,
		    .p_vaddr = offsetof(struct image, note_header),
		    .p_memsz = sizeof(Elf64_Nhdr) + 12};
		page->note_header = (Elf64_Nhdr){4, 8, NT_GNU_BUILD_ID};
		memcpy(page->owner, "GNU", 4);
		memcpy(page->build_id, build_id, 8);
	}
	*l = (struct link_map){
	    .l_addr = (uint64_t)(uintptr_t)page, .l_name = name};
	now = (struct answer){.map_start = page,
	    .map_end = (char *)page + CPU_PAGE,
	    .link_map = l};
	module_distrust(); /* as dlclose does */
	m = module_of((uint64_t)(uintptr_t)page + 100);
	assert_non_null(m);
	return m->number;
}

static struct image *
fresh_page(void)
{
	void *p = mmap(NULL, CPU_PAGE, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_true(p != MAP_FAILED);
	return p;
}

static const struct seg_module *
row_of(uint32_t number)
{
	return segment_table_row(&module_table, number);
}

static void
an_object_that_comes_back_is_the_module_it_was(void **state)
{
	struct image *page = fresh_page();
	struct link_map maps[3];
	uint32_t a, b;
	int i;

	(void)state;
	a = load(page, "aaaaaaaa", &maps[0], (char[]){"/a.so"});
	b = load(page, "bbbbbbbb", &maps[0], (char[]){"/b.so"});
	assert_int_not_equal(a, b);
	assert_int_not_equal(row_of(a)->gone_tick, 0);
	for (i = 0; i < 1000; i++) {
		assert_int_equal(
		    load(page, "aaaaaaaa", &maps[i % 3], (char[]){"/a.so"}), a);
		assert_int_equal(row_of(a)->gone_tick, 0);
		assert_int_equal(
		    load(page, "bbbbbbbb", &maps[i % 3], (char[]){"/b.so"}), b);
	}
}

static void
what_cannot_be_told_apart_is_not_taken_for_the_same(void **state)
{
	struct image *page = fresh_page();
	struct link_map maps[2];
	uint32_t a;

	(void)state;
	a = load(page, NULL, &maps[0], (char[]){"/a.so"});
	assert_int_not_equal(load(page, NULL, &maps[1], (char[]){"/a.so"}), a);
	a = load(page, "aaaaaaaa", &maps[0], (char[]){"/a.so"});
	assert_int_not_equal(
	    load(page, "aaaaaaab", &maps[0], (char[]){"/a.so"}), a);
	assert_int_not_equal(
	    load(page, "aaaaaaaa", &maps[0], (char[]){"/copy.so"}), a);
}

static void
a_child_has_the_row_of_an_object_that_comes_back(void **state)
{
	struct image *page = fresh_page();
	struct link_map maps[2];
	uint32_t a;

	a = load(page, "aaaaaaaa", &maps[0], (char[]){"/a.so"});
	load(page, "bbbbbbbb", &maps[0], (char[]){"/b.so"});
	assert_int_equal(fresh_table(state), 0); /* the child's segment */
	assert_true(module_restart());
	assert_int_equal(row_of(a)->end, 0);
	assert_int_equal(
	    load(page, "aaaaaaaa", &maps[1], (char[]){"/a.so"}), a);
	assert_int_equal(row_of(a)->end, (uint64_t)(uintptr_t)now.map_end);
	assert_int_equal(row_of(a)->path_bytes, strlen("/a.so"));
}

/* Last: it leaves no number to others. */
static void
running_out_of_numbers_is_counted(void **state)
{
	struct link_map map = {.l_name = (char[]){"/many.so"}}, stays = map;
	static char places[NUMBERS + 1000], place;
	const struct module *first;
	uint32_t i, lost = 0;

	(void)state;
	always = (struct answer){
	    .map_start = &place, .map_end = &place + 1, .link_map = &stays};
	first = module_of((uint64_t)(uintptr_t)&place);
	assert_non_null(first);
	for (i = 0; i < sizeof(places); i++) {
		now = (struct answer){.map_start = places + i,
		    .map_end = places + i + 1,
		    .link_map = &map};
		lost += !module_of((uint64_t)(uintptr_t)(places + i));
	}
	assert_true(lost >= 1000);
	assert_int_equal(segment.header->counts[SEG_LOST_MODULES], lost);
	/* those that went away were found out, who stays has its number */
	assert_true(segment.header->counts[SEG_GENERATIONS] > NUMBERS / 2);
	assert_ptr_equal(module_of((uint64_t)(uintptr_t)&place), first);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(an_object_that_comes_back_is_the_module_it_was),
	    cmocka_unit_test(
	        what_cannot_be_told_apart_is_not_taken_for_the_same),
	    cmocka_unit_test(a_child_has_the_row_of_an_object_that_comes_back),
	    cmocka_unit_test(running_out_of_numbers_is_counted),
	};

	return cmocka_run_group_tests(tests, fresh_table, NULL);
}
