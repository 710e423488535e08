/* test_layout.c - promises of print/text/layout.h, shorten.h, amount.h and ages.h. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <locale.h>

#include "test.h"
#include "view/sites/ages.h"
#include "view/sites/amount.h"
#include "print/text/layout.h"
#include "view/stacks/blame.h"

TEST(names_are_short_as_people_say_them)
{
	static const char *const names[][2] = {
	    {"main", "main"},
	    {"_init", "_init"},
	    {"operator_like_c_name", "operator_like_c_name"},
	    {"foo::bar(int, char const*)", "foo::bar"},
	    {"foo::bar() const", "foo::bar"},
	    {"void std::vector<int, std::allocator<int> >::f<char>(int) const &",
	        "std::vector<...>::f<...>"},
	    {"std::pair<int, A<B> > make<int (*)(char)>(int)", "make<...>"},
	    {"(anonymous namespace)::run(int)", "(anonymous namespace)::run"},
	    {"void (anonymous namespace)::run<int>(int)", "(anonymous namespace)::run<...>"},
	    {"main::{lambda(int, char)#2}::operator()(int, char) const",
	        "main::{lambda#2}::operator()"},
	    {"std::__cxx11::basic_string<char>::append(char const*)",
	        "std::basic_string<...>::append"},
	    {"std::ostream& operator<< <char>(std::ostream&, char)", "operator<< <...>"},
	    {"Foo::operator<(Foo const&) const", "Foo::operator<"},
	    {"Foo::operator[](int)", "Foo::operator[]"},
	    {"Foo::operator->() const", "Foo::operator->"},
	    {"Foo::operator unsigned long() const", "Foo::operator unsigned long"},
	    {"operator new[](unsigned long)", "operator new[]"},
	    {"foo(int)::Local::bar(char)", "foo::Local::bar"},
	    {"name[abi:cxx11](int)", "name"},
	    {"foo(int) [clone .cold]", "foo"},
	    {"alloc::vec::Vec<T,A>::push", "alloc::vec::Vec<...>::push"},
	    {"<alloc::vec::Vec<T,A> as core::iter::IntoIterator>::into_iter",
	        "<alloc::vec::Vec<...> as core::iter::IntoIterator>::into_iter"},
	    {"core::ptr::drop_in_place<alloc::boxed::Box<dyn core::any::Any>>",
	        "core::ptr::drop_in_place<...>"},
	    {"alloc::slice::<impl [T]>::to_vec", "alloc::slice::<impl [T]>::to_vec"},
	    {"<[u32]>::to_vec_in::<alloc::alloc::Global>", "<[u32]>::to_vec_in::<...>"},
	    {"<fn() as core::ops::function::FnOnce<()>>::call_once",
	        "<fn() as core::ops::function::FnOnce<...>>::call_once"},
	    {"std::rt::lang_start::<()>::{closure#0}", "std::rt::lang_start::<...>::{closure#0}"},
	    {"<(u8, [T; 4]) as a::B>::c", "<(u8, [T; 4]) as a::B>::c"},
	    {"main::<lambda(int)>::operator()(int) const", "main::<lambda>::operator()"},
	    {"std::__cxx11::basic_string<char, std::char_traits<char>, "
	     "std::allocator<char> > std::operator+<char, "
	     "std::char_traits<char>, std::allocator<char> >(char const*, "
	     "std::__cxx11::basic_string<char, std::char_traits<char>, "
	     "std::allocator<char> > const&)",
	        "std::operator+<...>"},
	    {"Foo::operator std::vector<int, std::allocator<int> >() const",
	        "Foo::operator std::vector<...>"},
	    {"", ""},
	    {"(((((", "((((("},
	    {"<<<<", "<<<<"},
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char *name = shorten_name(names[i][0]);

		assert_string_equal(name, names[i][1]);
		free(name);
	}
}

static uint64_t draw(uint64_t *x)
{
	*x ^= *x << 13;
	*x ^= *x >> 7;
	*x ^= *x << 17;
	return *x >> 11;
}

/* Template arguments as libiberty's demangler prints them. */
static void put_arguments(FILE *out, uint64_t *x, int depth)
{
	static const char *const plain[] = {"int", "char const*", "(char)60", "A::B",
	    "void (*)(int, char)", "3ul", "decltype (f(1)) (*) [4]", "main::{lambda(int)#1}",
	    "(A::E)2", "int [3]", "A* (B::*)()"};
	uint64_t n = 1 + draw(x) % 3;

	(void)putc('<', out);
	for (uint64_t i = 0; i < n; i++) {
		(void)fputs(i ? ", " : "", out);
		if (depth > 0 && draw(x) % 3 == 0) {
			(void)fputs("std::vector", out);
			put_arguments(out, x, depth - 1);
			(void)fputs(i + 1 == n ? " " : "", out);
		} else {
			(void)fputs(plain[draw(x) % 11], out);
		}
	}
	(void)putc('>', out);
}

/* A function's name in full, and what is to be left of it. */
static void put_function(FILE *full, FILE *brief, uint64_t *x)
{
	static const char *const scopes[] = {
	    "std", "a::b", "Foo", "(anonymous namespace)", "main::{lambda#2}", "Bar"};
	static const char *const names[] = {"run", "operator+", "operator-", "operator*",
	    "operator/", "operator%", "operator^", "operator&", "operator|", "operator~",
	    "operator!", "operator=", "operator<", "operator>", "operator+=", "operator<<",
	    "operator>>", "operator<<=", "operator>>=", "operator==", "operator!=", "operator<=",
	    "operator>=", "operator<=>", "operator&&", "operator||", "operator++", "operator--",
	    "operator,", "operator->*", "operator->", "operator()", "operator[]", "operator new",
	    "operator delete[]", "operator bool", "~Foo", "operator\"\" _km",
	    "operator char const*"};
	static const char *const ends[] = {
	    "", " const", " const &", " volatile", " &&", " [clone .cold]"};
	const char *name = names[draw(x) % 39];
	bool arguments = draw(x) % 2, is_angle;

	if (arguments && draw(x) % 2)
		(void)fputs("std::pair<int, A<B> > ", full); /* it returns */
	for (uint64_t n = draw(x) % 3; n > 0; n--) {
		const char *scope = scopes[draw(x) % 6];

		(void)fputs(scope, full);
		(void)fputs(scope, brief);
		if (!strcmp(scope, "Bar")) {
			put_arguments(full, x, 3);
			(void)fputs("<...>", brief);
		}
		(void)fputs("::", full);
		(void)fputs("::", brief);
	}
	(void)fputs(name, full);
	(void)fputs(name, brief);
	is_angle = name[strlen(name) - 1] == '<';
	if (arguments) { /* operator<< <char> */
		(void)fputs(is_angle ? " " : "", full);
		put_arguments(full, x, 3);
		(void)fputs(is_angle ? " <...>" : "<...>", brief);
	}
	(void)fputs("(int, A<(B)3>, void (*)(char))", full);
	(void)fputs(ends[draw(x) % 6], full);
}

TEST(every_name_that_the_demangler_prints_is_shortened)
{
	uint64_t x = 88172645463325252;

	for (int i = 0; i < 50000; i++) {
		char *full = NULL, *brief = NULL, *name;
		size_t full_len, brief_len;
		FILE *f = open_memstream(&full, &full_len);
		FILE *b = open_memstream(&brief, &brief_len);

		put_function(f, b, &x);
		(void)fclose(f);
		(void)fclose(b);
		name = shorten_name(full);
		if (strcmp(name, brief))
			print_message("of: %s\n", full);
		assert_string_equal(name, brief);
		free(name);
		free(full);
		free(brief);
	}
}

/* Whatever text it is, it ends, and is not empty where the name is not. */
TEST(shortening_survives_any_text)
{
	static const char alphabet[] = "a<>(){}[]:- &*operator,~_";
	uint64_t x = 88172645463325252;

	for (int i = 0; i < 20000; i++) {
		char text[64], *name;
		size_t n;

		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		n = x % (sizeof(text) - 1);
		for (size_t k = 0; k < n; k++)
			text[k] = alphabet[(x >> (k % 48)) * (k + 7) % (sizeof(alphabet) - 1)];
		text[n] = '\0';
		name = shorten_name(text);
		assert_non_null(name);
		assert_true(n == 0 || *name);
		free(name);
	}
}

/* What layout_fit() prints; for free(). */
static char *fit(const char *text, size_t room, bool utf8)
{
	char *out = NULL;
	size_t len;
	struct layout p = {.out = open_memstream(&out, &len), .utf8 = utf8};

	layout_fit(&p, text, room);
	assert_int_equal(fclose(p.out), 0);
	return out;
}

static void assert_fits(const char *text, size_t room, bool utf8, const char *expected)
{
	char *out = fit(text, room, utf8);

	assert_string_equal(out, expected);
	free(out);
}

TEST(the_middle_gives_way)
{
	(void)setlocale(LC_CTYPE, "C.UTF-8");
	assert_fits("abcdefghij", 0, true, "abcdefghij");
	assert_fits("abcdefghij", 10, true, "abcdefghij");
	assert_fits("abcdefghij", 7, true, "abc\xe2\x80\xa6hij");
	assert_fits("abcdefghij", 6, false, "ab..ij");
	assert_fits("abcdefghij", 1, true, "a");
	assert_fits("abcdefghij", 2, true, "a\xe2\x80\xa6");
	/* two bytes, one column; three bytes, two columns */
	assert_fits("\xc3\xa4\xc3\xb6\xc3\xbc", 3, true, "\xc3\xa4\xc3\xb6\xc3\xbc");
	assert_int_equal(layout_columns("\xc3\xa4\xc3\xb6"), 2);
	assert_int_equal(layout_columns("a\nb"), 6);
	if (strcmp(setlocale(LC_CTYPE, NULL), "C.UTF-8") == 0)
		assert_int_equal(layout_columns("\xe6\xbc\xa2\xe5\xad\x97"), 4);
}

TEST(text_of_others_is_harmless)
{
	assert_fits("a\033[31mb", 0, true, "a\\x1b[31mb");
	assert_fits("a\xe2\x80\xae"
	            "b",
	    0, true, "a\\u202eb");
	assert_fits("a\xff", 0, true, "a\\xff");
	assert_fits("a\xc2\x85", 0, true, "a\\x85");
}

TEST(paragraphs_break_between_words)
{
	char *out = NULL;
	size_t len;
	struct layout p = {.out = open_memstream(&out, &len), .width = 10};

	layout_paragraph(&p, " bb cc dddd eeeeeeeeeeeeeee f\n", 2);
	assert_int_equal(fclose(p.out), 0);
	assert_string_equal(out, " bb cc\ndddd\neeeeeeeeeeeeeee\nf\n");
	free(out);
}

TEST(amounts_have_signs_and_an_order)
{
	struct amounts up = {.bytes = {.plus = 1234}};
	struct amounts more = {.bytes = {.plus = UINT64_MAX}};
	struct amounts down = {.bytes = {.plus = 1, .minus = 1235}};
	struct amounts none = {.bytes = {.plus = 7, .minus = 7}};
	char text[AMOUNT_MAX];

	assert_string_equal(amount_text(text, &up.bytes, true), "+1,234");
	assert_string_equal(amount_text(text, &up.bytes, false), "1,234");
	assert_string_equal(amount_text(text, &down.bytes, true), "-1,234");
	assert_string_equal(amount_text(text, &none.bytes, true), "0");
	assert_string_equal(amount_text(text, &more.bytes, true), "+18,446,744,073,709,551,615");
	assert_true(amounts_compare(&more, &up, AMOUNT_BYTES) < 0);
	assert_true(amounts_compare(&up, &none, AMOUNT_BYTES) < 0);
	/* the larger change first, whichever way */
	assert_true(amounts_compare(&down, &none, AMOUNT_BYTES) < 0);
	assert_true(amounts_compare(&more, &down, AMOUNT_BYTES) < 0);
	assert_true(amounts_compare(&up, &down, AMOUNT_BYTES) < 0);
	/* or what grew */
	assert_true(amounts_compare_growth(&more, &up, AMOUNT_BYTES) < 0);
	assert_true(amounts_compare_growth(&none, &down, AMOUNT_BYTES) < 0);
	amounts_add(&more, &up);
	assert_string_equal(amount_text(text, &more.bytes, false), "18,446,744,073,709,551,615");
	assert_true(amount_share(&down.bytes, &up.bytes) == -100.0);
}

TEST(ages_are_ranges)
{
	struct process_ages ages = {.live_ages_known = true};
	struct view_site s = {.figures.all.live_blocks = 3,
	    .first_ns = UINT64_C(1000000000000),
	    .last_ns = UINT64_C(1060000000000)};
	uint64_t now = UINT64_C(1120000000000);
	char text[AGES_MAX];

	assert_string_equal(ages_living(text, &s, now), "1 min 0 s..2 min 0 s");
	ages.living[6] = 3; /* 51.2 s to 102.4 s */
	s.ages = &ages;
	assert_string_equal(ages_living(text, &s, now), "1 min 0 s..1 min 42 s");
	assert_string_equal(ages_dead(text, &s), "-");
	s.figures.young_blocks = 10;
	ages.deaths[3] = 9;
	assert_string_equal(ages_dead(text, &s), "100 ms");
	s.age_flags = VIEW_AGES_COARSE;
	assert_string_equal(ages_dead(text, &s), "1.6 s");
	s.age_flags = VIEW_AGES_UNKNOWN;
	assert_string_equal(ages_dead(text, &s), "-");
	s.age_flags = 0;
	ages.young[1] = 1; /* 9 of 19 are below 100 ms */
	assert_string_equal(ages_dead(text, &s), "200 ms");
	ages.young[1] = 0;
	ages.young[3] = 3;
	assert_string_equal(ages_dead(text, &s), "800 ms");
	ages.young[3] = 0;
	ages.young[4] = 10;
	assert_string_equal(ages_dead(text, &s), "1.6 s");
	ages.deaths[3] = 11;
	assert_string_equal(ages_dead(text, &s), "12.8 s");
	assert_string_equal(ages_sizes(text, &s), "-");
	s.size_min = 16;
	s.size_max = 4096;
	assert_string_equal(ages_sizes(text, &s), "16..4,096");
	s.figures.all.live_blocks = 0;
	assert_string_equal(ages_living(text, &s, now), "-");
}
