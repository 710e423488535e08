/* test_c_sample.c - promises of sample.h, held against libm. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "test.h"
#include "collector/heap/sample.h"

TEST(weights_are_one_over_the_probability)
{
	static const uint64_t rates[] = {1, 100, 4096, 524288, 1 << 30};
	size_t i;

	for (i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
		uint64_t size;

		assert_true(sample_init(rates[i]));
		for (size = 1; size < UINT64_C(1) << 40; size += size / 7 + 1) {
			double p = -expm1(-(double)size / (double)rates[i]);
			double w = (double)sample_weight(size) / 65536;

			/* sixteen bits of fraction are all there is */
			assert_true(fabs(w - 1 / p) <= 2e-5 + 1e-8 / p);
		}
	}
}

TEST(distances_are_exponential_with_the_mean_asked_for)
{
	enum { N = 200000 };
	uint64_t rng = 88172645463325252u;
	double sum = 0, squares = 0, mean, deviation;
	int i, above = 0;

	assert_true(sample_init(524288));
	for (i = 0; i < N; i++) {
		double d = (double)sample_distance(&rng);

		sum += d;
		squares += d * d;
		above += d > 524288;
	}
	mean = sum / N;
	deviation = sqrt(squares / N - mean * mean);
	/* four standard errors */
	assert_true(fabs(mean - 524288) < 4 * 524288 / sqrt(N));
	assert_true(fabs(deviation - 524288) < 524288 * 0.02);
	assert_true(fabs(above / (double)N - exp(-1)) < 0.005);
}

/* One process of the given block size; returns estimate / truth. */
static double estimate(uint64_t size, uint64_t *rng, int blocks)
{
	int64_t left = sample_distance(rng);
	double bytes = 0;
	int i;

	for (i = 0; i < blocks; i++) {
		left -= (int64_t)size;
		if (left >= 0)
			continue;
		bytes += (double)sample_weight(size) / 65536 * (double)size;
		left = sample_distance(rng);
	}
	return bytes / ((double)size * blocks);
}

TEST(estimates_are_unbiased_for_small_and_for_large_blocks)
{
	static const uint64_t sizes[] = {16, 1000, 100000, 524288, 5000000};
	uint64_t rng = 1234567;
	size_t i;

	assert_true(sample_init(65536));
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		double sum = 0;
		int k;

		for (k = 0; k < 50; k++)
			sum += estimate(sizes[i], &rng, (int)(20000000 / sizes[i]) + 400);
		assert_true(fabs(sum / 50 - 1) < 0.03);
	}
}

TEST(the_stated_error_covers_the_truth)
{
	enum { RUNS = 400, BLOCKS = 30000 };
	uint64_t rng = 42;
	int k, inside = 0;

	assert_true(sample_init(65536));
	for (k = 0; k < RUNS; k++) {
		double bytes = 0, variance = 0, truth = 0;
		int64_t left = sample_distance(&rng);
		int i;

		for (i = 0; i < BLOCKS; i++) {
			uint64_t size = 8 + (uint64_t)(i * 37 % 3000);
			uint64_t w;

			truth += (double)size;
			left -= (int64_t)size;
			if (left >= 0)
				continue;
			w = sample_weight(size);
			bytes += (double)w / 65536 * (double)size;
			variance += (double)sample_variance(size, w);
			left = sample_distance(&rng);
		}
		inside += fabs(bytes - truth) <= 1.96 * sqrt(variance);
	}
	assert_true(inside >= RUNS * 93 / 100);
}

TEST(the_filter_never_denies_what_was_entered)
{
	uintptr_t i;

	assert_true(sample_init(4096));
	for (i = 1; i < 300000; i++)
		sample_enter((void *)(i * 4096));
	for (i = 1; i < 300000; i++)
		assert_true(sample_maybe((void *)(i * 4096)));
	for (i = 1; i < 300000; i++)
		sample_remove((void *)(i * 4096));
	assert_false(sample_maybe((void *)(uintptr_t)(17 * 4096)));
}
