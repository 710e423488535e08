/* test_c_module.c - promises of module.h and object.h: objects that come, go, come back and change. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <elf.h>
#include <link.h>
#include <pthread.h>
#include <sys/mman.h>

#include "test.h"
#include "collector/segment/mem.h"
#include "collector/unwind/module.h"
#include "collector/unwind/object.h"
#include "collector/segment/segment.h"

enum { IMAGES = 6, PAGE = 4096, NUMBERS = 65472, NAMES = 300, WANDERS = 3000 };

/* What a program would map: headers, a build-id, no unwind table. */
struct image {
	Elf64_Ehdr header;
	Elf64_Phdr load, note;
	Elf64_Nhdr note_header;
	char owner[4];
	uint8_t build_id[20];
} __attribute__((aligned(4096)));

static struct image *images; /* two pages each */
static char spots[WANDERS];  /* an object of one byte is at one of them */
static struct link_map wanderer = {.l_name = (char[]){"/lib/wanderer.so"}};
static unsigned spot;
static struct link_map maps[IMAGES];
static char names[IMAGES][64];
static bool gone[IMAGES];

static struct image *image_at(unsigned i)
{
	return (struct image *)(void *)((char *)images + (size_t)i * 2 * PAGE);
}

static uint64_t code_of(unsigned i)
{
	return (uint64_t)(uintptr_t)image_at(i) + PAGE;
}

static void make_image(unsigned i)
{
	struct image *m = image_at(i);

	memcpy(m->header.e_ident, ELFMAG, SELFMAG);
	m->header.e_phentsize = sizeof(Elf64_Phdr);
	m->header.e_phoff = offsetof(struct image, load);
	m->header.e_phnum = 2;
	m->load = (Elf64_Phdr){.p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_memsz = 2 * PAGE};
	m->note = (Elf64_Phdr){.p_type = PT_NOTE,
	    .p_vaddr = offsetof(struct image, note_header),
	    .p_memsz = sizeof(Elf64_Nhdr) + 4 + sizeof(m->build_id)};
	m->note_header =
	    (Elf64_Nhdr){.n_namesz = 4, .n_descsz = sizeof(m->build_id), .n_type = NT_GNU_BUILD_ID};
	memcpy(m->owner, "GNU", 4);
	memset(m->build_id, (int)i + 1, sizeof(m->build_id));
	snprintf(names[i], sizeof(names[i]), "/lib/plugin%u.so", i);
	maps[i].l_addr = (uint64_t)(uintptr_t)m;
	maps[i].l_name = names[i];
}

/* _dl_find_object of a world with these images. */
static int find(void *pc, struct object *ret)
{
	uint64_t i = ((uint64_t)(uintptr_t)pc - (uint64_t)(uintptr_t)images) / (2 * PAGE);

	memset(ret, 0, sizeof(*ret));
	if (pc == &spots[spot]) {
		ret->map_start = pc;
		ret->map_end = (char *)pc + 1;
		ret->link_map = &wanderer;
		return 0;
	}
	if ((uint64_t)(uintptr_t)pc < (uint64_t)(uintptr_t)images || i >= IMAGES || gone[i])
		return -1;
	ret->map_start = image_at((unsigned)i);
	ret->map_end = (char *)ret->map_start + 2 * PAGE;
	ret->link_map = &maps[i];
	return 0;
}

static int start(void **state)
{
	size_t bytes = (size_t)64 << 20;
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	(void)state;
	images = mmap(
	    NULL, IMAGES * 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (unsigned i = 0; i < IMAGES; i++)
		make_image(i);
	return p == MAP_FAILED || !segment_init_plain(p, bytes, bytes) ||
	        !module_init((void *)(uintptr_t)find, "/bin/host")
	    ? -1
	    : 0;
}

static uint32_t number_of(unsigned i)
{
	const struct module *m = module_of(code_of(i));

	return m ? m->number : 0;
}

/* What the segment says of a module; a name may go over to the next extent. */
static bool has_path(uint32_t number, const char *path)
{
	const struct seg_module *row = segment_table_row(&module_table, number);
	size_t n = strlen(path);

	if (!row || !row->path || row->path_bytes != n)
		return false;
	for (size_t i = 0; i <= n; i++) {
		const char *c = segment_table_row(&module_strings, row->path + i);

		if (!c || *c != path[i])
			return false;
	}
	return true;
}

static uint64_t count(enum seg_count which)
{
	return segment.header->counts[which];
}

TEST(an_object_is_found_again_and_described)
{
	uint32_t n = number_of(0);
	const struct seg_module *row = segment_table_row(&module_table, n);

	assert_int_equal(number_of(0), n);
	assert_int_not_equal(number_of(1), n);
	assert_true(has_path(n, "/lib/plugin0.so"));
	assert_int_equal(row->build_id_bytes, 20);
	assert_memory_equal(row->build_id, image_at(0)->build_id, 20);
	assert_int_equal(row->gone_tick, 0);
	assert_null(module_of(16)); /* in no object at all */
}

TEST(an_object_that_comes_back_to_its_place_keeps_its_number)
{
	struct link_map elsewhere = maps[0], before = maps[0];
	uint32_t n = number_of(0), gen;
	const struct seg_module *row = segment_table_row(&module_table, n);
	uint64_t generations = count(SEG_GENERATIONS);

	module_distrust(); /* dlclose, dlopen: the link map lies elsewhere */
	gen = module_gen;
	maps[0].l_ld = (void *)&elsewhere;
	assert_int_equal(number_of(0), n); /* only the address counts */
	maps[0] = before;

	/* as find() tells it, a new link map for the same file */
	module_distrust();
	struct image *m = image_at(0);

	m->build_id[0]++; /* another file meanwhile */
	uint32_t other = number_of(0);

	assert_int_not_equal(other, n);
	assert_int_equal(count(SEG_GENERATIONS), generations + 1);
	assert_int_not_equal(module_gen, gen);
	assert_true(row->gone_tick != 0);
	module_distrust();
	m->build_id[0]--;
	assert_int_equal(number_of(0), n);
	assert_int_equal(row->gone_tick, 0);
	module_distrust();
	m->build_id[0]++;
	assert_int_equal(number_of(0), other);
	m->build_id[0]--;
	module_distrust();
}

TEST(another_name_or_no_build_id_is_another_object)
{
	uint32_t n = number_of(2), other;

	module_distrust();
	snprintf(names[2], sizeof(names[2]), "/lib/renamed.so");
	other = number_of(2);
	assert_int_not_equal(other, n);
	assert_true(has_path(other, "/lib/renamed.so"));
	assert_true(has_path(n, "/lib/plugin2.so"));

	image_at(2)->note.p_type = PT_NULL;
	module_distrust();
	n = number_of(2);
	assert_int_not_equal(n, other);
	snprintf(names[2], sizeof(names[2]), "/lib/plugin2.so");
	module_distrust();
	other = number_of(2);
	snprintf(names[2], sizeof(names[2]), "/lib/renamed.so");
	module_distrust();
	/* nobody can tell whether it is the same file */
	assert_int_not_equal(number_of(2), n);
}

/* A page of headers that say what is not so. */
TEST(headers_that_lie_are_not_followed)
{
	struct image good = *image_at(3), *m = image_at(3);

	m->note.p_vaddr = 2 * PAGE - 8; /* runs out of its segment */
	assert_int_equal(number_of(3) > 0, 1);
	module_distrust();
	*m = good;
	m->note_header.n_namesz = UINT32_MAX;
	assert_int_equal(number_of(3) > 0, 1);
	module_distrust();
	*m = good;
	m->note_header.n_descsz = 33; /* longer than we keep */
	assert_int_equal(number_of(3) > 0, 1);
	module_distrust();
	*m = good;
	m->header.e_phoff = PAGE - 1;
	assert_int_equal(number_of(3) > 0, 1);
	module_distrust();
	*m = good;
	m->header.e_phnum = UINT16_MAX;
	assert_int_equal(number_of(3) > 0, 1);
	module_distrust();
	*m = good;
}

TEST(a_child_has_the_rows_of_what_comes_back)
{
	size_t bytes = (size_t)64 << 20;
	uint32_t n = number_of(4), stays = number_of(5);
	void *p;

	image_at(4)->build_id[0]++;
	module_distrust();
	assert_int_not_equal(number_of(4), n); /* n is gone */
	p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
	    -1, 0);
	assert_true(p != MAP_FAILED);
	assert_true(segment_init_plain(p, bytes, bytes));
	assert_true(module_restart());
	assert_true(has_path(stays, "/lib/plugin5.so"));
	image_at(4)->build_id[0]--;
	module_distrust();
	assert_int_equal(number_of(4), n);
	assert_true(has_path(n, "/lib/plugin4.so"));
}

/* Each time at another place, so that nothing tells that it is gone there. */
TEST(an_object_that_wanders_leaves_nothing_to_look_through)
{
	uint64_t generations = count(SEG_GENERATIONS);
	uint32_t n = number_of(5);

	for (spot = 0; spot < WANDERS; spot++) {
		module_distrust();
		assert_non_null(module_of((uint64_t)(uintptr_t)&spots[spot]));
	}
	spot = 0;
	assert_true(count(SEG_GENERATIONS) - generations > WANDERS - 64);
	assert_int_equal(number_of(5), n);
}

static void *come_and_go(void *arg)
{
	unsigned i = (unsigned)(uintptr_t)arg;
	uintptr_t wrong = 0;

	for (unsigned k = 0; k < NAMES; k++) {
		snprintf(names[i], sizeof(names[i]), "/%u/%u/%.*s.so", i, k, (int)(k % 40),
		    "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn");
		module_distrust();
		const struct module *m = module_of(code_of(i));

		wrong += !m || strcmp(m->name, names[i]) != 0 || !has_path(m->number, names[i]);
	}
	return (void *)wrong;
}

TEST(names_of_many_threads_do_not_mix)
{
	pthread_t t[IMAGES];
	void *wrong;

	for (uintptr_t i = 0; i < IMAGES; i++)
		assert_int_equal(pthread_create(&t[i], NULL, come_and_go, (void *)i), 0);
	for (int i = 0; i < IMAGES; i++) {
		assert_int_equal(pthread_join(t[i], &wrong), 0);
		assert_int_equal((uintptr_t)wrong, 0);
	}
}

/* The last: afterwards there are no numbers left. */
TEST(when_numbers_run_out_it_is_counted_and_memory_stays)
{
	uint32_t known = number_of(1), last = 0;
	uint64_t lost = count(SEG_LOST_MODULES), used;
	uint32_t k = 0;

	for (; k < 2 * NUMBERS; k++) {
		memcpy(image_at(0)->build_id, &k, sizeof(k));
		module_distrust();
		uint32_t n = number_of(0);

		if (n == 0)
			break;
		last = n;
	}
	assert_int_equal(last, NUMBERS);
	assert_int_equal(count(SEG_LOST_MODULES), lost + 1);
	used = mem_total();
	assert_true(used < (UINT64_C(40) << 20));
	for (; k < 2 * NUMBERS; k++) {
		memcpy(image_at(0)->build_id, &k, sizeof(k));
		module_distrust();
		assert_int_equal(number_of(0), 0); /* none, and no other's */
		if (k % 64 == 0)
			assert_int_equal(number_of(1), known);
	}
	assert_true(count(SEG_LOST_MODULES) > lost + NUMBERS / 2);
	assert_int_equal(mem_total(), used);
}

TEST_GROUP(start, NULL);
