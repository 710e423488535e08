/* test_suppress.c - promises of report/suppress. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"
#include "view/suppress/suppress.h"
#include "format/format.h"

static const struct suppress_frame frames[] = {
    {.function = "xmalloc", .module = "/usr/bin/app"},
    {.function = "Cache::add(int)",
        .symbol = "_ZN5Cache3addEi",
        .file = "/src/app/cache.cc",
        .line = 12,
        .module = "/usr/bin/app"},
    {.function = NULL, .module = "/usr/lib/libplug.so.1"},
    {.function = "main", .module = "/usr/bin/app"},
};

static struct suppress *lists(const char *text)
{
	struct fault where = {""};
	struct suppress *s;

	assert_int_equal(suppress_new(&s), 0);
	if (suppress_text(s, text, strlen(text), "list", &where) < 0)
		fail_msg("%s", where.text);
	return s;
}

static int64_t match(struct suppress *s, uint8_t api, uint8_t kind)
{
	struct suppress_stack stack = {.frames = frames, .count = 4, .api = api, .kind = kind};

	return suppress_match(s, &stack);
}

/* Does a list of this one entry fit the stack above? */
static bool fits(const char *text)
{
	struct suppress *s = lists(text);
	int64_t n = match(s, SEG_API_MALLOC, 0);

	suppress_free(s);
	assert_true(n == 0 || n == SUPPRESS_NONE);
	return n == 0;
}

static bool valgrind_fits(const char *lines)
{
	char *text;
	bool yes;

	assert_true(asprintf(&text, "{\n  n\n  Memcheck:Leak\n%s\n}\n", lines) > 0);
	yes = fits(text);
	free(text);
	return yes;
}

TEST(lsan_patterns_fit_function_file_and_module)
{
	assert_true(fits("leak:xmalloc"));
	assert_true(fits("leak:mallo"));
	assert_true(fits("leak:Cache::add"));
	assert_true(fits("leak:_ZN5Cache"));
	assert_true(fits("leak:cache.cc"));
	assert_true(fits("leak:libplug"));
	assert_true(fits("  leak:libplug.so  \r\n"));
	assert_false(fits("leak:nothing"));
	assert_true(fits("leak:^xmalloc$"));
	assert_false(fits("leak:^malloc"));
	assert_false(fits("leak:^xmallo$"));
	assert_true(fits("leak:Cache*int"));
	assert_false(fits("leak:add*Cache"));
	assert_true(fits("leak:^Cache*$"));
	assert_false(fits("leak:x?alloc")); /* no wildcard there */
}

TEST(valgrind_frames_fit_from_the_innermost_on)
{
	assert_true(valgrind_fits("fun:malloc\nfun:xmalloc"));
	assert_true(valgrind_fits("fun:xmalloc"));
	assert_false(valgrind_fits("fun:calloc\nfun:xmalloc"));
	assert_true(valgrind_fits("fun:*alloc\nfun:x*\nfun:Cache::add(*"));
	assert_false(valgrind_fits("fun:malloc\nfun:Cache::add(*"));
	assert_true(valgrind_fits("fun:malloc\n...\nfun:Cache::add(int)"));
	assert_true(valgrind_fits("...\nobj:*/libplug.so.?"));
	assert_true(valgrind_fits("fun:malloc\n...\nfun:main\n..."));
	assert_false(valgrind_fits("...\nfun:main\nfun:*"));
	assert_true(valgrind_fits("fun:xm?lloc\nsrc:cache.cc"));
	assert_true(valgrind_fits("...\nsrc:cache.cc:12"));
	assert_false(valgrind_fits("...\nsrc:cache.cc:13"));
	assert_true(valgrind_fits("obj:*/vgpreload_memcheck*\nfun:xmalloc"));
	assert_true(valgrind_fits("fun:malloc\nfun:realloc\nfun:xmalloc"));
	assert_true(valgrind_fits("fun:malloc"));
}

TEST(mangled_names_fit_demangled_ones)
{
	static const struct suppress_frame bare[] = {
	    {.function = "Cache::add"}, {.function = "Cache::adder"}};
	const struct suppress_stack add = {.frames = &bare[0], .count = 1};
	const struct suppress_stack adder = {.frames = &bare[1], .count = 1};
	struct suppress *s = lists("{\nn\nMemcheck:Leak\n"
	                           "fun:_Znwm\nfun:_ZN5Cache3addEi\n}\n");

	assert_int_equal(suppress_match(s, &add), 0);
	assert_int_equal(suppress_match(s, &adder), SUPPRESS_NONE);
	suppress_free(s);
	assert_true(valgrind_fits("fun:xmalloc\nfun:_ZN5Cache3addEi"));
	assert_true(valgrind_fits("fun:xmalloc\nfun:_ZN5Cache*"));
	assert_false(valgrind_fits("fun:xmalloc\nfun:_ZN5Cache3addEv"));
}

TEST(allocation_function_and_kind_are_compared)
{
	struct suppress *s = lists("{\nnew\nMemcheck:Leak\n"
	                           "match-leak-kinds: possible, reachable\n"
	                           "fun:_Znwm\nfun:xmalloc\n}\n"
	                           "{\nnever\nMemcheck:Leak\n"
	                           "match-leak-kinds: none\n...\nfun:main\n}\n");

	assert_int_equal(match(s, SEG_API_NEW, 0), 0);
	assert_int_equal(match(s, 0, 0), 0);
	assert_int_equal(match(s, SEG_API_NEW_ARRAY, 0), SUPPRESS_NONE);
	assert_int_equal(match(s, SEG_API_NEW, SUPPRESS_REACHABLE), 0);
	assert_int_equal(match(s, SEG_API_NEW, SUPPRESS_DEFINITE), -1);
	suppress_free(s);
}

TEST(first_entry_wins_and_is_booked_by_name)
{
	struct suppress *s = lists("# comment\n"
	                           "leak:nothing\n"
	                           "leak:main\n"
	                           "{\n   my plugin\n   Memcheck:Leak\n"
	                           "   ...\n   obj:*/libplug*\n}\n"
	                           "leak:xmalloc\n");
	const struct suppress_entry *e;
	int64_t n = match(s, SEG_API_MALLOC, 0);

	assert_int_equal(n, 1);
	suppress_add_match(s, n, 3, 300);
	suppress_add_match(s, n, 1, UINT64_MAX);
	suppress_add_match(s, SUPPRESS_NONE, 1, 1);
	assert_int_equal(suppress_count(s), 4);
	e = suppress_entry(s, 1);
	assert_string_equal(e->name, "leak:main");
	assert_string_equal(e->file, "list");
	assert_int_equal(e->line, 3);
	assert_int_equal(e->sites, 2);
	assert_int_equal(e->blocks, 4);
	assert_true(e->bytes == UINT64_MAX);
	assert_string_equal(suppress_entry(s, 2)->name, "my plugin");
	assert_int_equal(suppress_entry(s, 0)->sites, 0);
	suppress_free(s);
}

TEST(entries_added_later_are_seen)
{
	struct suppress *s = lists("leak:nothing\n");

	assert_int_equal(match(s, SEG_API_MALLOC, 0), SUPPRESS_NONE);
	assert_int_equal(suppress_text(s, "leak:main", 9, "two", NULL), 0);
	assert_int_equal(match(s, SEG_API_MALLOC, 0), 1);
	suppress_free(s);
}

TEST(entries_for_others_are_skipped_and_counted)
{
	struct suppress *s = lists("race:foo\n"
	                           "{\n a\n Memcheck:Cond\n fun:f\n}\n"
	                           "{\n b\n Helgrind:Race\n ...\n}\n"
	                           "{\n c\n Addrcheck,Memcheck:Leak\n fun:f\n}\n"
	                           "{\n d\n Memcheck:Param\n write(buf)\n}\n");

	assert_int_equal(suppress_count(s), 1);
	assert_int_equal(suppress_skipped(s), 4);
	suppress_free(s);
}

TEST(mistakes_are_named_with_file_and_line)
{
	static const struct {
		const char *text, *says;
	} cases[] = {
	    {"\n\nlaek:x\n", "list:3: neither leak:"},
	    {"leak:\n", "list:1: leak: without"},
	    {"leak:a\n{\n", "list:2: this entry has no name"},
	    {"{\n}\n", "list:1: this entry has no name"},
	    {"{\n a\n}\n", "list:3: after its name"},
	    {"{\n a\n Memcheck:Leak\n}\n", "list:4: this entry has no frames"},
	    {"{\n a\n Memcheck:Leak\n fun:x\n", "list:1: this entry has no"},
	    {"{\n a\n Memcheck:Leak\n fum:x\n}", "list:4: a frame is"},
	    {"{\n a\n Memcheck:Leak\n fun:\n}", "list:4: a frame is"},
	    {"{\n a\n Memcheck:Leak\n match-leak-kinds: some\n fun:x\n}",
	        "list:4: match-leak-kinds:"},
	    {"{\n a\n Memcheck:Cond\n fun:x\n", "list:1: this entry has no"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fault where = {""};
		struct suppress *s;

		assert_int_equal(suppress_new(&s), 0);
		assert_int_equal(
		    suppress_text(s, cases[i].text, strlen(cases[i].text), "list", &where),
		    -EBADMSG);
		if (strncmp(where.text, cases[i].says, strlen(cases[i].says)))
			fail_msg("case %zu: %s", i, where.text);
		suppress_free(s);
	}
}

TEST(bytes_that_are_no_text_are_refused_at_once)
{
	static const char text[] = "{\na\nMemcheck:Leak\nmatch-leak-kinds: \0all\nfun:x\n}\n";
	struct fault where = {""};
	struct suppress *s;

	assert_int_equal(suppress_new(&s), 0);
	assert_int_equal(suppress_text(s, text, sizeof(text) - 1, "list", &where), -EBADMSG);
	assert_string_equal(where.text, "list:4: not a text file");
	suppress_free(s);
}

TEST(any_bytes_are_survived)
{
	static const char bits[] = "{}\n:leak.fun*?^$ \t#Memcheck:Leak\nobj:\0";
	uint32_t x = 12345;

	for (int round = 0; round < 3000; round++) {
		struct suppress *s;
		char text[200];

		for (size_t i = 0; i < sizeof(text); i++) {
			x = x * 1664525 + 1013904223;
			text[i] = bits[(x >> 8) % sizeof(bits)];
		}
		memcpy(text, "{\na\nMemcheck:Leak\n", round % 2 ? 0 : 18);
		assert_int_equal(suppress_new(&s), 0);
		(void)suppress_text(s, text, sizeof(text), "list", NULL);
		(void)match(s, SEG_API_MALLOC, 0);
		suppress_free(s);
	}
}

TEST(files_are_read_or_refused_with_their_name)
{
	char path[] = "/tmp/seep-suppress.XXXXXX";
	struct fault where = {""};
	struct suppress *s;
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, "leak:main\noops\n", 15), 15);
	close(fd);
	assert_int_equal(suppress_new(&s), 0);
	assert_int_equal(suppress_load(s, path, &where), -EBADMSG);
	assert_non_null(strstr(where.text, path));
	assert_non_null(strstr(where.text, ":2:"));
	unlink(path);
	assert_int_equal(suppress_load(s, path, &where), -ENOENT);
	assert_non_null(strstr(where.text, path));
	assert_int_equal(suppress_load(s, "/", &where), -EISDIR);
	suppress_free(s);
}

/* name of the built-in entry for frames, innermost first; NULL: none */
static const char *builtin(const struct suppress_frame *f, size_t count, uint64_t blocks)
{
	static char name[64];
	struct suppress_stack stack = {
	    .frames = f, .count = count, .api = SEG_API_MALLOC, .blocks = blocks};
	struct suppress *s;
	int64_t n;

	assert_int_equal(suppress_new(&s), 0);
	assert_int_equal(suppress_builtin(s), 0);
	n = suppress_match(s, &stack);
	if (n >= 0)
		(void)snprintf(name, sizeof(name), "%s", suppress_entry(s, (size_t)n)->name);
	suppress_free(s);
	return n >= 0 ? name : NULL;
}

TEST(builtin_list_keeps_to_what_the_libraries_own)
{
	static const char cxx[] = "/usr/lib/libstdc++.so.6.0.30";
	static const char ld[] = "/lib64/ld-linux-x86-64.so.2";
	static const char c[] = "/lib/libc.so.6";
	const struct suppress_frame pool[] = {
	    {.module = cxx}, {.function = "call_init", .module = ld}};
	/* a constructor of the program's that calls libstdc++ */
	const struct suppress_frame ours[] = {
	    {.module = cxx}, {.function = "setup", .module = "/bin/app"}, {.module = ld}};
	const struct suppress_frame tls[] = {{.module = ld},
	    {.function = "_dl_allocate_tls", .module = ld},
	    {.function = "pthread_create", .module = c}};
	/* the plugin's own block, made while it is loaded */
	const struct suppress_frame plugin[] = {{.function = "init", .module = "/lib/plug.so"},
	    {.function = "call_init", .module = ld}, {.function = "dlopen", .module = c}};
	const struct suppress_frame info[] = {
	    {.function = "getaddrinfo", .module = c}, {.function = "main"}};
	const struct suppress_frame nss[] = {
	    {.module = c}, {.function = "getaddrinfo", .module = c}, {.function = "main"}};

	assert_string_equal(builtin(pool, 2, 1), "libstdc++ emergency pool");
	assert_null(builtin(ours, 3, 1));
	assert_string_equal(builtin(tls, 3, 4), "threads' TLS");
	assert_null(builtin(tls, 3, 9999));
	assert_null(builtin(plugin, 3, 1));
	assert_null(builtin(info, 2, 1));
	assert_string_equal(builtin(nss, 3, 1), "name services");
}

TEST(builtin_list_prints_as_it_loads)
{
	struct suppress *a, *b;
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	suppress_print_builtin(out);
	assert_int_equal(fclose(out), 0);
	assert_int_equal(suppress_new(&a), 0);
	assert_int_equal(suppress_builtin(a), 0);
	b = lists(text);
	assert_int_equal(suppress_count(a), suppress_count(b));
	assert_true(suppress_count(a) > 50);
	assert_int_equal(suppress_skipped(a) + suppress_skipped(b), 0);
	suppress_free(a);
	suppress_free(b);
	free(text);
}
