/* test_types.c - C++ types of blocks: vtables in memory that may be made up, control blocks, names of functions, an earlier census. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"
#include "print/json/leaks_json.h"
#include "print/text/verdict_text.h"
#include "view/stacks/fingerprint.h"
#include "analysis/types/survey_parts.h"

/* ---- vtables ---- */

enum { BASE = 0x10000, BYTES = 8192 };

/* A module of two pages; reads are counted. */
struct image {
	uint8_t bytes[BYTES];
	size_t missing; /* a page that is not there, + 1; 0: all are */
	unsigned reads;
};

static bool read_image(void *context, uint64_t address, void *to, size_t bytes)
{
	struct image *m = context;

	m->reads++;
	assert_true(address >= BASE && address + bytes <= BASE + BYTES);
	if (m->missing && (address - BASE) / 4096 == m->missing - 1)
		return false;
	memcpy(to, m->bytes + (address - BASE), bytes);
	return true;
}

static bool is_in_image(void *context, uint64_t address)
{
	(void)context;
	return address >= BASE && address < BASE + BYTES;
}

static void put_word(struct image *m, uint64_t address, uint64_t word)
{
	memcpy(m->bytes + (address - BASE), &word, sizeof(word));
}

static void put_text(struct image *m, uint64_t address, const char *text)
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
static struct image whole(void)
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

static size_t name_at(struct image *m, uint64_t address, char name[VTABLE_NAME_BYTES])
{
	const struct vtable_memory memory = {
	    .read = read_image, .is_in_module = is_in_image, .context = m};

	return vtable_name(&memory, address, name);
}

TEST(a_vtable_leads_to_the_name_of_its_class)
{
	char name[VTABLE_NAME_BYTES];
	struct image m = whole();

	assert_int_equal(name_at(&m, VTABLE, name), 10);
	assert_string_equal(name, "N3app3FooE");
	put_text(&m, NAME, "*N3app3FooE"); /* of one module alone */
	assert_int_equal(name_at(&m, VTABLE, name), 10);
	assert_string_equal(name, "N3app3FooE");
}

TEST(anything_else_has_no_name)
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

TEST(a_name_without_end_is_not_read_for_long)
{
	char name[VTABLE_NAME_BYTES];
	struct image m = whole();

	memset(m.bytes + (NAME - BASE), 'A', BYTES - (NAME - BASE));
	put_text(&m, INFO_NAME + 2048, "N10__cxxabiv120__si_class_type_infoE");
	put_word(&m, INFO_INFO + 8, INFO_NAME + 2048);
	put_word(&m, INFO + 8, NAME);
	m.reads = 0;
	assert_int_equal(name_at(&m, VTABLE, name), 0);
	assert_in_range(m.reads, 1, 2 * VTABLE_NAME_BYTES / 64 + 8);
}

/* ---- control blocks ---- */

static void is_control(const char *name, enum control_kind kind, const char *type)
{
	struct control c = control_of(name);

	assert_int_equal(c.kind, kind);
	assert_int_equal(c.len, type ? strlen(type) : 0);
	if (type)
		assert_memory_equal(c.type, type, c.len);
}

TEST(control_blocks_name_their_object)
{
	is_control("std::_Sp_counted_ptr_inplace<a::Foo<int, char>, "
	           "std::allocator<void>, (__gnu_cxx::_Lock_policy)2>",
	    CONTROL_INSIDE, "a::Foo<int, char>");
	is_control(
	    "std::_Sp_counted_ptr<Foo*, (__gnu_cxx::_Lock_policy)2>", CONTROL_POINTER, "Foo");
	is_control("std::_Sp_counted_deleter<Foo**, D, A, 2>", CONTROL_POINTER, "Foo*");
	is_control("std::__1::__shared_ptr_emplace<Foo, A>", CONTROL_INSIDE, "Foo");
	is_control("boost::detail::sp_counted_impl_p<Foo>", CONTROL_POINTER, "Foo");
	is_control("std::_Sp_counted_deleter<void*, D, A, 2>", CONTROL_NONE, NULL);
	is_control("std::_Sp_counted_ptr<Foo, 2>", CONTROL_NONE, NULL);
	is_control("std::_Sp_counted_ptr<", CONTROL_NONE, NULL);
	is_control("std::_Sp_counted_ptr<,", CONTROL_NONE, NULL);
	is_control("std::_Sp_counted_ptr<<<<<((", CONTROL_NONE, NULL);
	is_control("app::Foo", CONTROL_NONE, NULL);
}

/* ---- functions ---- */

enum { FUNCTIONS = 4 };

/* type NULL: the functions do not say */
static void is_element_of(const char *const functions[FUNCTIONS], size_t count, bool has_lines,
    const char *type, const char *container)
{
	const bool lines[FUNCTIONS] = {has_lines, has_lines, has_lines, has_lines};
	struct element e = {NULL, 0, NULL, false};
	bool found = element_find(functions, lines, count, &e);

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

static void is_element(
    const char *a, const char *b, bool has_lines, const char *type, const char *container)
{
	const char *const functions[FUNCTIONS] = {a, b};

	is_element_of(functions, b ? 2 : 1, has_lines, type, container);
}

/* May functions further out change the answer? */
static bool is_open(const char *a, const char *b)
{
	const char *functions[] = {a, b};
	const bool lines[] = {true, true};
	size_t count = b ? 2 : 1;
	struct element e = {NULL, 0, NULL, false};
	bool found = element_find(functions, lines, count, &e);

	return element_is_open(functions, count, found ? &e : NULL);
}

TEST(it_is_known_whether_more_frames_are_needed)
{
	const char *allocate = "std::__new_allocator<app::Foo>::allocate("
	                       "unsigned long, void const*)";

	assert_false(is_open("app::run()", NULL));
	assert_false(is_open(allocate, "app::run()"));
	assert_true(is_open(allocate, NULL)); /* of which container? */
	/* is it really of that one? */
	assert_true(
	    is_open(allocate, "std::vector<app::Foo, std::allocator<app::Foo> >::reserve(int)"));
	assert_false(
	    is_open("std::__cxx11::basic_string<char, int>::f()", "std::vector<int>::f()"));
	assert_true(is_open("app::pool<app::Foo>::allocate(int)", NULL));
	assert_false(is_open("app::pool<app::Foo>::allocate(int)", "main"));
	assert_true(is_open("app::pool<app::Foo>::allocate(int)",
	    "std::allocator_traits<app::pool<app::Foo> >::allocate(int)"));
}

/* An allocator that is not of the standard library is one if its traits call it. */
TEST(allocators_of_others_name_the_element)
{
	const char *allocate = "app::pool<app::Foo, 8>::allocate(unsigned long)";

	is_element(allocate,
	    "std::allocator_traits<app::pool<app::Foo, 8> "
	    ">::allocate(app::pool<app::Foo, 8>&, unsigned long)",
	    false, "app::Foo", NULL);
	is_element_of(
	    (const char *const[FUNCTIONS]){"pool<std::_List_node<Foo> >::allocate(unsigned long)",
	        "std::__1::allocator_traits<pool<std::_List_node<Foo> > "
	        ">::allocate[abi:v15006](int)",
	        "std::__cxx11::_List_base<Foo, pool<Foo> >::_M_get_node()"},
	    3, false, "Foo", "std::list");
	is_element(allocate, NULL, true, NULL, NULL);
	is_element(allocate, "app::run()", true, NULL, NULL);
	is_element(allocate, "std::allocator_traits<app::pool<Bar, 8> >::allocate(int)", true,
	    "Bar", NULL);
	is_element(allocate, "std::allocator_traits<app::other<app::Foo> >::allocate(int)", true,
	    NULL, NULL);
	is_element(allocate, "app::allocator_traits<app::pool<app::Foo, 8> >::allocate(int)", true,
	    NULL, NULL);
	is_element(allocate, "std::allocator_traits<app::pool<app::Foo, 8> >::construct(int)", true,
	    NULL, NULL);
	is_element("app::pool<app::Foo, 8>::refill(int)",
	    "std::allocator_traits<app::pool<app::Foo, 8> >::allocate(int)", true, NULL, NULL);
	is_element("pool<void>::allocate(int)", "std::allocator_traits<pool<void> >::allocate(int)",
	    true, NULL, NULL);
}

TEST(functions_that_allocate_name_the_element)
{
	is_element("std::__new_allocator<app::Foo>::allocate(unsigned long, "
	           "void const*)",
	    "void app::buffer<app::Foo>::grow(int)", false, "app::Foo", NULL);
	is_element("__gnu_cxx::new_allocator<std::_List_node<app::Foo<int> > "
	           ">::allocate(unsigned long)",
	    "std::__cxx11::list<app::Foo<int>, std::allocator<app::Foo<int> > "
	    ">::push_back(app::Foo<int> const&)",
	    false, "app::Foo<int>", "std::list");
	is_element("std::allocator_traits<std::allocator<std::_Rb_tree_node<"
	           "std::pair<int const, Foo> > > >::allocate(int)",
	    "std::map<int, Foo, std::less<int>, std::allocator<std::pair<int "
	    "const, Foo> > >::operator[](int const&)",
	    false, "std::pair<int const, Foo>", "std::map or std::set");
	is_element_of(
	    (const char *const[FUNCTIONS]){
	        "std::__new_allocator<std::__detail::_Hash_node<Foo, true> "
	        ">::allocate(int)",
	        "std::allocator_traits<std::allocator<std::__detail::_Hash_node<"
	        "Foo, true> > >::allocate(int)",
	        "std::__detail::_Hashtable_alloc<std::allocator<std::__detail::"
	        "_Hash_node<Foo, true> > >::_M_allocate_node<Foo>(Foo&&)"},
	    3, false, "Foo", "std::unordered_map or _set");
	is_element("std::__new_allocator<Foo>::allocate(int)",
	    "std::_Vector_base<Foo, std::allocator<Foo> >::_M_allocate(int)", false, "Foo",
	    "std::vector");
	is_element("std::__new_allocator<std::_Sp_counted_ptr_inplace<Foo, "
	           "std::allocator<void>, (__gnu_cxx::_Lock_policy)2> "
	           ">::allocate(int)",
	    "std::shared_ptr<Foo> std::make_shared<Foo>()", false, "Foo", "std::shared_ptr");
	is_element_of((const char *const[FUNCTIONS]){"std::__1::__libcpp_allocate[abi:v15006](int)",
	                  "std::__1::allocator<Foo>::allocate[abi:v15006](int)",
	                  "std::__1::allocator_traits<std::__1::allocator<Foo> "
	                  ">::allocate[abi:v15006](int)"},
	    3, false, "Foo", NULL);
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

/* Functions with the same code become one, which has one of their names. */
TEST(folded_functions_name_no_wrong_element)
{
	const char *leaf = "std::__new_allocator<app::Foo>::allocate(int)";
	const char *base = "std::_Vector_base<Bar, std::allocator<Bar> >::_M_allocate(int)";
	const char *pointers = "void std::vector<Foo*, std::allocator<Foo*> "
	                       ">::_M_realloc_insert<Foo*>(It, Foo*&&)";

	is_element(leaf, NULL, true, NULL, NULL);
	is_element(leaf, "app::run()", true, NULL, NULL);
	is_element(leaf, "void app::run<app::Foo*>()", true, NULL, NULL);
	is_element(leaf, base, true, NULL, NULL);
	/* who calls it is right */
	is_element_of((const char *const[FUNCTIONS]){leaf,
	                  "std::allocator_traits<std::allocator<Bar> >::allocate(int)", base,
	                  "std::vector<Bar, std::allocator<Bar> >::reserve(int)"},
	    4, true, "Bar", "std::vector");
	is_element_of((const char *const[FUNCTIONS]){leaf,
	                  "std::allocator_traits<std::allocator<app::Foo> >::allocate(int)", base},
	    3, true, NULL, NULL);
	is_element_of(
	    (const char *const[FUNCTIONS]){
	        "std::allocator_traits<std::allocator<Bar> >::allocate(int)", base,
	        "std::vector<Baz, std::allocator<Baz> >::reserve(int)"},
	    3, true, NULL, NULL);
	is_element(pointers, "std::vector<Bar*, std::allocator<Bar*> >::push_back(Bar*&&)", true,
	    NULL, NULL);
	is_element(pointers, "app::run()", true, "Foo*", "std::vector");
	/* a list and a set have nodes of one size */
	is_element_of((const char *const[FUNCTIONS]){leaf,
	                  "std::allocator_traits<std::allocator<std::_List_node<Foo> > "
	                  ">::allocate(int)",
	                  "std::_Hashtable<Foo, Foo, std::allocator<Foo> >::insert(int)"},
	    3, true, NULL, NULL);
	is_element_of((const char *const[FUNCTIONS]){leaf,
	                  "std::allocator_traits<std::allocator<std::_List_node<Foo> > "
	                  ">::allocate(int)",
	                  "std::shared_ptr<Foo> std::make_shared<Foo>()"},
	    3, true, NULL, NULL);
	/* the array of a hash, and a control block, which are neither of these */
	is_element_of((const char *const[FUNCTIONS]){leaf,
	                  "std::allocator_traits<std::allocator<Foo*> >::allocate(int)",
	                  "std::__detail::_Hashtable_alloc<std::allocator<std::__detail::"
	                  "_Hash_node<Foo, true> > >::_M_allocate_buckets(int)"},
	    3, true, NULL, NULL);
	is_element_of((const char *const[FUNCTIONS]){leaf,
	                  "std::allocator_traits<std::allocator<Foo> >::allocate(int)",
	                  "std::__allocated_ptr<std::allocator<Bar> > "
	                  "std::__allocate_guarded<std::allocator<Bar> "
	                  ">(std::allocator<Bar>&)"},
	    3, true, NULL, NULL);
	/* members of containers that allocate something else on purpose */
	is_element_of((const char *const[FUNCTIONS]){leaf,
	                  "std::allocator_traits<std::allocator<Foo*> >::allocate(int)",
	                  "std::_Deque_base<Foo, std::allocator<Foo> "
	                  ">::_M_allocate_map(int)"},
	    3, true, "Foo*", "std::deque");
	is_element_of((const char *const[FUNCTIONS]){leaf,
	                  "std::allocator_traits<std::allocator<unsigned long> "
	                  ">::allocate(int)",
	                  "std::_Bvector_base<std::allocator<bool> >::_M_allocate(int)",
	                  "std::vector<bool, std::allocator<bool> >::reserve(int)"},
	    4, true, "unsigned long", "std::vector");
	is_element_of((const char *const[FUNCTIONS]){leaf,
	                  "std::allocator_traits<std::allocator<std::__detail::"
	                  "_Hash_node_base*> >::allocate(int)",
	                  "std::__detail::_Hashtable_alloc<std::allocator<Foo> "
	                  ">::_M_allocate_buckets(int)"},
	    3, true, "std::__detail::_Hash_node_base*", "std::unordered_map or _set");
}

TEST(functions_that_may_allocate_for_others_do_not)
{
	/* copies elements: what they have may be allocated there, too */
	is_element("void std::vector<Foo, std::allocator<Foo> "
	           ">::_M_realloc_insert<Foo>(It, Foo&&)",
	    NULL, false, NULL, NULL);
	is_element("std::make_unique<Foo>()", NULL, false, NULL, NULL);
	is_element(
	    "std::vector<bool, std::allocator<bool> >::reserve(int)", NULL, false, NULL, NULL);
	/* not the caller of the allocation function */
	is_element(
	    "app::run()", "std::__new_allocator<Foo>::allocate(unsigned long)", true, NULL, NULL);
	is_element("app::allocator<Foo>::allocate(int)", NULL, true, NULL, NULL);
	is_element("std::__new_allocator<void>::allocate(int)", NULL, true, NULL, NULL);
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

static void reads(const char *text, int answer)
{
	struct by_type t = {.count = 0};

	assert_int_equal(census_json_read(text, strlen(text), &t), answer);
	by_type_release(&t);
}

TEST(an_earlier_census_is_read_and_compared)
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

TEST(what_is_no_census_is_refused)
{
	char deep[1000];

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

/* ---- texts ---- */

static void set_process(struct process *p)
{
	memset(p, 0, sizeof(*p));
	p->header.pid = 12;
	memcpy(p->header.exe, "/usr/bin/app", 13);
}

TEST(types_are_written_so)
{
	static const char expected[] =
	    "Live blocks of app (pid 12) by C++ type: 1,234 blocks, 1.0 MiB.\n"
	    "\n"
	    "      blocks      bytes  known by    type\n"
	    "       1,000   62.5 KiB  vtable      app::a<(\\x1b)>\n"
	    "           1  512 bytes  frames      int in std::vector\n"
	    "\n"
	    "1 type more not shown (--top 0 prints all).\n"
	    "No type is known of 230 blocks, 512.0 KiB (50.0 % of the bytes): no "
	    "vtable, and\nno container of C++ in their stacks.\n";
	char a[] = "app::a<(\x1b)>", b[] = "int", c[] = "x";
	struct by_type_row rows[] = {
	    {.name = a, .blocks = 1000, .bytes = 64000},
	    {.name = b,
	        .container = "std::vector",
	        .basis = BY_TYPE_FRAMES,
	        .blocks = 1,
	        .bytes = 512},
	    {.name = c, .basis = BY_TYPE_SHARED, .blocks = 3, .bytes = 4},
	};
	struct by_type t = {.rows = rows,
	    .count = 3,
	    .all = {1234, 1 << 20},
	    .none = {230, 1 << 19},
	    .taken_ns = UINT64_C(10000000000)};
	const struct census census = {.blocks = 1234};
	struct layout page = {.width = 80};
	struct process p;
	char *text;
	size_t len;

	set_process(&p);
	page.out = open_memstream(&text, &len);
	by_type_text_write(&page, &p, &census, &t, 2);
	assert_int_equal(fclose(page.out), 0);
	assert_string_equal(text, expected);
	free(text);
	t.is_compared = true;
	t.old_taken_ns = UINT64_C(5000000000);
	rows[0].old_blocks = 1005;
	rows[0].old_bytes = 64000;
	rows[1].old_blocks = 1;
	rows[1].old_bytes = 612;
	rows[2].old_bytes = 400;
	t.count = 2;
	by_type_settle(&t);
	page.out = open_memstream(&text, &len);
	by_type_text_write(&page, &p, &census, &t, 2);
	assert_int_equal(fclose(page.out), 0);
	assert_non_null(strstr(text, "     +blocks     +bytes      blocks"));
	/* what grew comes first, and what shrank last */
	assert_true(strstr(text, "app::a<") < strstr(text, "int in"));
	assert_non_null(strstr(text, "          -5          0       1,000"));
	assert_non_null(strstr(text, "           0 -100 bytes           1"));
	assert_non_null(strstr(text, "the difference to 5.0 s before."));
	free(text);
}

TEST(insight_is_written_so)
{
	static const char expected[] =
	    "COPIES   2 blocks 200 bytes: equal to other blocks\n"
	    "ZEROS    1 block 1.0 KiB: zeros at the end\n"
	    "         (a stack that is not known)\n"
	    "RESERVED 1 block 8.0 KiB: pages never written\n"
	    "         (a stack that is not known)\n"
	    "\n"
	    "app (pid 12): 9 blocks, 100.0 KiB. Copies: 2 blocks, 200 bytes (1 "
	    "different).\n"
	    "Zeros at the end: 1.0 KiB in 1 block. Pages never written: 8.0 KiB in "
	    "1 block;\nthese are asked for, but take no memory.\n";
	struct census_spare sites[] = {{.site = 3,
	                                   .equal_blocks = 2,
	                                   .equal_bytes = 200,
	                                   .tail_blocks = 1,
	                                   .tail_bytes = 1024},
	    {.site = 2, .unwritten_blocks = 1, .unwritten_bytes = 8192}};
	const struct census census = {
	    .blocks = 9, .bytes = 102400, .spare = sites, .spare_count = 2, .equal_groups = 1};
	const struct census_view none = {.count = 0};
	struct layout page = {.width = 80};
	struct process p;
	struct spare s;
	char *text;
	size_t len;

	set_process(&p);
	assert_int_equal(spare_make(&census, &none, &s), 0);
	/* the largest comes first */
	assert_int_equal(s.lines[0].sum.site, 2);
	s.lines[1] = s.lines[0];
	s.lines[0].sum = sites[0];
	page.out = open_memstream(&text, &len);
	spare_text_write(&page, &p, &census, &s, 0);
	assert_int_equal(fclose(page.out), 0);
	assert_string_equal(text, expected);
	free(text);
	spare_release(&s);
}
