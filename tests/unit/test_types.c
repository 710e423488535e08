/* test_types.c - C++ types of blocks: vtables in memory that may be made up, control blocks, names of functions, an earlier census. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "json/census_json.h"
#include "report/element.h"
#include "verdict/control.h"
#include "verdict/vtable.h"

/* ---- vtables ---- */

enum { BASE = 0x10000, BYTES = 8192 };

/* A module of two pages; reads are counted. */
struct image {
	uint8_t bytes[BYTES];
	size_t missing; /* a page that is not there, + 1; 0: all are */
	unsigned reads;
};

static bool
read_image(void *context, uint64_t address, void *to, size_t bytes)
{
	struct image *m = context;

	m->reads++;
	assert_true(address >= BASE && address + bytes <= BASE + BYTES);
	if (m->missing && (address - BASE) / 4096 == m->missing - 1)
		return false;
	memcpy(to, m->bytes + (address - BASE), bytes);
	return true;
}

static bool
is_in_image(void *context, uint64_t address)
{
	(void)context;
	return address >= BASE && address < BASE + BYTES;
}

static void
put_word(struct image *m, uint64_t address, uint64_t word)
{
	memcpy(m->bytes + (address - BASE), &word, sizeof(word));
}

static void
put_text(struct image *m, uint64_t address, const char *text)
{
	memcpy(m->bytes + (address - BASE), text, strlen(text) + 1);
}

enum {
	VTABLE = BASE + 0x110,
	INFO = BASE + 0x200,
	NAME = BASE + 0x1100,
	INFO_VTABLE = BASE + 0x310,
	INFO_INFO = BASE + 0x400,
	INFO_NAME = BASE + 0x1200,
};

/* An object's class "app::Foo", and the class of its typeinfo. */
static struct image
whole(void)
{
	struct image m = {.reads = 0};

	put_word(&m, VTABLE - 8, INFO);
	put_word(&m, INFO, INFO_VTABLE);
	put_word(&m, INFO + 8, NAME);
	put_text(&m, NAME, "N3app3FooE");
	put_word(&m, INFO_VTABLE - 8, INFO_INFO);
	put_word(&m, INFO_INFO, INFO_VTABLE);
	put_word(&m, INFO_INFO + 8, INFO_NAME);
	put_text(&m, INFO_NAME, "N10__cxxabiv120__si_class_type_infoE");
	return m;
}

static size_t
name_at(struct image *m, uint64_t address, char name[VTABLE_NAME_BYTES])
{
	const struct vtable_memory memory = {
	    .read = read_image, .is_in_module = is_in_image, .context = m};

	return vtable_name(&memory, address, name);
}

static void
a_vtable_leads_to_the_name_of_its_class(void **state)
{
	char name[VTABLE_NAME_BYTES];
	struct image m = whole();

	(void)state;
	assert_int_equal(name_at(&m, VTABLE, name), 10);
	assert_string_equal(name, "N3app3FooE");
	put_text(&m, NAME, "*N3app3FooE"); /* of one module alone */
	assert_int_equal(name_at(&m, VTABLE, name), 10);
	assert_string_equal(name, "N3app3FooE");
}

static void
anything_else_has_no_name(void **state)
{
	static const struct {
		uint64_t address, word;
	} wrong[] = {
	    {VTABLE - 16, 8},            /* not the beginning of an object */
	    {VTABLE - 16, (uint64_t)-8}, /* nor this */
	    {VTABLE - 8, INFO + 4},
	    {VTABLE - 8, 0},
	    {VTABLE - 8, UINT64_MAX},
	    {VTABLE - 8, BASE + BYTES - 8}, /* half of it is not there */
	    {INFO, 0},
	    {INFO, VTABLE}, /* a class, but none of a typeinfo */
	    {INFO, INFO_VTABLE + 8},
	    {INFO + 8, 0},
	    {INFO + 8, BASE + BYTES},
	    {INFO + 8, INFO}, /* no text */
	    {NAME, 0},
	    {NAME, UINT64_C(0x0a1b5b1b5b1b)},
	    {INFO_VTABLE - 8, INFO},
	    {INFO_NAME, UINT64_C(0x4141414141414141)},
	};
	char name[VTABLE_NAME_BYTES];
	struct image m;

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		m = whole();
		put_word(&m, wrong[i].address, wrong[i].word);
		assert_int_equal(name_at(&m, VTABLE, name), 0);
	}
	m = whole();
	for (uint64_t a = 0; a <= BASE + BYTES + 64; a++)
		if (a != VTABLE && a != INFO_VTABLE)
			assert_int_equal(name_at(&m, a, name), 0);
	assert_int_equal(name_at(&m, UINT64_MAX, name), 0);
	for (m.missing = 1; m.missing <= 2; m.missing++)
		assert_int_equal(name_at(&m, VTABLE, name), 0);
}

static void
a_name_without_end_is_not_read_for_long(void **state)
{
	char name[VTABLE_NAME_BYTES];
	struct image m = whole();

	(void)state;
	memset(m.bytes + (NAME - BASE), 'A', BYTES - (NAME - BASE));
	put_text(&m, INFO_NAME + 2048, "N10__cxxabiv120__si_class_type_infoE");
	put_word(&m, INFO_INFO + 8, INFO_NAME + 2048);
	put_word(&m, INFO + 8, NAME);
	m.reads = 0;
	assert_int_equal(name_at(&m, VTABLE, name), 0);
	assert_in_range(m.reads, 1, 2 * VTABLE_NAME_BYTES / 64 + 8);
}

/* ---- control blocks ---- */

static void
is_control(const char *name, enum control_kind kind, const char *type)
{
	struct control c = control_of(name);

	assert_int_equal(c.kind, kind);
	assert_int_equal(c.len, type ? strlen(type) : 0);
	if (type)
		assert_memory_equal(c.type, type, c.len);
}

static void
control_blocks_name_their_object(void **state)
{
	(void)state;
	is_control("std::_Sp_counted_ptr_inplace<a::Foo<int, char>, "
	           "std::allocator<void>, (__gnu_cxx::_Lock_policy)2>",
	    CONTROL_INSIDE, "a::Foo<int, char>");
	is_control("std::_Sp_counted_ptr<Foo*, (__gnu_cxx::_Lock_policy)2>",
	    CONTROL_POINTER, "Foo");
	is_control("std::_Sp_counted_deleter<Foo**, D, A, 2>", CONTROL_POINTER,
	    "Foo*");
	is_control(
	    "std::__1::__shared_ptr_emplace<Foo, A>", CONTROL_INSIDE, "Foo");
	is_control(
	    "boost::detail::sp_counted_impl_p<Foo>", CONTROL_POINTER, "Foo");
	is_control(
	    "std::_Sp_counted_deleter<void*, D, A, 2>", CONTROL_NONE, NULL);
	is_control("std::_Sp_counted_ptr<Foo, 2>", CONTROL_NONE, NULL);
	is_control("std::_Sp_counted_ptr<", CONTROL_NONE, NULL);
	is_control("std::_Sp_counted_ptr<,", CONTROL_NONE, NULL);
	is_control("std::_Sp_counted_ptr<<<<<((", CONTROL_NONE, NULL);
	is_control("app::Foo", CONTROL_NONE, NULL);
}

/* ---- functions ---- */

/* Up to three functions; type NULL: they do not say. */
static void
is_element(const char *a, const char *b, bool has_lines, const char *type,
    const char *container)
{
	const char *functions[] = {a, b};
	const bool lines[] = {has_lines, has_lines};
	struct element e = {NULL, 0, NULL, false};
	bool found = element_find(functions, lines, b ? 2 : 1, &e);

	assert_int_equal(found, type != NULL);
	if (!type)
		return;
	assert_int_equal(e.len, strlen(type));
	assert_memory_equal(e.type, type, e.len);
	if (container)
		assert_string_equal(e.container, container);
	else
		assert_null(e.container);
}

static void
functions_that_allocate_name_the_element(void **state)
{
	(void)state;
	is_element("std::__new_allocator<app::Foo>::allocate(unsigned long, "
	           "void const*)",
	    "app::run()", false, "app::Foo", NULL);
	is_element("__gnu_cxx::new_allocator<std::_List_node<app::Foo<int> > "
	           ">::allocate(unsigned long)",
	    NULL, false, "app::Foo<int>", "std::list");
	is_element("std::allocator_traits<std::allocator<std::_Rb_tree_node<"
	           "std::pair<int const, Foo> > > >::allocate(int)",
	    NULL, false, "std::pair<int const, Foo>", "std::map or std::set");
	is_element("std::__new_allocator<std::__detail::_Hash_node<Foo, true> "
	           ">::allocate(int)",
	    NULL, false, "Foo", "std::unordered_map or _set");
	is_element("std::__new_allocator<Foo>::allocate(int)",
	    "std::_Vector_base<Foo, std::allocator<Foo> >::_M_allocate(int)",
	    false, "Foo", "std::vector");
	is_element("std::__new_allocator<std::_Sp_counted_ptr_inplace<Foo, "
	           "std::allocator<void>, (__gnu_cxx::_Lock_policy)2> "
	           ">::allocate(int)",
	    NULL, false, "Foo", "std::shared_ptr");
	is_element("std::__1::__libcpp_allocate[abi:v15006](int)",
	    "std::__1::allocator<Foo>::allocate[abi:v15006](int)", false, "Foo",
	    NULL);
	is_element("std::__cxx11::basic_string<char, std::char_traits<char>, "
	           "std::allocator<char> >::_M_create(int&, int)",
	    NULL, false, "char", "std::string");
	is_element("void std::vector<int, std::allocator<int> "
	           ">::_M_realloc_insert<int>(It, int&&)",
	    NULL, false, "int", "std::vector");
	is_element("void std::vector<a::Foo*, std::allocator<a::Foo*> "
	           ">::_M_realloc_insert<a::Foo*>(It, a::Foo*&&)",
	    NULL, false, "a::Foo*", "std::vector");
	is_element("std::_MakeUniq<Foo>::__single_object std::make_unique<Foo, "
	           "int>(int&&)",
	    NULL, true, "Foo", NULL);
}

static void
functions_that_may_allocate_for_others_do_not(void **state)
{
	(void)state;
	/* copies elements: what they have may be allocated there, too */
	is_element("void std::vector<Foo, std::allocator<Foo> "
	           ">::_M_realloc_insert<Foo>(It, Foo&&)",
	    NULL, false, NULL, NULL);
	is_element("std::make_unique<Foo>()", NULL, false, NULL, NULL);
	is_element("std::vector<bool, std::allocator<bool> >::reserve(int)",
	    NULL, false, NULL, NULL);
	/* not the caller of the allocation function */
	is_element("app::run()",
	    "std::__new_allocator<Foo>::allocate(unsigned long)", true, NULL,
	    NULL);
	is_element(
	    "app::allocator<Foo>::allocate(int)", NULL, true, NULL, NULL);
	is_element("std::__new_allocator<void>::allocate(int)", NULL, true,
	    NULL, NULL);
	is_element("malloc", NULL, true, NULL, NULL);
	is_element("", NULL, true, NULL, NULL);
	is_element(NULL, NULL, true, NULL, NULL);
	is_element("std::vector<", NULL, true, NULL, NULL);
	is_element("std::vector<<<<>>", NULL, true, NULL, NULL);
	is_element("std::__new_allocator<>::allocate", NULL, true, NULL, NULL);
	is_element(">>>>((((", NULL, true, NULL, NULL);
	is_element("bool std::operator< <char>(int)", NULL, true, NULL, NULL);
}

/* ---- an earlier census ---- */

static void
reads(const char *text, int answer)
{
	struct by_type t = {.count = 0};

	assert_int_equal(census_json_read(text, strlen(text), &t), answer);
	by_type_release(&t);
}

static void
an_earlier_census_is_read_and_compared(void **state)
{
	static const char text[] =
	    "{\"schema\":1,\"processes\":[{\"pid\":1,\"argv\":[\"a\\\"]\",[{}]],"
	    "\"census\":{\"taken_ms\":5,\"blocks\":7,\"bytes\":80,\"untyped\":"
	    "{\"blocks\":2,\"bytes\":20},\"x\":-1.5e3}}],\"types\":[\n"
	    "{\"type\":\"a\\u003cb\\u003e\",\"basis\":\"vtable\",\"container\":"
	    "null,\"blocks\":3,\"bytes\":30},"
	    "{\"type\":\"Foo\",\"basis\":\"frames\",\"container\":"
	    "\"std::vector\",\"blocks\":2,\"bytes\":30}]}\n";
	struct by_type t = {.count = 0};

	(void)state;
	assert_int_equal(census_json_read(text, strlen(text), &t), 0);
	assert_true(t.is_compared);
	assert_int_equal(t.count, 2);
	assert_string_equal(t.rows[0].name, "a<b>");
	assert_int_equal(t.rows[0].old_blocks, 3);
	assert_int_equal(t.rows[0].basis, BY_TYPE_VTABLE);
	assert_string_equal(t.rows[1].container, "std::vector");
	assert_int_equal(t.old_none.bytes, 20);
	assert_int_equal(t.old_all.blocks, 7);
	assert_int_equal(t.old_taken_ns, 5000000);
	by_type_release(&t);
}

static void
what_is_no_census_is_refused(void **state)
{
	char deep[1000];

	(void)state;
	memset(deep, '[', sizeof(deep));
	memcpy(deep, "{\"a\":", 5);
	deep[sizeof(deep) - 1] = '\0';
	reads("", -EBADMSG);
	reads("[]", -EBADMSG);
	reads("{}", -EBADMSG);
	reads("{\"types\":[]}", 0);
	reads("{\"types\":{}}", -EBADMSG);
	reads("{\"types\":[{\"type\":\"a\"}]}", -EBADMSG);
	reads("{\"types\":[{\"type\":\"a\",\"basis\":\"guess\"}]}", -EBADMSG);
	reads("{\"types\":[{\"type\":\"a\",\"basis\":\"vtable\",\"blocks\":"
	      "99999999999999999999}]}",
	    -EBADMSG);
	reads("{\"types\":[{\"type\":\"a\\ud800\",\"basis\":\"vtable\"}]}", 0);
	reads("{\"types\":[{\"type\":\"a\\u12", -EBADMSG);
	reads("{\"types\":[", -EBADMSG);
	reads(deep, -EBADMSG);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_vtable_leads_to_the_name_of_its_class),
	    cmocka_unit_test(anything_else_has_no_name),
	    cmocka_unit_test(a_name_without_end_is_not_read_for_long),
	    cmocka_unit_test(control_blocks_name_their_object),
	    cmocka_unit_test(functions_that_allocate_name_the_element),
	    cmocka_unit_test(functions_that_may_allocate_for_others_do_not),
	    cmocka_unit_test(an_earlier_census_is_read_and_compared),
	    cmocka_unit_test(what_is_no_census_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
