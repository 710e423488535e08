/* test_score.c - the class of a site, from ages and births written by hand. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "test.h"
#include "analysis/score/score.h"
#include "analysis/score/slope.h"

#define HOUR 3600.0

/* The class of an age. */
static int class_of(double age_s)
{
	int i = 0;

	while (i < LIFE_TABLE_CLASSES - 1 && life_table_to(i, 0.1) <= age_s)
		i++;
	return i;
}

static struct score_input site(double until_s)
{
	return (struct score_input){.until_s = until_s, .ages = {.unit_s = 0.1, .life_s = until_s}};
}

/* n blocks that live, born at equal steps between two moments. */
static void born(struct score_input *in, int n, double from_s, double to_s)
{
	for (int i = 0; i < n; i++) {
		double t = from_s + (to_s - from_s) * (i + 0.5) / n;

		in->births[(int)(t / in->until_s * INFLOW_SLOTS)]++;
		in->ages.living[class_of(in->until_s - t)]++;
		in->blocks++;
		in->bytes += 100;
	}
}

TEST(few_blocks_escape_while_their_siblings_die)
{
	struct score_input in = site(24 * HOUR);
	struct score s;

	in.ages.deaths[class_of(60)] = 100000;
	born(&in, 240, 0, 24 * HOUR);
	score_make(&in, &s);
	assert_int_equal(s.class, SCORE_LEAK);
	assert_int_equal(s.basis, SCORE_BY_SIBLINGS);
	assert_true(s.confidence > 0.999);
	/* 10 blocks of 100 bytes an hour */
	assert_true(s.has_rate && s.low < 1000 && s.high > 1000);
	assert_true(fabs(s.rate - 1000) < 30);
	assert_true(s.within_s >= 60 && s.within_s <= 120);
	assert_true(s.freed_share > 0.997);
}

TEST(nothing_is_said_of_siblings_within_the_first_hour)
{
	struct score_input in = site(0.9 * HOUR);
	struct score s;

	in.ages.deaths[class_of(5)] = 100000;
	born(&in, 100, 0, 0.9 * HOUR);
	score_make(&in, &s);
	assert_int_equal(s.class, SCORE_CHURN);
}

TEST(blocks_that_are_never_freed_and_still_come_are_growth)
{
	static const double hours[] = {1, 8, 24, 48};
	double before = 0;

	for (int i = 0; i < 4; i++) {
		struct score_input in = site(hours[i] * HOUR);
		struct score s;

		born(&in, 1000, 0, hours[i] * HOUR);
		score_make(&in, &s);
		assert_int_equal(s.class, SCORE_GROWTH);
		assert_int_equal(s.basis, SCORE_BY_INFLOW);
		assert_true(s.confidence > before);
		before = s.confidence;
		if (hours[i] == 8)
			assert_true(fabs(s.confidence - 0.75) < 0.005);
	}
}

TEST(an_old_block_that_is_freed_makes_growth_less_likely_a_leak)
{
	struct score_input in = site(24 * HOUR);
	struct score before, after;

	born(&in, 1000, 0, 24 * HOUR);
	score_make(&in, &before);
	in.ages.deaths[class_of(12 * HOUR)] = 1;
	score_make(&in, &after);
	assert_int_equal(after.class, SCORE_GROWTH);
	assert_true(before.confidence >= SCORE_LIKELY);
	assert_true(after.confidence < SCORE_LIKELY);
}

TEST(an_earlier_life_in_which_it_settled_makes_a_leak_less_likely)
{
	struct score_input in = site(24 * HOUR);
	struct score s;

	born(&in, 1000, 0, 24 * HOUR);
	in.settled_s = 20 * HOUR; /* too short to say anything */
	score_make(&in, &s);
	assert_true(s.confidence >= SCORE_LIKELY);
	in.settled_s = 48 * HOUR;
	score_make(&in, &s);
	assert_true(s.confidence < SCORE_LIKELY);
}

TEST(data_of_the_start_is_steady)
{
	struct score_input in = site(8 * HOUR);
	struct score s;

	born(&in, 1000, 0, 60);
	score_make(&in, &s);
	assert_int_equal(s.class, SCORE_STEADY);
	assert_true(s.built_s <= 8 * HOUR / INFLOW_SLOTS);
	assert_false(s.has_rate);
}

TEST(a_quiet_night_is_no_end)
{
	struct score_input in = site(48 * HOUR);
	struct score s;

	for (int day = 0; day < 2; day++) {
		born(&in, 500, day * 24 * HOUR, (day * 24 + 12) * HOUR);
		born(&in, 50, (day * 24 + 12) * HOUR, (day + 1) * 24 * HOUR);
	}
	score_make(&in, &s);
	assert_int_equal(s.class, SCORE_GROWTH);
	in.without = SCORE_DAYS;
	score_make(&in, &s);
	assert_int_not_equal(s.class, SCORE_GROWTH);
}

TEST(a_pareto_tail_is_not_a_leak)
{
	struct score_input in = site(24 * HOUR);
	double alive = 1e5;
	struct score s;

	/* half of those that reach an age die before twice that age */
	for (int i = class_of(10); i <= class_of(12 * HOUR); i++) {
		in.ages.deaths[i] = alive / 2;
		alive /= 2;
	}
	born(&in, 40, 0, 24 * HOUR);
	score_make(&in, &s);
	assert_int_equal(s.class, SCORE_CHURN);
}

TEST(a_block_that_realloc_makes_larger_is_growth_and_has_no_siblings)
{
	struct score_input in = site(8 * HOUR);
	struct slope_point series[100];
	struct score s;

	for (int i = 0; i < 100; i++)
		series[i] = (struct slope_point){i * 8 * HOUR / 99, 1000.0 * i};
	born(&in, 1, 0, 60);
	in.moved = 100;
	score_make(&in, &s);
	assert_int_equal(s.class, SCORE_STEADY);
	in.series = series;
	in.series_count = 100;
	score_make(&in, &s);
	assert_int_equal(s.class, SCORE_GROWTH);
	assert_int_equal(s.basis, SCORE_BY_INFLOW);
	assert_true(fabs(s.rate / (99000 / 8.0) - 1) < 0.05);
}

/* Nine that outlive a TTL of an hour say more than nine of a long tail. */
TEST(what_outlives_a_cliff_is_a_leak_sooner)
{
	struct score_input in = site(8 * HOUR);
	struct score s;

	in.ages.deaths[class_of(1700)] = 3000;
	born(&in, 11, 0, 8 * HOUR);
	score_make(&in, &s);
	assert_int_equal(s.class, SCORE_LEAK);
	in.without = SCORE_CLIFF;
	score_make(&in, &s);
	assert_int_equal(s.class, SCORE_CHURN);
	/* half of them die in each doubling: no cliff */
	in.without = 0;
	in.ages.deaths[class_of(1700)] = 20;
	in.ages.deaths[class_of(800)] = 40;
	in.ages.deaths[class_of(400)] = 80;
	score_make(&in, &s);
	assert_int_equal(s.class, SCORE_CHURN);
}

/* 20 of a reload every 100 minutes. */
TEST(a_reload_that_loses_some_is_a_leak)
{
	struct score_input in = site(10 * HOUR);
	struct score s;

	in.ages.deaths[class_of(100 * 60)] = 1500;
	for (int i = 0; i < 6; i++)
		born(&in, 20, i * 100 * 60, i * 100 * 60 + 10);
	score_make(&in, &s);
	assert_int_equal(s.class, SCORE_LEAK);
	in.without = SCORE_BATCHES;
	score_make(&in, &s);
	assert_int_equal(s.class, SCORE_CHURN);
}

TEST(growth_by_fits_is_less_likely_a_leak_for_half_a_day)
{
	static const double hours[] = {8, 14.5};

	for (int h = 0; h < 2; h++) {
		struct score_input in = site(hours[h] * HOUR);
		struct score s;

		for (int i = 0; i < INFLOW_SLOTS; i += 2)
			born(&in, 20, in.until_s * i / INFLOW_SLOTS,
			    in.until_s * (i + 0.9) / INFLOW_SLOTS);
		score_make(&in, &s);
		assert_int_equal(s.class, SCORE_GROWTH);
		assert_int_equal(s.confidence >= SCORE_LIKELY, h == 1);
		in.without = SCORE_FITS;
		score_make(&in, &s);
		assert_true(s.confidence >= SCORE_LIKELY);
	}
}

TEST(the_moment_when_growth_began_is_found)
{
	struct score_input in = site(24 * HOUR);
	struct score s;

	/* with a few before */
	in.ages.deaths[class_of(60)] = 100000;
	born(&in, 5, 0, 10 * HOUR);
	born(&in, 400, 10.4 * HOUR, 24 * HOUR);
	score_make(&in, &s);
	assert_int_equal(s.class, SCORE_LEAK);
	assert_true(fabs(s.began_s / HOUR - 10.4) < 0.2);
	/* nothing before: from the first block on */
	in = site(24 * HOUR);
	in.first_s = 6.2 * HOUR;
	in.ages.life_s -= in.first_s;
	born(&in, 400, 6.2 * HOUR, 24 * HOUR);
	score_make(&in, &s);
	assert_int_equal(s.class, SCORE_GROWTH);
	assert_true(fabs(s.began_s / HOUR - 6.2) < 0.01);
	/* all the time */
	in = site(24 * HOUR);
	born(&in, 400, 0, 24 * HOUR);
	score_make(&in, &s);
	assert_true(s.began_s < 1);
}

/* Traffic that rises in the morning does not begin there. */
TEST(growth_by_day_has_no_knee)
{
	struct inflow_input in = {.until_s = 32 * HOUR, .to_s = 32 * HOUR};
	double at_s = 0;

	for (int i = 0; i < INFLOW_SLOTS; i++)
		in.births[i] = round(100 * (1 + 0.9 * sin(2 * M_PI * (i - 4) / 24)));
	assert_false(knee_find(&in, &at_s));
	/* a group of blocks at once is no growth from then on */
	for (int i = 0; i < INFLOW_SLOTS; i++)
		in.births[i] = i == 20 ? 500 : 0;
	assert_false(knee_find(&in, &at_s));
	for (int i = 0; i < INFLOW_SLOTS; i++)
		in.births[i] = i < 20 ? 0 : i == 20 ? 25 : 100;
	assert_true(knee_find(&in, &at_s));
	assert_true(fabs(at_s / HOUR - 20.75) < 0.01);
}

TEST(a_forecast_needs_ten_minutes_and_a_rate_that_is_not_0)
{
	struct forecast_rate rate = {.bytes = 1e6, .low = 5e5, .high = 2e6, .seen_s = 601};
	struct forecast f;

	assert_true(forecast_make(&rate, 1e7, &f));
	assert_true(
	    fabs(f.hours - 10) < 1e-9 && fabs(f.low - 5) < 1e-9 && fabs(f.high - 20) < 1e-9);
	rate.seen_s = 599;
	assert_false(forecast_make(&rate, 1e7, &f));
	rate.seen_s = 601;
	rate.low = 0;
	assert_false(forecast_make(&rate, 1e7, &f));
	rate.low = -1;
	assert_false(forecast_make(&rate, 1e7, &f));
	rate.low = 5e5;
	assert_false(forecast_make(&rate, 1e6 * 24 * 91, &f)); /* 91 days */
	assert_true(forecast_make(&rate, 0, &f));
	assert_true(f.hours < 1e-9);
}

TEST(nothing_is_said_before_ten_minutes)
{
	struct score_input in = site(590);
	struct score s;

	born(&in, 1000, 0, 590);
	score_make(&in, &s);
	assert_int_equal(s.class, SCORE_NONE);
	assert_null(score_class_key(s.class));
}

TEST(an_interval_contains_the_true_mean)
{
	double low, high;

	/* exact intervals: 0 to 3.69 and 4.80 to 18.39 */
	poisson_interval(0, &low, &high);
	assert_true(low <= 0 && fabs(high - 3.69) < 0.1);
	poisson_interval(10, &low, &high);
	assert_true(fabs(low - 4.80) < 0.05 && fabs(high - 18.39) < 0.05);
	assert_true(fabs(poisson_at_most(2, 3) - 0.4232) < 0.001);
	assert_true(fabs(poisson_at_most(300, 300) - 0.515) < 0.01);
}

TEST(a_slope_ignores_outliers_and_knows_when_it_may_be_zero)
{
	struct slope_point p[200];
	struct slope s;

	for (int i = 0; i < 200; i++)
		p[i] = (struct slope_point){i, 3.0 * i + (i % 17 ? 0 : 1e6)};
	assert_true(slope_make(p, 200, &s));
	assert_true(s.low > 2 && s.high < 4);
	for (int i = 0; i < 200; i++)
		p[i].value = (i * 7919) % 101; /* no trend */
	assert_true(slope_make(p, 200, &s));
	assert_true(s.low <= 0 && s.high >= 0);
	assert_false(slope_make(p, SLOPE_MIN - 1, &s));
}

/* The rate of a site with blocks of this size that grows by 1000 an hour. */
static double rate_of(double size, double map_share)
{
	const struct score site = {.class = SCORE_GROWTH,
	    .blocks = 1000,
	    .bytes = 1000 * size,
	    .has_rate = true,
	    .rate = 1000 * size,
	    .low = 900 * size,
	    .high = 1100 * size};
	struct forecast_rate rate = {.map_share = map_share};

	forecast_add(&rate, &site);
	return rate.bytes / 1000;
}

TEST(a_forecast_counts_what_blocks_take_beside_their_bytes)
{
	const struct score steady = {.class = SCORE_STEADY, .has_rate = true, .rate = 1e9};
	struct forecast_rate rate = {.map_share = 0.25};

	assert_true(fabs(rate_of(1008, 0) - 1024) < 1e-6);
	assert_true(fabs(rate_of(1008, 0.25) - 1280) < 1e-6);
	assert_true(fabs(rate_of(8, 0.5) - 48) < 1e-6);
	/* one page of the live map for a large block */
	assert_true(fabs(rate_of(65528, 0.25) - 65536 - 4096) < 1e-6);
	forecast_add(&rate, &steady);
	assert_true(rate.bytes < 1);
}
