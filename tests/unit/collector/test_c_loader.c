/* test_c_loader.c - promises of loader.h and within.h: who defines and who uses a function, which calls are the allocator's own. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <dlfcn.h>
#include <link.h>

#include "test.h"
#include "collector/segment/loader.h"
#include "collector/unwind/object.h"
#include "collector/unwind/module.h"
#include "collector/event/next.h"

/* An object as the loader leaves it: one relocation for each symbol. */
static const char strings[] = "\0mallocx\0defined\0mallocx_too";
enum { MALLOCX = 1, DEFINED = 9, TOO = 17 };
static const Elf64_Sym symbols[] = {
    {0},
    {.st_name = MALLOCX, .st_shndx = SHN_UNDEF},
    {.st_name = DEFINED, .st_shndx = 1},
    {.st_name = TOO, .st_shndx = SHN_UNDEF},
};

static struct link_map object_with(Elf64_Dyn *dynamic, const Elf64_Rela *data, size_t data_count,
    size_t relative_count, const Elf64_Rela *calls, size_t calls_count)
{
	const Elf64_Dyn all[] = {
	    {DT_SYMTAB, {(uintptr_t)symbols}},
	    {DT_STRTAB, {(uintptr_t)strings}},
	    {DT_RELA, {(uintptr_t)data}},
	    {DT_RELASZ, {data_count * sizeof(*data)}},
	    {DT_RELACOUNT, {relative_count}},
	    {DT_JMPREL, {(uintptr_t)calls}},
	    {DT_PLTRELSZ, {calls_count * sizeof(*calls)}},
	    {DT_NULL, {0}},
	};

	memcpy(dynamic, all, sizeof(all));
	return (struct link_map){.l_ld = dynamic};
}

#define USES(symbol) \
	{ \
		.r_info = ELF64_R_INFO(symbol, R_X86_64_GLOB_DAT) \
	}

TEST(a_function_that_is_called_is_imported)
{
	static const Elf64_Rela call = USES(1);
	Elf64_Dyn dynamic[16];
	struct link_map l = object_with(dynamic, NULL, 0, 0, &call, 1);

	assert_true(loader_imports(&l, "mallocx"));
	assert_false(loader_imports(&l, "malloc"));
	assert_false(loader_imports(&l, "mallocx_too"));
}

TEST(one_whose_address_is_taken_as_well)
{
	static const Elf64_Rela data[] = {{.r_info = R_X86_64_RELATIVE}, USES(2), USES(3)};
	Elf64_Dyn dynamic[16];
	struct link_map l = object_with(dynamic, data, 3, 1, NULL, 0);

	assert_true(loader_imports(&l, "mallocx_too"));
	assert_false(loader_imports(&l, "mallocx"));
}

TEST(a_symbol_of_its_own_is_not_imported)
{
	static const Elf64_Rela call = USES(2);
	Elf64_Dyn dynamic[16];
	struct link_map l = object_with(dynamic, NULL, 0, 0, &call, 1);

	assert_false(loader_imports(&l, "defined"));
}

/* More relocations without a symbol than there are: nothing is read. */
TEST(an_object_without_tables_imports_nothing)
{
	static const Elf64_Rela data = USES(1);
	Elf64_Dyn dynamic[16], none = {DT_NULL, {0}};
	struct link_map l = object_with(dynamic, &data, 1, 99, NULL, 0);
	struct link_map empty = {.l_ld = &none};

	assert_false(loader_imports(&l, "mallocx"));
	assert_false(loader_imports(&empty, "mallocx"));
	assert_false(loader_defines(&empty, "mallocx"));
}

TEST(this_program_uses_what_it_calls)
{
	struct link_map *l = _r_debug.r_map;

	assert_true(loader_imports(l, "_cmocka_run_group_tests"));
	assert_false(loader_imports(l, "mallocx"));
}

/* Before Linux 3.16 it was linked to 0xffffffffff700000. */
TEST(the_vdso_may_be_linked_to_an_address_of_the_kernel)
{
	static const Elf64_Rela call = USES(1);
	Elf64_Dyn dynamic[16], *d;
	struct link_map l = object_with(dynamic, NULL, 0, 0, &call, 1);

	l.l_addr = (uintptr_t)symbols + 0x900000;
	for (d = dynamic; d->d_tag != DT_NULL; d++)
		if (d->d_tag == DT_SYMTAB || d->d_tag == DT_STRTAB || d->d_tag == DT_JMPREL)
			d->d_un.d_ptr -= l.l_addr;
	assert_true((int64_t)dynamic[0].d_un.d_ptr < 0);
	assert_true(loader_imports(&l, "mallocx"));
	assert_false(loader_imports(&l, "mallocx_too"));
}

TEST(functions_of_libc_are_found)
{
	void *version = loader_libc("gnu_get_libc_version");

	assert_ptr_equal(version, dlsym(NULL, "gnu_get_libc_version"));
	assert_non_null(loader_libc("clock_gettime"));
	assert_non_null(loader_libc("dlsym"));
	assert_null(loader_libc("strlen")); /* an IFUNC */
	assert_null(loader_libc("mallocx"));
}

/* ---- next.h ------------------------------------------------------------- */

static char allocator[4096], ours[4096], companion[256];
static struct link_map map;

static int find_one(void *pc, struct object *ret)
{
	char *p = pc;

	memset(ret, 0, sizeof(*ret));
	ret->link_map = &map;
	if (p >= allocator && p < allocator + sizeof(allocator)) {
		ret->map_start = allocator;
		ret->map_end = allocator + sizeof(allocator);
		return 0;
	}
	if (pc == &within_count) {
		ret->map_start = ours;
		ret->map_end = ours + sizeof(ours);
		return 0;
	}
	return -1;
}

static bool within(const char *p)
{
	return within_is((uint64_t)(uintptr_t)p);
}

TEST(calls_of_the_allocator_and_of_ours_are_known)
{
	assert_false(within(allocator));
	within_add_module(allocator + 5); /* before the start: not known */
	assert_int_equal(within_count, 0);
	module_init((void *)(uintptr_t)find_one, "/bin/test");

	within_add_companion(companion, sizeof(companion));
	assert_true(within(companion) && within(companion + 255));
	assert_true(within(ours));
	assert_false(within(allocator));
	within_add_module(allocator + 5);
	within_add_module(allocator + 500);
	assert_int_equal(within_count, 3);
	assert_true(within(allocator) && within(allocator + 4095));
	assert_false(within((const char *)state));
	/* full: nothing is written behind the table */
	for (int i = 0; i < 2 * WITHIN_MAX; i++)
		within_add_companion(companion, 1);
	assert_int_equal(within_count, WITHIN_MAX);
}
