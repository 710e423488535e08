/* test_report.c - promises of report/ and names/. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <sys/mman.h>

#include "test.h"
#include "../lib/mkseg.h"
#include "names/find/names.h"
#include "segments/read/losses.h"
#include "session/load/session.h"
#include "view/sites/amount.h"
#include "print/json/report_json.h"
#include "print/text/report_text.h"
#include "view/sites/enum_words.h"
#include "kit/words/text.h"

/* The report as text; for free(). `options` NULL: JSON. */
static char *render(struct session *s, const struct body_options *options)
{
	struct names *names;
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);
	const struct layout page = {.out = out};

	assert_non_null(out);
	assert_int_equal(names_new(NULL, &names), 0);
	assert_int_equal(options ? report_text_write(&page, s, names, options)
	                         : report_json_write(out, s, names, NULL, "1.2.3"),
	    0);
	names_free(names);
	assert_int_equal(fclose(out), 0);
	return text;
}

/* Does jq read it, and does `filter` hold? 77: jq cannot be started. */
static int jq(const char *json, const char *filter)
{
	int in[2], status;
	pid_t child;

	assert_int_equal(pipe(in), 0);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		int null = open("/dev/null", O_WRONLY);

		(void)dup2(in[0], 0);
		(void)dup2(null, 1);
		close(in[0]);
		close(in[1]);
		execlp("jq", "jq", "-e", filter, NULL);
		_exit(77);
	}
	close(in[0]);
	for (size_t n = strlen(json); n > 0;) {
		ssize_t done = write(in[1], json, n);

		if (done <= 0)
			break;
		json += done;
		n -= (size_t)done;
	}
	close(in[1]);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static struct session *odd_session(void)
{
	const uint64_t frames[] = {MKSEG_FRAME(1, 0x1234), MKSEG_FRAME(2, 0x5678) | SEG_FRAME_EXACT,
	    MKSEG_FRAME(9, 0x9abc), 0xdef0};
	struct mkseg *m = mkseg_new();
	uint32_t id;

	(void)mkseg_module(m, "/proc/none/\"quoted\"\n\x01\xff\xc3(\xe2\x82", 0x1000);
	(void)mkseg_module(m, "/proc/none/\xe2\x82\xac.so", 0x5000);
	memcpy(mkseg_header(m)->command, "a\0\0\\b\0\0\0", 8);
	mkseg_header(m)->counts[SEG_LOST_EVENTS] = UINT64_MAX;
	mkseg_header(m)->peak_bytes = UINT64_MAX - 1;
	id = mkseg_stack(m, frames, 4);
	mkseg_row(m, 0, id)->allocations = UINT64_MAX;
	mkseg_row(m, 0, id)->allocated_bytes = UINT64_MAX;
	mkseg_row(m, 0, id)->frees = UINT64_MAX - 5;
	mkseg_row(m, 0, id)->freed_bytes = 9;
	return mkseg_load(m);
}

TEST(json_keeps_the_whole_contract)
{
	static const char filter[] =
	    ". as $r | .schema == 1 and .seep == \"1.2.3\" and"
	    " (.processes[0] | [\"pid\",\"ppid\",\"uuid\",\"parent\",\"exe\","
	    "\"command\",\"start\",\"end\",\"exit_status\",\"signal\",\"mode\","
	    "\"sample_bytes\",\"medium\",\"lost\",\"totals\",\"modules\","
	    "\"sites\"] - keys == []) and"
	    " (.processes[0].lost | [\"events\",\"sites\","
	    "\"truncated_stacks\",\"outer_dropped\"] - keys == []) and"
	    " (.processes[0].totals | [\"allocations\",\"allocated_bytes\","
	    "\"frees\",\"freed_bytes\",\"live_blocks\",\"live_bytes\","
	    "\"peak_blocks\",\"peak_bytes\",\"peak_exact\",\"unknown_frees\","
	    "\"inherited_frees\",\"untracked_frees\",\"missed_frees\"]"
	    " - keys == []) and"
	    " (.processes[0].modules[0] | [\"path\",\"build_id\",\"base\","
	    "\"generation\"] - keys == []) and"
	    " (.processes[0].sites[0] | [\"id\",\"kind\",\"api\","
	    "\"allocations\",\"allocated_bytes\",\"frees\",\"freed_bytes\","
	    "\"live_blocks\",\"live_bytes\",\"peak_blocks\",\"peak_bytes\","
	    "\"samples\",\"ages\",\"verdict\",\"frames\"] - keys == []) and"
	    " (.processes[0].sites[0].frames | length == 4 and"
	    " all(.[]; [\"function\",\"file\",\"line\",\"module\",\"offset\","
	    "\"inlined\"] - keys == [])) and"
	    " .processes[0].exit_status == null and"
	    " .processes[0].command == [\"a\",\"\",\"\\\\b\"]";
	struct session *s = odd_session();
	char *json = render(s, NULL);
	int status = jq(json, filter);

	assert_int_equal(status, 0);
	session_free(s);
	free(json);
}

TEST(json_is_exact_to_64_bits_and_valid_utf8)
{
	struct session *s = odd_session();
	char *json = render(s, NULL);

	assert_non_null(strstr(json, "\"allocations\":18446744073709551615,"));
	assert_non_null(strstr(json, "\"peak_bytes\":18446744073709551614,"));
	assert_non_null(strstr(json, "\"events\":18446744073709551615"));
	assert_non_null(strstr(
	    json, "\"/proc/none/\\\"quoted\\\"\\u000a\\u0001\\ufffd\\ufffd(\\ufffd\\ufffd\""));
	assert_non_null(strstr(json, "/proc/none/\xe2\x82\xac.so"));
	for (const char *p = json; *p;) {
		size_t n = text_utf8(p);

		assert_true(n > 0);
		p += n;
	}
	session_free(s);
	free(json);
}

TEST(text_has_no_control_bytes_and_all_numbers)
{
	struct body_options options = {.view = {.group = true}};
	struct session *s = odd_session();
	char *text;

	for (options.shape = BODY_TREE; options.shape <= BODY_TABLE; options.shape++) {
		options.view.metric = VIEW_ALLOCS;
		text = render(s, &options);
		assert_non_null(strstr(text, "18,446,744,073,709,551,615"));
		assert_non_null(strstr(text, "\\x01"));
		assert_non_null(strstr(text, "events not recorded"));
		for (const char *p = text; *p; p++)
			assert_true(*p == '\n' || (unsigned char)*p >= 0x20);
		free(text);
	}
	session_free(s);
}

TEST(threshold_says_what_it_leaves_out)
{
	struct body_options options = {.threshold = 10, .view = {.group = true}};
	struct mkseg *m = mkseg_new();
	struct session *s;
	char *text;

	for (uint64_t i = 0; i < 5; i++) {
		uint64_t frame = 0x100 * (i + 1);

		mkseg_book(m, 0, mkseg_stack(m, &frame, 1), 1, i == 0 ? 960 : 10, 0);
	}
	s = mkseg_load(m);
	options.shape = BODY_TABLE;
	text = render(s, &options);
	assert_non_null(strstr(text, "   4.0%    40      4  in 4 places, each below 10%"));
	free(text);
	options.shape = BODY_TREE;
	text = render(s, &options);
	assert_non_null(strstr(text, "   4.0%    40      4  in 4 places, each below 10%"));
	free(text);
	options.threshold = 0;
	options.top = 2;
	text = render(s, &options);
	assert_non_null(strstr(text, "   3.0%    30      3  in 3 places beyond --top 2\n"));
	free(text);
	session_free(s);
}

TEST(missing_frames_are_said_in_words)
{
	const uint64_t frames[] = {0x100};
	struct body_options options = {.view = {.group = true}};
	struct mkseg *m = mkseg_new();
	struct session *s;
	char *text;
	uint32_t id;

	id = mkseg_stack(m, frames, 1);
	mkseg_site(m, id)->node = mkseg_node(m, 0, 0, SEG_NODE_OUTER_DROPPED);
	mkseg_book(m, 0, id, 1, 8, 0);
	mkseg_book(m, 0, 77, 1, 8, 0); /* a site never filled */
	id = mkseg_stack(m, frames, 1);
	mkseg_site(m, id)->node = mkseg_node(m, 0, 0, SEG_NODE_NO_ROOM);
	mkseg_site(m, id)->inner = mkseg_inner(m, NULL, 0, 0);
	mkseg_book(m, 0, id, 1, 8, 0);
	s = mkseg_load(m);
	text = render(s, &options);
	assert_non_null(strstr(text, "(outer frames dropped)"));
	assert_non_null(strstr(text, "(unknown)"));
	assert_non_null(strstr(text, "(no room)"));
	free(text);
	text = render(s, NULL);
	assert_non_null(strstr(text, "\"stack\":\"outer_dropped\""));
	free(text);
	session_free(s);
}

TEST(numbers_agree_with_their_nouns)
{
	const struct losses_name *names;
	char a[WORDS_COUNTED_MAX], b[WORDS_LOSS], c[WORDS_LOSS];
	const struct amount less = {.minus = 1}, more = {.plus = 2};
	size_t count;

	assert_string_equal(words_counted(a, 0, "block"), "0 blocks");
	assert_string_equal(words_counted(a, 1, "block"), "1 block");
	assert_string_equal(words_counted(a, 1000, "block"), "1,000 blocks");
	assert_string_equal(words_counted(a, 1, "process"), "1 process");
	assert_string_equal(words_counted(a, 2, "process"), "2 processes");
	assert_string_equal(amount_counted(a, &less, true, "byte"), "-1 byte");
	assert_string_equal(amount_counted(a, &more, true, "byte"), "+2 bytes");
	assert_string_equal(enum_words_loss(b, 1, "forked children without room for a record"),
	    "1 forked child without room for a record");
	assert_string_equal(enum_words_loss(b, 1, "site ids left unused"), "1 site id left unused");
	/* each of them has a singular */
	names = losses_names(&count);
	for (size_t i = 0; i < count; i++)
		assert_true(strlen(enum_words_loss(b, 1, names[i].words)) <
		    strlen(enum_words_loss(c, 2, names[i].words)));
}

TEST(numbers_read_well)
{
	char b[WORDS_MAX];

	assert_string_equal(words_count(b, 0), "0");
	assert_string_equal(words_count(b, 999), "999");
	assert_string_equal(words_count(b, 1234567), "1,234,567");
	assert_string_equal(words_count(b, UINT64_MAX), "18,446,744,073,709,551,615");
	assert_string_equal(words_bytes(b, 1), "1 byte");
	assert_string_equal(words_bytes(b, 1023), "1023 bytes");
	assert_string_equal(words_bytes(b, 1024), "1.0 KiB");
	assert_string_equal(words_bytes(b, 1048575), "1.0 MiB");
	assert_string_equal(words_bytes(b, 1258291), "1.2 MiB");
	assert_string_equal(words_bytes(b, UINT64_MAX), "16.0 EiB");
	assert_string_equal(words_time(b, 3400000000), "3.4 s");
	assert_string_equal(words_time(b, 7500000000000), "2 h 5 min");
}
