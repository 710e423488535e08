/* test_rule.c - rules of seep watch: read, and held against looks. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"
#include "follow/history/watch_rule.h"

#define S   UINT64_C(1000000000)
#define MIB (UINT64_C(1) << 20)

static struct rule parsed(const char *text)
{
	struct rule_fault fault = {0};
	struct rule r;

	if (!watch_rule_parse(text, &r, &fault))
		fail_msg("\"%s\": %s, at %zu", text, fault.words, fault.column);
	return r;
}

TEST(a_rule_is_read_as_it_is_meant)
{
	struct rule r;

	r = parsed("live > 2GiB");
	assert_int_equal(r.metric, RULE_LIVE);
	assert_int_equal(r.bytes, 2048 * MIB);
	assert_int_equal(r.for_ns, 0);
	assert_string_equal(r.pattern, "");
	r = parsed("growth > 64MiB/10m");
	assert_int_equal(r.metric, RULE_GROWTH);
	assert_int_equal(r.bytes, 64 * MIB);
	assert_int_equal(r.window_ns, 600 * S);
	r = parsed("room < 10%");
	assert_int_equal(r.metric, RULE_ROOM);
	assert_true(r.has_percent && r.percent == 10);
	r = parsed("room<200MiB");
	assert_false(r.has_percent);
	assert_int_equal(r.bytes, 200 * MIB);
	r = parsed("  live>1k for 5m in redis*  ");
	assert_int_equal(r.bytes, 1024);
	assert_int_equal(r.for_ns, 300 * S);
	assert_string_equal(r.pattern, "redis*");
	r = parsed("growth > 1.5MiB / 1h in for for 90s");
	assert_int_equal(r.bytes, 3 * MIB / 2);
	assert_int_equal(r.window_ns, 3600 * S);
	assert_string_equal(r.pattern, "for");
	assert_int_equal(r.for_ns, 90 * S);
}

TEST(a_mistake_has_a_place)
{
	static const struct {
		const char *text;
		size_t column;
	} wrong[] = {
	    {"", 1},
	    {"   ", 4},
	    {"lives > 2GiB", 1},
	    {"Live > 2GiB", 1},
	    {"live", 5},
	    {"live < 2GiB", 6},
	    {"live > ", 8},
	    {"live > 2GiBs", 8},
	    {"live > -2GiB", 8},
	    {"live > 10%", 8},
	    {"live > 2GiB/10m", 8},
	    {"growth > 64MiB", 15},
	    {"growth > 64MiB/", 16},
	    {"growth > 64MiB/10", 16},
	    {"growth > 64MiB/1ms", 16},
	    {"growth > 64MiB/9999d", 16},
	    {"growth > /10m", 10},
	    {"room > 10%", 6},
	    {"room < %", 8},
	    {"room < 101%", 8},
	    {"room < 1.2.3%", 8},
	    {"room < 10%%", 8},
	    {"live > 2GiB for", 16},
	    {"live > 2GiB for 5", 17},
	    {"live > 2GiB for 5m for 6m", 20},
	    {"live > 2GiB in", 15},
	    {"live > 2GiB in a in b", 18},
	    {"live > 2GiB forever", 13},
	    {"live > 2GiB and room < 1%", 13},
	    {"live > 99999999999TiB", 8},
	};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct rule_fault fault = {0};
		struct rule r = {.bytes = 77};

		assert_false(watch_rule_parse(wrong[i].text, &r, &fault));
		assert_int_equal(r.bytes, 77);
		assert_non_null(fault.words);
		if (fault.column != wrong[i].column)
			fail_msg("\"%s\": %s, at %zu, not at %zu", wrong[i].text, fault.words,
			    fault.column, wrong[i].column);
	}
}

TEST(a_pattern_is_that_of_a_shell)
{
	static const struct {
		const char *pattern, *service;
		bool is_for;
	} all[] = {
	    {"redis*", "redis.service", true},
	    {"redis*", "redis", true},
	    {"redis*", "my-redis", false},
	    {"*", "", true},
	    {"?", "", false},
	    {"a?c", "abc", true},
	    {"a?c", "ac", false},
	    {"*.service", "x.service", true},
	    {"*.service", "x.scope", false},
	    {"a*b*c", "a-b-b-c", true},
	    {"a*b*c", "a-b-b-cd", false},
	    {"[ab]", "a", false},
	    {"[ab]", "[ab]", true},
	};
	struct rule r = {0};
	char long_name[256];

	assert_true(watch_rule_is_for(&r, "anything"));
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		strcpy(r.pattern, all[i].pattern);
		if (watch_rule_is_for(&r, all[i].service) != all[i].is_for)
			fail_msg("%s, %s", all[i].pattern, all[i].service);
	}
	/* this would take years, tried in every way */
	memset(long_name, 'a', 255);
	long_name[255] = '\0';
	strcpy(r.pattern, "*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b");
	assert_false(watch_rule_is_for(&r, long_name));
}

static bool look(const struct rule *r, struct rule_watch *w, uint64_t s, uint64_t live)
{
	const struct rule_look l = {.at_ns = 1000 * S + s * S,
	    .live_bytes = live,
	    .limit_bytes = 1000 * MIB,
	    .used_bytes = live};

	return watch_rule_look(r, w, &l);
}

TEST(live_is_held_against_its_limit_at_every_look)
{
	struct rule r = parsed("live > 2MiB");
	struct rule_watch w = {0};
	char text[RULE_VALUE_BYTES];

	assert_false(look(&r, &w, 0, 2 * MIB));
	assert_true(look(&r, &w, 1, 2 * MIB + 1));
	assert_true(look(&r, &w, 2, 3 * MIB));
	assert_string_equal(watch_rule_value(&r, &w, text), "3.0 MiB");
	assert_false(look(&r, &w, 3, 1));
}

TEST(for_counts_from_the_look_that_passed_the_limit)
{
	struct rule r = parsed("live > 2MiB for 10s");
	struct rule_watch w = {0};

	assert_false(look(&r, &w, 0, 3 * MIB));
	assert_false(look(&r, &w, 9, 3 * MIB));
	assert_true(look(&r, &w, 10, 3 * MIB));
	assert_true(look(&r, &w, 11, 3 * MIB));
	assert_false(look(&r, &w, 12, MIB)); /* the clock begins again */
	assert_false(look(&r, &w, 13, 3 * MIB));
	assert_false(look(&r, &w, 22, 3 * MIB));
	assert_true(look(&r, &w, 23, 3 * MIB));
}

TEST(room_is_a_share_or_a_size_of_what_limits_it)
{
	struct rule r = parsed("room < 10%"), size = parsed("room < 50MiB");
	struct rule_look none = {.at_ns = S, .live_bytes = 1, .used_bytes = 1};
	struct rule_watch w = {0}, v = {0};
	char text[RULE_VALUE_BYTES];

	assert_false(look(&r, &w, 0, 900 * MIB));
	assert_true(look(&r, &w, 1, 901 * MIB));
	assert_string_equal(watch_rule_value(&r, &w, text), "9.9%");
	assert_true(look(&r, &w, 2, 2000 * MIB)); /* above its limit */
	assert_string_equal(watch_rule_value(&r, &w, text), "0.0%");
	assert_false(look(&size, &v, 0, 950 * MIB));
	assert_true(look(&size, &v, 1, 951 * MIB));
	assert_false(watch_rule_look(&r, &w, &none)); /* nothing limits it */
}

TEST(a_start_is_no_growth)
{
	struct rule r = parsed("growth > 10MiB/60s");
	struct rule_watch w = {0};

	for (uint64_t s = 0; s < 60; s++)
		assert_false(look(&r, &w, s, s * 100 * MIB));
	assert_true(look(&r, &w, 60, 6000 * MIB));
}

/* Against the growth by all looks, for many courses and intervals. */
TEST(growth_is_that_of_the_last_time)
{
	struct rule r = parsed("growth > 50MiB/64s");
	uint64_t seed = 88172645463325252u;

	for (int round = 0; round < 50; round++) {
		uint64_t live[600] = {100 * MIB}, step = 1 + round % 5;
		struct rule_watch w = {0};

		for (uint64_t s = 1; s < 600; s++) {
			seed ^= seed << 13;
			seed ^= seed >> 7;
			seed ^= seed << 17;
			live[s] = live[s - 1] + seed % (2 * MIB);
			if (seed % 7 == 0 && live[s] > 30 * MIB)
				live[s] -= seed % (16 * MIB);
		}
		for (uint64_t s = 0; s < 600; s += step) {
			bool is = look(&r, &w, s, live[s]), may = false, must = true;

			/* a sample may be older by a look and a 64th */
			for (uint64_t old = 64; old <= 64 + step + 1; old++) {
				bool passed = s >= old && live[s] > live[s - old] + 50 * MIB;

				may |= passed;
				must &= passed;
			}
			assert_true(!is || may);
			assert_true(is || !must);
		}
	}
}

TEST(a_rule_is_told_once_an_hour_for_each_service)
{
	struct rule_limiter l = {0};
	uint64_t hour = RULE_PAUSE_NS;

	assert_int_equal(watch_rule_limiter_take(&l, 0, "a", 5 * hour), 1);
	assert_int_equal(watch_rule_limiter_take(&l, 0, "a", 5 * hour), 0);
	assert_int_equal(watch_rule_limiter_take(&l, 1, "a", 5 * hour), 1);
	assert_int_equal(watch_rule_limiter_take(&l, 0, "b", 5 * hour + 1), 1);
	assert_int_equal(watch_rule_limiter_take(&l, 0, "a", 6 * hour - 1), 0);
	assert_int_equal(watch_rule_limiter_take(&l, 0, "a", 6 * hour), 1);
	assert_int_equal(watch_rule_limiter_take(&l, 0, "b", 6 * hour), 0);
	/* memory is bounded by an hour, whatever the number of services */
	for (uint64_t i = 0; i < 5000; i++) {
		char name[32];

		snprintf(name, sizeof(name), "%d", (int)i);
		assert_int_equal(
		    watch_rule_limiter_take(&l, 0, name, 7 * hour + i * hour / 100), 1);
	}
	assert_true(l.count <= 101);
	watch_rule_limiter_release(&l);
}

/* Any text is a rule, or has a place; a rule is read again as the same. */
TEST(any_text_is_a_rule_or_has_a_place)
{
	static const char *const parts[] = {"live", "growth", "room", ">", "<", "2GiB", "64MiB",
	    "/", "10m", "10%", "for", "in", "5s", "redis*", " ", "x", "9", ".", "%"};
	uint64_t seed = 1234567;
	size_t taken = 0;

	for (int i = 0; i < 200000; i++) {
		struct rule_fault fault = {0};
		struct rule r;
		char text[128] = "";

		for (size_t k = 0, n = seed % 12; k < n; k++) {
			seed = seed * 6364136223846793005u + 1442695040888963407u;
			strcat(text, parts[(seed >> 33) % (sizeof(parts) / sizeof(parts[0]))]);
		}
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		if (watch_rule_parse(text, &r, &fault)) {
			taken++;
		} else {
			assert_non_null(fault.words);
			assert_in_range(fault.column, 1, strlen(text) + 1);
		}
	}
	assert_true(taken > 10);
}
