/* test_opts.c - words of a command line become values. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"
#include "command/options/opts.h"
#include "command/options/shell_complete.h"

struct inner {
	bool deep;
	uint64_t size, time;
};

struct outer {
	bool flag, quiet;
	int choice, word;
	unsigned count;
	double percent;
	const char *text, *range, *paths;
	struct opts_list list;
	struct opts_regexp regexp;
	struct inner inner;
};

static const struct opts_option inner_rows[] = {
    {"deep", 0, OPTS_FLAG, offsetof(struct inner, deep), 0, NULL, ""},
    {"size", 0, OPTS_SIZE, offsetof(struct inner, size), 0, "SIZE", ""},
    {"time", 0, OPTS_TIME, offsetof(struct inner, time), 0, "TIME", ""},
    {0},
};

#define AT(field) offsetof(struct outer, field)

static const struct opts_option outer_rows[] = {
    {"flag", 'f', OPTS_FLAG, AT(flag), 0, NULL, ""},
    {"quiet", 'q', OPTS_FLAG, AT(quiet), 0, NULL, ""},
    {"one", 0, OPTS_CHOICE, AT(choice), 1, NULL, ""},
    {"two", 0, OPTS_CHOICE, AT(choice), 2, NULL, ""},
    {"word", 0, OPTS_WORD, AT(word), 0, "text|json|csv", ""},
    {"count", 'n', OPTS_COUNT, AT(count), 0, "N", ""},
    {"percent", 0, OPTS_PERCENT, AT(percent), 0, "PCT", ""},
    {"output", 'o', OPTS_TEXT, AT(text), 0, "FILE", ""},
    {"growth", 0, OPTS_RANGE, AT(range), 0, "[A..B]", ""},
    {"dir", 0, OPTS_PATHS, AT(paths), 0, "DIR", ""},
    {"each", 0, OPTS_LIST, AT(list), 0, "TEXT", ""},
    {"include", 0, OPTS_REGEXP, AT(regexp), 0, "RE", ""},
    {0},
};

static const struct opts_group groups[] = {
    {NULL, outer_rows, 0},
    {"Inner", inner_rows, offsetof(struct outer, inner)},
    {0},
};

/* Up to eleven words, then the values; how many operands were left in words. */
static int parse(const char *operands, const char **words, struct outer *ret)
{
	const struct cmd c = {.name = "test", .operands = operands, .about = "", .options = groups};
	static char copies[12][64];
	char *argv[13] = {copies[0]};
	int argc = 1, n;

	for (; words[argc - 1]; argc++) {
		argv[argc] = copies[argc];
		(void)snprintf(copies[argc], sizeof(copies[0]), "%s", words[argc - 1]);
	}
	*ret = (struct outer){0};
	n = opts_parse(&c, argc, argv, ret);
	for (int i = 0; i <= n; i++)
		words[i] = argv[i + 1];
	return n;
}

#define WORDS(...) \
	(const char *[12]) \
	{ \
		__VA_ARGS__ \
	}

/* The status opts_parse() ends the program with. */
static int status_of(const char *operands, const char **words)
{
	struct outer o;
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		(void)freopen("/dev/null", "w", stderr);
		(void)parse(operands, words, &o);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

TEST(options_stand_anywhere_and_operands_keep_their_order)
{
	const char **w =
	    WORDS("a", "--flag", "--two", "b", "-n7", "--word=csv", "-", "--", "--one");
	struct outer o;

	assert_int_equal(parse("A...", w, &o), 4);
	assert_true(o.flag && !o.quiet);
	assert_int_equal(o.choice, 2);
	assert_int_equal(o.count, 7);
	assert_int_equal(o.word, 2);
	assert_string_equal(w[0], "a");
	assert_string_equal(w[1], "b");
	assert_string_equal(w[2], "-");
	assert_string_equal(w[3], "--one");
	assert_null(w[4]);
}

TEST(letters_may_be_joined)
{
	struct outer o;

	(void)parse("", WORDS("-fqofile"), &o);
	assert_true(o.flag && o.quiet);
	assert_string_equal(o.text, "file");
	(void)parse("", WORDS("-qo", "file"), &o);
	assert_string_equal(o.text, "file");
	assert_int_equal(status_of("", WORDS("-fx")), CMD_USAGE);
}

TEST(what_follows_the_command_is_its_own)
{
	const char **w = WORDS("-q", "ls", "--flag", "--", "-x");
	struct outer o;

	assert_int_equal(parse("CMD [ARG...]", w, &o), 4);
	assert_true(o.quiet && !o.flag);
	assert_string_equal(w[1], "--flag");
	assert_string_equal(w[2], "--");
	w = WORDS("--", "-q");
	assert_int_equal(parse("CMD [ARG...]", w, &o), 1);
	assert_string_equal(w[0], "-q");
}

TEST(groups_fill_their_own_struct)
{
	struct outer o;

	(void)parse("", WORDS("--deep", "--size=2k", "--time", "3s"), &o);
	assert_true(o.inner.deep && !o.flag);
	assert_int_equal(o.inner.size, 2048);
	assert_int_equal(o.inner.time, 3000000000);
}

TEST(repeated_options_add_up)
{
	struct outer o;

	(void)parse("",
	    WORDS("--each", "x", "--each=", "--dir", "/a", "--dir", "/b", "--include", "^a$",
	        "--include", "b+|c"),
	    &o);
	assert_int_equal(o.list.count, 2);
	assert_string_equal(o.list.items[0], "x");
	assert_string_equal(o.list.items[1], "");
	assert_string_equal(o.paths, "/a:/b");
	assert_int_equal(regexec(o.regexp.regexp, "a", 0, NULL, 0), 0);
	assert_int_equal(regexec(o.regexp.regexp, "xbbx", 0, NULL, 0), 0);
	assert_int_equal(regexec(o.regexp.regexp, "cc", 0, NULL, 0), 0);
	assert_int_not_equal(regexec(o.regexp.regexp, "aa", 0, NULL, 0), 0);
}

TEST(a_range_is_told_from_a_file)
{
	struct outer o;

	assert_int_equal(parse("[X]", WORDS("--growth", "1..5"), &o), 0);
	assert_string_equal(o.range, "1..5");
	assert_int_equal(parse("[X]", WORDS("--growth", "5min..1hour"), &o), 0);
	assert_string_equal(o.range, "5min..1hour");
	assert_int_equal(parse("[X]", WORDS("--growth", "..-1h"), &o), 0);
	assert_string_equal(o.range, "..-1h");
	assert_int_equal(parse("[X]", WORDS("--growth", "../x"), &o), 1);
	assert_string_equal(o.range, "");
	assert_int_equal(parse("[X]", WORDS("--growth"), &o), 0);
	assert_string_equal(o.range, "");
}

TEST(mistakes_end_with_status_2)
{
	assert_int_equal(status_of("", WORDS("--flag")), 0);
	assert_int_equal(status_of("", WORDS("--flag=1")), CMD_USAGE);
	assert_int_equal(status_of("", WORDS("--fla")), CMD_USAGE);
	assert_int_equal(status_of("", WORDS("--")), 0);
	assert_int_equal(status_of("", WORDS("---")), CMD_USAGE);
	assert_int_equal(status_of("", WORDS("--=")), CMD_USAGE);
	assert_int_equal(status_of("", WORDS("-x")), CMD_USAGE);
	assert_int_equal(status_of("", WORDS("--count")), CMD_USAGE);
	assert_int_equal(status_of("", WORDS("--count", "-1")), CMD_USAGE);
	assert_int_equal(status_of("", WORDS("--count", "1e3")), CMD_USAGE);
	assert_int_equal(status_of("", WORDS("--count", "")), CMD_USAGE);
	assert_int_equal(status_of("", WORDS("--count", "99999999999999999999")), CMD_USAGE);
	assert_int_equal(status_of("", WORDS("--percent", "101")), CMD_USAGE);
	assert_int_equal(status_of("", WORDS("--percent", "nan")), CMD_USAGE);
	assert_int_equal(status_of("", WORDS("--percent", "-1")), CMD_USAGE);
	assert_int_equal(status_of("", WORDS("--percent", "%")), CMD_USAGE);
	assert_int_equal(status_of("", WORDS("--word", "xml")), CMD_USAGE);
	assert_int_equal(status_of("", WORDS("--word", "")), CMD_USAGE);
	assert_int_equal(status_of("", WORDS("--word", "text|json")), CMD_USAGE);
	assert_int_equal(status_of("", WORDS("--output", "")), CMD_USAGE);
	assert_int_equal(status_of("", WORDS("--dir=")), CMD_USAGE);
	assert_int_equal(status_of("", WORDS("--include", "a(b")), CMD_USAGE);
	assert_int_equal(status_of("", WORDS("--include", "a", "--include", "*(")), CMD_USAGE);
}

TEST(operands_are_counted)
{
	assert_int_equal(status_of("", WORDS("a")), CMD_USAGE);
	assert_int_equal(status_of("PID", WORDS(NULL)), CMD_USAGE);
	assert_int_equal(status_of("PID", WORDS("1")), 0);
	assert_int_equal(status_of("PID", WORDS("1", "2")), CMD_USAGE);
	assert_int_equal(status_of("[INPUT]", WORDS(NULL)), 0);
	assert_int_equal(status_of("[INPUT]", WORDS("a", "b")), CMD_USAGE);
	assert_int_equal(status_of("OLD NEW", WORDS("a")), CMD_USAGE);
	assert_int_equal(status_of("OLD NEW", WORDS("a", "b")), 0);
	assert_int_equal(status_of("INPUT...", WORDS(NULL)), CMD_USAGE);
	assert_int_equal(status_of("INPUT...", WORDS("a", "b", "c")), 0);
	assert_int_equal(status_of("CMD [ARG...]", WORDS(NULL)), CMD_USAGE);
}

TEST(sizes_have_units)
{
	static const struct {
		const char *text;
		uint64_t bytes;
	} good[] = {{"0", 0}, {"4096", 4096}, {"512k", 512 << 10}, {"512K", 512 << 10},
	    {"1KiB", 1024}, {"1kB", 1000}, {"10MB", 10000000}, {"1.5MiB", 3 << 19},
	    {"2G", UINT64_C(2) << 30}, {"7B", 7}, {"1T", UINT64_C(1) << 40}, {"10m", 10 << 20},
	    {"1kib", 1024}, {"10mb", 10000000}, {"2g", UINT64_C(2) << 30}};
	static const char *bad[] = {"", "k", "-1", "+1", " 1", "1 k", "0x10", "1e3", "1.2.3", ".5",
	    "1kibi", "inf", "nan", "9999999999999999999", "99999999T", "1Kx"};
	uint64_t n;

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		assert_true(values_size(good[i].text, &n));
		assert_int_equal(n, good[i].bytes);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (values_size(bad[i], &n))
			fail_msg("\"%s\" became %ju", bad[i], (uintmax_t)n);
}

TEST(times_have_units)
{
	uint64_t n;

	assert_true(values_time("20ms", &n) && n == 20000000);
	assert_true(values_time("1.5s", &n) && n == 1500000000);
	assert_true(values_time("10m", &n) && n == UINT64_C(600000000000));
	assert_true(values_time("10min", &n) && n == UINT64_C(600000000000));
	assert_true(values_time("2h", &n) && n == UINT64_C(7200000000000));
	assert_true(values_time("0", &n) && n == 0);
	assert_true(values_time("2hours", &n) && n == UINT64_C(7200000000000));
	assert_true(values_time("1w", &n) && n == UINT64_C(604800000000000));
	assert_false(values_time("10M", &n));
	assert_false(values_time("10", &n));
	assert_false(values_time("", &n));
	assert_false(values_time("s", &n));
	assert_false(values_time("-1s", &n));
	assert_false(values_time("1 s", &n));
	assert_false(values_time("999999999d", &n));
}

static const char *nearest(const char *word)
{
	struct suggest s = {.word = word};

	suggest_offer(&s, "report");
	suggest_offer(&s, "record");
	suggest_offer(&s, "ls");
	suggest_offer(&s, "snapshot");
	return s.best ? s.best : "";
}

TEST(a_misspelt_word_finds_its_neighbour)
{
	assert_string_equal(nearest("reprot"), "report");
	assert_string_equal(nearest("recrod"), "record");
	assert_string_equal(nearest("snap"), "snapshot");
	assert_string_equal(nearest("lss"), "ls");
	assert_string_equal(nearest("frobnicate"), "");
	assert_string_equal(nearest("x"), "");
	assert_string_equal(nearest(""), "");
	assert_string_equal(nearest("a word that is longer than any of ours could ever be"), "");
}
