/* sample.c - Poisson sampling by bytes: when, and what a sample stands for. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/heap/sample.h"

#include "collector/segment/mem.h"

#define ONE (UINT64_C(1) << 63) /* 1.0 as Q63 */

typedef seg_wide wide;

enum {
	LOG_BITS = 32,     /* of the fraction of a logarithm */
	FRACTION_BITS = 8, /* of x that go through the table */
	CERTAIN = 44,      /* exp(-44) is 0 in Q63 */
};

/* exp(-1), exp(-1/2), exp(-1/4), ... exp(-1/256) */
static const uint64_t exponentials[FRACTION_BITS + 1] = {
    UINT64_C(0x2f16ac6c59de6f8d),
    UINT64_C(0x4da2cbf1be5827fa),
    UINT64_C(0x63afbe7ab2082ba2),
    UINT64_C(0x70f5a893b608861e),
    UINT64_C(0x783eafef1c0a8f39),
    UINT64_C(0x7c0fd5aa22d75e45),
    UINT64_C(0x7e03faaffbbe924a),
    UINT64_C(0x7f00ff55aa8893e6),
    UINT64_C(0x7f803feaaffeef1c),
};

uint8_t *sample_filter SEEP_HOT;
uint32_t sample_bits SEEP_HOT = SAMPLE_BITS_MIN;
static uint64_t entered; /* samples in the filters */
static uint64_t rate;

bool sample_init(uint64_t rate_bytes)
{
	rate = rate_bytes;
	if (rate && !sample_filter)
		sample_filter = mem_alloc(2u << SAMPLE_BITS_MAX);
	return !rate || sample_filter;
}

uint64_t sample_rate(void)
{
	return rate;
}

static uint64_t multiply(uint64_t a, uint64_t b)
{
	return (uint64_t)((wide)a * b >> 63);
}

/* 1 - exp(-x) for x below 1/256: x (1 - x/2 (1 - x/3 (1 - x/4 ...))) */
static uint64_t small_one_minus_exp(uint64_t x)
{
	uint64_t v = ONE - x / 6;

	v = ONE - multiply(x / 5, v);
	v = ONE - multiply(x / 4, v);
	v = ONE - multiply(x / 3, v);
	v = ONE - multiply(x / 2, v);
	return multiply(x, v);
}

/* p(size), Q63 */
static uint64_t probability(uint64_t size)
{
	uint64_t whole = size / rate;
	uint64_t x = (uint64_t)(((wide)(size % rate) << 63) / rate);
	uint64_t rest = x & ((ONE >> FRACTION_BITS) - 1);
	uint64_t e = ONE;
	int k;

	if (whole >= CERTAIN)
		return ONE;
	if (!whole && rest == x)
		return small_one_minus_exp(x);
	for (k = 1; k <= FRACTION_BITS; k++) {
		if (x & (ONE >> k))
			e = multiply(e, exponentials[k]);
	}
	e = multiply(e, ONE - small_one_minus_exp(rest));
	while (whole--)
		e = multiply(e, exponentials[0]);
	return ONE - e;
}

/* For sizes or rates beyond all reason the result is the largest number. */
static uint64_t narrow(wide v)
{
	return v > UINT64_MAX ? UINT64_MAX : (uint64_t)v;
}

uint64_t sample_weight(uint64_t size)
{
	uint64_t p = probability(size ? size : 1);

	return narrow(((wide)ONE << 16) / (p ? p : 1));
}

seg_wide sample_variance(uint64_t size, uint64_t weight)
{
	wide w = weight;

	/* (s w)(s (w - 1)), each with 16 bits of fraction to drop */
	return (wide)narrow((wide)size * w >> 16) * narrow((wide)size * (w - (1 << 16)) >> 16);
}

/* xorshift64*: good enough to place points */
static uint64_t random_word(uint64_t *rng)
{
	uint64_t x = *rng;

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	*rng = x;
	return x * UINT64_C(0x2545F4914F6CDD1D);
}

int64_t sample_distance(uint64_t *rng)
{
	uint64_t u = random_word(rng) | 1;
	int zeros = __builtin_clzll(u);
	uint64_t m = u << zeros; /* mantissa, 1.0 to 2.0 as Q63 */
	uint64_t log = (uint64_t)(zeros + 1) << LOG_BITS;
	wide bytes;
	int i;

	/* log2 of the mantissa, bit by bit: square, is it 2 or more? */
	for (i = LOG_BITS - 1; i >= 0; i--) {
		wide square = (wide)m * m >> 63;

		if (square >> 64) {
			log -= UINT64_C(1) << i;
			square >>= 1;
		}
		m = (uint64_t)square;
	}
	/* -ln(u) rate = -log2(u) ln(2) rate; ln(2) as Q32 */
	bytes = (wide)log * UINT64_C(2977044472) * rate >> (LOG_BITS + 32);
	return bytes > INT64_MAX / 2 ? INT64_MAX / 2 : (int64_t)bytes + 1;
}

static void count(uint8_t *slot, int by)
{
	uint8_t n = LOAD(slot);

	while (n != UINT8_MAX && (by > 0 || n) && !CAS(slot, &n, (uint8_t)(n + by)))
		;
}

void sample_enter(const void *p)
{
	uint32_t bits = LOAD(&sample_bits);

	/*
	 * if more than 1/64 of a filter is in use, the next larger one is asked
	 */
	if (ADD(&entered, 1) >> (bits - 6) && bits < SAMPLE_BITS_MAX)
		CAS(&sample_bits, &bits, bits + SAMPLE_BITS_STEP);
	for (bits = SAMPLE_BITS_MIN; bits <= SAMPLE_BITS_MAX; bits += SAMPLE_BITS_STEP)
		count(sample_slot(p, bits), 1);
}

void sample_remove(const void *p)
{
	uint32_t bits;

	ADD(&entered, UINT64_MAX);
	for (bits = SAMPLE_BITS_MIN; bits <= SAMPLE_BITS_MAX; bits += SAMPLE_BITS_STEP)
		count(sample_slot(p, bits), -1);
}
