/* test_moment.c - moments that a user names, and where the mistake is in others. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"
#include "kit/words/words.h"

#define S UINT64_C(1000000000)

static const struct moment_line line = {
    .start_ns = 1794827119 * S, .until_us = 100000000, .now_ns = (1794827119 + 3600) * S};

/* Microseconds of both ends; the whole, if one is missing. */
static void check(const char *text, int64_t from_us, int64_t to_us)
{
	struct moment from = {.kind = MOMENT_PERCENT, .percent = 10};
	struct moment to = {.kind = MOMENT_PERCENT, .percent = 100};
	struct moment_fault fault;
	int64_t a, b;

	assert_true(moment_range(text, &from, &to, &fault));
	assert_true(moment_resolve(&from, &line, &a));
	assert_true(moment_resolve(&to, &line, &b));
	assert_int_equal(a, from_us);
	assert_int_equal(b, to_us);
}

TEST(seconds_shares_and_nothing_mean_what_they_did)
{
	check("..", 10000000, 100000000);
	check("10..60", 10000000, 60000000);
	check("1.5s..2", 1500000, 2000000);
	check("1m..1.5min", 60000000, 90000000);
	check("500ms..1m", 500000, 60000000);
	check("30%..90%", 30000000, 90000000);
	check("1...5", 1000000, 5000000);
	check("..5", 10000000, 5000000);
	check("5..", 5000000, 100000000);
	check("0..0", 0, 0);
}

/* 4.35 * 1e9 is a little less than 4350000000. */
TEST(decimal_seconds_are_exact)
{
	char text[64];

	for (int ms = 0; ms < 200000; ms += 10) {
		struct moment m = {.kind = MOMENT_PERCENT};
		struct moment_fault fault;

		(void)snprintf(text, sizeof(text), "%d.%02d", ms / 1000, ms % 1000 / 10);
		assert_true(moment_parse(text, &m, &fault));
		assert_int_equal(m.ns, ms * UINT64_C(1000000));
		(void)snprintf(text, sizeof(text), "%dms", ms);
		assert_true(moment_parse(text, &m, &fault));
		assert_int_equal(m.ns, ms * UINT64_C(1000000));
	}
}

TEST(ages_count_from_now)
{
	check("-2h..", -INT64_C(3600000000), 100000000);
	check("-30m..now", INT64_C(1800000000), INT64_C(3600000000));
	check("-3d..-1d", INT64_C(3600000000) - INT64_C(3 * 86400000000),
	    INT64_C(3600000000) - INT64_C(86400000000));
	check("-3600s..-3599.5s", 0, 500000);
	check("-1w..10", INT64_C(3600000000) - INT64_C(7 * 86400000000), 10000000);
}

TEST(dates_are_of_the_calendar)
{
	setenv("TZ", "UTC", 1);
	tzset();
	/* the line begins at 2026-11-16T11:05:19Z */
	check("2026-11-16T11:05:19Z..", 0, 100000000);
	check("2026-11-16T11:05:19.25Z..now", 250000, INT64_C(3600000000));
	check("2026-11-16T12:05:19+01:00..2026-11-16T06:05:20-0500", 0, 1000000);
	check("2026-11-16 11:06..2026-11-16T11:06:19", 41000000, 60000000);
	check("2026-11-16..", -INT64_C(39919000000), 100000000);
	setenv("TZ", "XXX-3", 1); /* three hours east */
	tzset();
	check("2026-11-16T14:05:19..2026-11-16T11:05:20Z", 0, 1000000);
	setenv("TZ", "UTC", 1);
	tzset();
}

/* Seconds since 1970 of many days, against the C library. */
TEST(every_day_is_what_the_library_says)
{
	struct moment from = {0}, to = {0};
	struct moment_fault fault;
	char text[64];

	for (time_t t = 0; t < INT64_C(7258118400); t += 86400 * 13 + 3607) {
		struct tm tm;

		gmtime_r(&t, &tm);
		strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ..", &tm);
		assert_true(moment_range(text, &from, &to, &fault));
		assert_int_equal(from.kind, MOMENT_DATE);
		assert_int_equal(from.ns, (uint64_t)t * S);
	}
}

TEST(what_means_nothing_has_a_place)
{
	static const struct {
		const char *text;
		size_t column;
	} wrong[] = {
	    {"", 1},
	    {"10", 3},
	    {"x..", 1},
	    {"10..x", 5},
	    {"-2x..", 3},
	    {"-2..", 3},
	    {"-..", 2},
	    {"-h..", 2},
	    {"2x..", 2},
	    {"-2hh..", 3},
	    {"1..2y", 5},
	    {"..-999999999999d", 3},
	    {"..-3h5", 6},
	    {"150%..", 1},
	    {"30%%..", 4},
	    {"..1.2.3", 3},
	    {"now-1h..", 1},
	    {"nowhere..", 1},
	    {"2026-13-01..", 6},
	    {"2026-02-30..", 1},
	    {"2026-11-15T..", 12},
	    {"2026-11-15T24:00..", 12},
	    {"2026-11-15T12..", 14},
	    {"2026-11-15T12:61..", 15},
	    {"2026-11-15T12:00:60..", 18},
	    {"2026-11-15T12:00+99:00..", 18},
	    {"2026-11-15T12:00Zx..", 18},
	    {"1969-12-31..", 1},
	    {"60..10", 5},
	    {"-1h..-2h", 6},
	    {"90%..10%", 6},
	    {"-999999999999999d..", 1},
	    {"..1 ", 4},
	};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct moment from = {.kind = MOMENT_PERCENT};
		struct moment to = {.kind = MOMENT_PERCENT, .percent = 100};
		struct moment_fault fault = {0};

		assert_false(moment_range(wrong[i].text, &from, &to, &fault));
		assert_non_null(fault.words);
		if (fault.column != wrong[i].column)
			fail_msg("\"%s\": %s, at %zu, not at %zu", wrong[i].text, fault.words,
			    fault.column, wrong[i].column);
	}
}

/* Whatever the text: an answer, or a place in it, and a number in range. */
TEST(any_text_has_an_answer_or_a_place)
{
	static const char letters[] = "0123456789.-+:TZ %shmdwnow..2026-11-15T";
	uint64_t x = 88172645463325252u;
	char text[24];
	size_t taken = 0;

	for (int i = 0; i < 300000; i++) {
		struct moment from = {.kind = MOMENT_PERCENT};
		struct moment to = {.kind = MOMENT_PERCENT, .percent = 100};
		struct moment_fault fault = {0};
		size_t len;
		int64_t us;

		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		len = x % sizeof(text);
		for (size_t k = 0; k < len; k++) {
			x = x * 6364136223846793005u + 1442695040888963407u;
			text[k] = letters[(x >> 33) % (sizeof(letters) - 1)];
		}
		text[len] = '\0';
		if (moment_range(text, &from, &to, &fault)) {
			taken++;
			assert_true(moment_resolve(&from, &line, &us));
			assert_true(
			    us > -INT64_C(10000000000000000) && us < INT64_C(10000000000000000));
		} else {
			assert_non_null(fault.words);
			assert_in_range(fault.column, 1, len + 1);
		}
	}
	assert_true(taken > 100);
}

TEST(a_line_without_a_start_has_no_dates)
{
	const struct moment_line none = {.until_us = 5, .now_ns = S};
	const struct moment ago = {.kind = MOMENT_AGO, .ns = 1};
	const struct moment half = {.kind = MOMENT_PERCENT, .percent = 40};
	int64_t us;

	assert_false(moment_resolve(&ago, &none, &us));
	assert_true(moment_resolve(&half, &none, &us));
	assert_int_equal(us, 2);
}

/* A damaged time line ends at any number. */
TEST(shares_of_any_length_are_inside_it)
{
	static const uint64_t lengths[] = {
	    0, 1, INT64_MAX - 1, INT64_MAX, UINT64_C(1) << 63, UINT64_MAX};
	const struct moment half = {.kind = MOMENT_PERCENT, .percent = 50};
	const struct moment all = {.kind = MOMENT_PERCENT, .percent = 100};

	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		const struct moment_line any = {.until_us = lengths[i]};
		int64_t a, b;

		assert_true(moment_resolve(&half, &any, &a));
		assert_true(moment_resolve(&all, &any, &b));
		assert_true(a >= 0 && a <= b);
		assert_true(b >= 0 && (uint64_t)b <= lengths[i]);
	}
}
