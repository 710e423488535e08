/* test_check.c - promises of check/: fingerprints and baselines. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"
#include "findings/baseline.h"
#include "view/stacks/fingerprint.h"
#include "print/check/write.h"

TEST(names_lose_what_a_rebuild_changes)
{
	static const char *const pairs[][2] = {
	    {"main", "main"},
	    {"f(int, char*)", "f"},
	    {"ns::C::f(int) const", "ns::C::f"},
	    {"C::operator()(int)", "C::operator()"},
	    {"(anonymous namespace)::f(void (*)(int))", "(anonymous namespace)::f"},
	    {"main::{lambda(int)#2}::operator()(int) const", "main::{lambda}::operator()"},
	    {"main::{lambda(int)#1}::operator()(int) const", "main::{lambda}::operator()"},
	    {"main::$_0::operator()() const", "main::$_::operator()"},
	    {"app::run::{closure#3}", "app::run::{closure}"},
	    {"f(int) [clone .constprop.0]", "f"},
	    {"f[abi:cxx11](int)", "f"},
	    {"void g<int>(int)", "void g<int>"},
	    {"C::~C()", "C::~C"},
	    {"operator<<(std::ostream&, X)", "operator<<"},
	    {"f(", "f"},
	    {"{", "{"},
	    {"{lambda(", "{lambda"},
	    {"", ""},
	};

	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		char *name = fingerprint_function(pairs[i][0]);

		assert_non_null(name);
		assert_string_equal(name, pairs[i][1]);
		free(name);
	}
}

/* The fingerprint of one stack. */
static struct fingerprint print_of(struct frame *frames, size_t count)
{
	uint32_t numbers[32];
	struct view_site site = {.frames = numbers, .frame_count = (uint32_t)count};
	struct view v = {.frames = frames, .frame_count = count};
	struct fingerprints *f;
	struct fingerprint print;

	assert_true(count <= 32);
	for (uint32_t i = 0; i < count; i++)
		numbers[i] = i;
	assert_int_equal(fingerprints_new(&v, &f), 0);
	fingerprints_site(f, &site, &print);
	fingerprints_free(f);
	return print;
}

#define APP(name) \
	{ \
		.function = (name), .module = "/x/app", .is_main = true \
	}
#define LIBC(name) \
	{ \
		.function = (name), .module = "/lib/libc.so.6" \
	}
#define PRINT(list) print_of(list, sizeof(list) / sizeof((list)[0]))

TEST(fingerprints_keep_to_what_says_where)
{
	struct frame plain[] = {APP("add(int)"), APP("handle"), APP("main"), LIBC("start")};
	struct frame moved[] = {
	    {.function = "add(int)", .module = "/elsewhere/app-2", .offset = 77, .line = 5},
	    APP("handle"), APP("main"), {.module = "/lib/libc.so.6"}, {.module = "/lib/libc.so.6"}};
	struct frame wrapped[] = {LIBC("__GI___strdup"), APP("xstrdup"),
	    APP("std::vector<int>::push_back(int const&)"), APP("void std::f<int>(int)"),
	    APP("add(int)"), APP("add(int)"), APP("handle"), APP("main")};
	struct frame other[] = {APP("add(int)"), APP("main")};
	struct frame lib[] = {{.module = "/usr/lib/libfoo.so.1.2.3"},
	    {.module = "/usr/lib/libfoo.so.1.2.3", .offset = 9}, APP("handle"), APP("main")};
	struct frame std_only[] = {APP("std::string::assign(char)")};
	struct frame libc_only[] = {LIBC("setlocale")};
	struct frame missing[] = {{.function = "(no room)", .is_missing = true}};

	assert_string_equal(PRINT(plain).text, "add < handle < main");
	assert_true(PRINT(plain).hash == PRINT(moved).hash);
	assert_true(PRINT(plain).hash == PRINT(wrapped).hash);
	assert_int_equal(PRINT(plain).place, 0);
	assert_int_equal(PRINT(wrapped).place, 4);
	assert_true(PRINT(plain).hash != PRINT(other).hash);
	assert_string_equal(PRINT(lib).text, "[libfoo.so] < handle < main");
	assert_string_equal(PRINT(std_only).text, "std::string::assign");
	assert_string_equal(PRINT(libc_only).text, "setlocale");
	assert_string_equal(PRINT(missing).text, "(no frames)");
}

TEST(only_the_innermost_functions_count)
{
	struct frame a[12], b[12];

	for (int i = 0; i < 12; i++) {
		static char names[12][8];

		(void)snprintf(names[i], sizeof(names[i]), "f%d", i);
		a[i] = b[i] = (struct frame)APP(names[i]);
	}
	b[FINGERPRINT_FRAMES].function = "another";
	assert_true(print_of(a, 12).hash == print_of(b, 12).hash);
	b[FINGERPRINT_FRAMES - 1].function = "another";
	assert_true(print_of(a, 12).hash != print_of(b, 12).hash);
}

/* ---- baselines ---- */

static const char *const no_notes[] = {"a note", NULL};

static char *written(const struct baseline *b)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	baseline_write(out, b, no_notes);
	assert_int_equal(fclose(out), 0);
	return text;
}

static int loaded(struct baseline *b, const char *text, struct fault *where)
{
	char path[] = "/tmp/seep-baseline.XXXXXX";
	int fd = mkstemp(path), err;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
	*b = (struct baseline){0};
	err = baseline_load(b, path, where);
	unlink(path);
	return err;
}

TEST(baseline_reads_what_it_writes)
{
	static char z[] = "z < main", n[] = "a\n < main";
	struct baseline a = {0}, b;
	struct fault where;
	char *first, *second;

	assert_int_equal(
	    baseline_add(
	        &a, &(struct baseline_item){.hash = 7, .bytes = 100, .blocks = 2, .text = z}),
	    0);
	assert_int_equal(baseline_add(&a,
	                     &(struct baseline_item){
	                         .hash = UINT64_MAX, .bytes = UINT64_MAX, .blocks = 1, .text = n}),
	    0);
	assert_int_equal(
	    baseline_add(
	        &a, &(struct baseline_item){.hash = 7, .bytes = 11, .blocks = 1, .text = z}),
	    0);
	baseline_sort(&a);
	assert_int_equal(a.count, 2);
	assert_int_equal(baseline_find(&a, 7)->bytes, 111);
	assert_null(baseline_find(&a, 8));
	first = written(&a);
	assert_string_equal(first,
	    "seep-baseline 1\n# a note\n"
	    "ffffffffffffffff 18446744073709551615 1 a\\x0a < main\n"
	    "0000000000000007 111 3 z < main\n");
	if (loaded(&b, first, &where) < 0)
		fail_msg("%s", where.text);
	second = written(&b);
	assert_string_equal(first, second);
	free(first);
	free(second);
	baseline_release(&a);
	baseline_release(&b);
}

TEST(bad_baselines_are_refused_with_their_line)
{
	static const struct {
		const char *text, *says;
		int err;
	} cases[] = {
	    {"", "it is empty", -EBADMSG},
	    {"hello\n", ":1: not a baseline", -EBADMSG},
	    {"seep-baseline 2\n", ":1: this baseline was written by another", -ENOTSUP},
	    {"seep-baseline 1x\n", ":1: this baseline was written by another", -ENOTSUP},
	    {"seep-baseline 1\n# c\n\nxyz 1 1 t\n", ":4: a line", -EBADMSG},
	    {"seep-baseline 1\n0000000000000007 -1 1 t\n", ":2: a line", -EBADMSG},
	    {"seep-baseline 1\n0000000000000007 1\n", ":2: a line", -EBADMSG},
	    {"seep-baseline 1\n7 1 1 t\n", ":2: a line", -EBADMSG},
	    {"seep-baseline 1\n0000000000000007 99999999999999999999 1 t\n", ":2: a line",
	        -EBADMSG},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fault where = {""};
		struct baseline b;

		assert_int_equal(loaded(&b, cases[i].text, &where), cases[i].err);
		if (!strstr(where.text, cases[i].says))
			fail_msg("case %zu: %s", i, where.text);
		baseline_release(&b);
	}
}

TEST(sources_are_told_from_their_root)
{
	assert_string_equal(write_relative("/a/b/c.c", "/a/b"), "c.c");
	assert_string_equal(write_relative("/a/b/c.c", "/a/b/"), "c.c");
	assert_string_equal(write_relative("/a/b/c.c", "/"), "a/b/c.c");
	assert_null(write_relative("/a/bb/c.c", "/a/b"));
	assert_string_equal(write_relative("src/c.c", "/a"), "src/c.c");
	assert_null(write_relative("../c.c", "/a"));
	assert_null(write_relative(NULL, "/a"));
}
