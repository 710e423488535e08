/* test_mapname.c - promises of mapname.h, perfmap.h and machinery.h: names of run-time code, and the frames between them. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <sys/mman.h>

#include "test.h"
#include "names/find/demangle.h"
#include "names/dwarf/lookup.h"
#include "view/stacks/blame.h"

enum { ROOM = 256 };

TEST(names_of_runtimes_are_taken_apart)
{
	static const struct {
		const char *text, *language, *function, *file;
		uint32_t line;
	} names[] = {
	    {"JS:~leaf /a/b.js:2:14", "js", "leaf", "/a/b.js", 2},
	    {"JS:^leaf /a/b.js:2:14", "js", "leaf", "/a/b.js", 2},
	    {"JS:*leaf /a b/c d.js:20:1", "js", "leaf", "/a b/c d.js", 20},
	    {"LazyCompile:*f path:1:2", "js", "f", "path", 1},
	    {"Function:~g.h path.js:7:2", "js", "g.h", "path.js", 7},
	    {"JS:+get size node:internal/x:3:4", "js", "get size", "node:internal/x", 3},
	    {"JS:~ file:///a/b.mjs:1:1", "js", "(anonymous)", "/a/b.mjs", 1},
	    {"Script:~ /a/b.js:1:1", "js", "(anonymous)", "/a/b.js", 1},
	    {"Eval:~ evalmachine.<anonymous>:1:1", "js", "(anonymous)", "evalmachine.<anonymous>",
	        1},
	    {"JS:~lonely", "js", "lonely", NULL, 0},
	    {"JS:~:1:2", "js", ":1:2", NULL, 0},
	    {"JS:~f /a.js:99999999999:1", "js", "f", "/a.js:99999999999", 1},
	    {"JS:", NULL, "JS:", NULL, 0},
	    {"Builtin:ArrayMap", "js", "Builtin:ArrayMap", NULL, 0},
	    {"py::leaf:/a/b.py", "python", "leaf", "/a/b.py", 0},
	    {"py::C.<locals>.f:/a:b.py", "python", "C.<locals>.f", "/a:b.py", 0},
	    {"py::_load:<frozen importlib._bootstrap>", "python", "_load",
	        "<frozen importlib._bootstrap>", 0},
	    {"py::<module>:", "python", "<module>", NULL, 0},
	    {"py::", NULL, "py::", NULL, 0},
	    {"py:::x", NULL, "py:::x", NULL, 0},
	    {"Lcom/x/Y;::run", "java", "com.x.Y.run", NULL, 0},
	    {"Lcom/x/Y;::", NULL, "Lcom/x/Y;::", NULL, 0},
	    {"com.x.Y.run", "java", "com.x.Y.run", NULL, 0},
	    {"void com.x.Y.run(int, long)", "java", "com.x.Y.run", NULL, 0},
	    {"java.nio.ByteBuffer java.nio.ByteBuffer.allocateDirect(int)", "java",
	        "java.nio.ByteBuffer.allocateDirect", NULL, 0},
	    {"void Y$1.<init>()", "java", "Y$1.<init>", NULL, 0},
	    {"Interpreter", "java", "Interpreter", NULL, 0},
	    {"Trace 5", NULL, "Trace 5", NULL, 0},
	    {"lower.case", NULL, "lower.case", NULL, 0},
	    {"A..b", NULL, "A..b", NULL, 0},
	    {".run", NULL, ".run", NULL, 0},
	    {"void [System.Core] N.C::M(int)", NULL, "void [System.Core] N.C::M(int)", NULL, 0},
	    {"x", NULL, "x", NULL, 0},
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char function[ROOM];
		const char *word;
		struct mapname m;

		mapname_parse(names[i].text, strlen(names[i].text), &m);
		mapname_function(&m, function, sizeof(function));
		assert_string_equal(function, names[i].function);
		word = mapname_word(mapname_language(names[i].text));
		if (names[i].language)
			assert_string_equal(word, names[i].language);
		else
			assert_null(word);
		assert_int_equal(m.line, names[i].line);
		if (!names[i].file) {
			assert_null(m.file);
			continue;
		}
		assert_int_equal(m.file_len, strlen(names[i].file));
		assert_memory_equal(m.file, names[i].file, m.file_len);
	}
	assert_int_equal(mapname_language(NULL), MAPNAME_NATIVE);
}

struct read {
	char names[4][ROOM];
};

static void found(void *context, size_t number, const char *name, size_t len)
{
	struct read *r = context;

	assert_true(number < 4 && len < ROOM);
	memcpy(r->names[number], name, len);
	r->names[number][len] = '\0';
}

TEST(the_last_line_of_a_map_counts_and_odd_ones_are_counted)
{
	static const char text[] = "1000 10 first\n"
	                           "not a line\n"
	                           "1000 10 second\n"
	                           "2000 zz name\n"
	                           "3000 0 empty\n"
	                           "3000 8 \n"
	                           "\n"
	                           "4000 10 last\n"
	                           "5000 10"; /* not yet written */
	const uint64_t addresses[] = {0x1008, 0x2001, 0x3000, 0x4000};
	int fd = memfd_create("map", MFD_CLOEXEC);
	struct perfmap_gaps gaps;
	struct read r = {0};

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, sizeof(text) - 1), (ssize_t)sizeof(text) - 1);
	assert_int_equal(perfmap_read(fd, addresses, 4, found, &r, &gaps), 0);
	assert_string_equal(r.names[0], "second");
	assert_string_equal(r.names[1], "");
	assert_string_equal(r.names[2], "");
	assert_string_equal(r.names[3], "last");
	assert_false(gaps.is_cut);
	assert_int_equal(gaps.malformed, 3);
	close(fd);
}

/* Frames are letters: see `all`. */
static const struct frame all[] = {
    ['p'] = {.function = "f", .language = MAPNAME_PYTHON},
    ['j'] = {.function = "g", .language = MAPNAME_JS},
    ['E'] = {.function = "_PyEval_EvalFrameDefault"},
    ['V'] = {.function = "_PyEval_Vector.constprop.0"},
    ['B'] = {.function = "Builtins_InterpreterEntryTrampoline"},
    ['I'] = {.function = "v8::internal::(anonymous namespace)::Invoke(int)"},
    ['b'] = {.function = "Builtin:X", .language = MAPNAME_JS},
    ['?'] = {.module = "libnode.so", .is_guessed = true},
    ['n'] = {.function = "node::Start"},
    ['N'] = {.function = "_PyEval_EvalFrameDefaultish"},
};

TEST(machinery_is_left_out_between_functions_of_one_language)
{
	static const struct {
		const char *stack, *shaped;
	} stacks[] = {
	    {"nEpVEpEn", "nEppEn"}, /* the outer ends stay */
	    {"pEVEpVVp", "ppp"},
	    {"pEnEp", "pEnEp"}, /* something else is in between */
	    {"pNp", "pNp"},
	    {"jBIBj", "jj"},
	    {"jbj", "jj"},
	    {"jB?j", "jj"},
	    {"pE?p", "pE?p"},
	    {"jBEj", "jBEj"}, /* of another language */
	    {"jBpEpBj", "jBppBj"},
	    {"BBB", "BBB"},
	    {"jB", "jB"},
	    {"", ""},
	};
	struct frame frames[128];

	memset(frames, 0, sizeof(frames));
	memcpy(frames, all, sizeof(all));
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		frames[i].machinery = (uint8_t)machinery_of(&frames[i]);
	for (size_t i = 0; i < sizeof(stacks) / sizeof(stacks[0]); i++) {
		uint32_t numbers[ROOM];
		char text[ROOM];
		size_t n = strlen(stacks[i].stack), k;

		for (k = 0; k < n; k++)
			numbers[k] = (uint32_t)stacks[i].stack[k];
		n = machinery_leave_out(frames, numbers, n);
		for (k = 0; k < n; k++)
			text[k] = (char)numbers[k];
		text[n] = '\0';
		assert_string_equal(text, stacks[i].shaped);
	}
}
