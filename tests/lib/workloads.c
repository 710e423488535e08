/* workloads.c - simulated call stacks of a server, benign ones and leaks, over 48 h. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "workloads.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "mkseg.h"

#define HOUR    3600.0
#define DAY     (24 * HOUR)
#define UNTIL   (WORKLOADS_HOURS * HOUR)
#define FOREVER (100 * DAY)

struct maker {
	uint64_t state, fixed; /* of chance; of the properties of the program */
	struct workloads_site *site;
	double phase; /* of the day */
};

static double next(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return ((double)((z ^ z >> 31) >> 11) + 0.5) * 0x1p-53;
}

static double uniform(struct maker *m)
{
	return next(&m->state);
}

static double exponential(struct maker *m, double mean)
{
	return -mean * log(uniform(m));
}

static double lognormal(struct maker *m, double median, double sigma)
{
	double normal = sqrt(-2 * log(uniform(m))) * cos(6.283185307179586 * uniform(m));

	return median * exp(sigma * normal);
}

static double pareto(struct maker *m, double least, double alpha)
{
	return least * pow(uniform(m), -1 / alpha);
}

/* 0.5 to 2 */
static double jitter(struct maker *m)
{
	return exp2(2 * next(&m->fixed) - 1);
}

static double daylight(const struct maker *m, double t)
{
	return 1 + 0.9 * sin(6.283185307179586 * (t + m->phase) / DAY);
}

static size_t put(struct maker *m, double birth, double life)
{
	struct workloads_site *s = m->site;
	double death = birth + life;

	if (s->count == s->room) {
		s->room = s->room ? 2 * s->room : 1024;
		s->blocks = realloc(s->blocks, s->room * sizeof(*s->blocks));
		assert(s->blocks);
	}
	s->blocks[s->count] = (struct workloads_block){.birth = (uint32_t)(birth * 10),
	    .death = death > FOREVER ? WORKLOADS_NEVER : (uint32_t)(death * 10)};
	return s->count++;
}

/* ---- streams of events ---- */

typedef double lifetime(struct maker *m, const double *p);

/* Poisson events; `lost` of them never die. */
static void stream(struct maker *m, double from, double rate, bool by_day, double lost,
    lifetime *life, const double *p)
{
	double peak = by_day ? rate * 1.9 : rate;

	for (double t = from + exponential(m, 1 / peak); t < UNTIL; t += exponential(m, 1 / peak)) {
		if (by_day && uniform(m) * 1.9 > daylight(m, t))
			continue;
		(void)put(m, t, uniform(m) < lost ? 2 * FOREVER : life(m, p));
	}
}

static double forever(struct maker *m, const double *p)
{
	(void)m;
	(void)p;
	return 2 * FOREVER;
}

static double constant(struct maker *m, const double *p)
{
	(void)m;
	return p[0];
}

static double by_exponential(struct maker *m, const double *p)
{
	return exponential(m, p[0]);
}

static double by_lognormal(struct maker *m, const double *p)
{
	return lognormal(m, p[0], p[1]);
}

static double by_pareto(struct maker *m, const double *p)
{
	return pareto(m, p[0], p[1]);
}

static double by_two(struct maker *m, const double *p)
{
	return exponential(m, uniform(m) < p[0] ? p[1] : p[2]);
}

/* ---- the benign ones ---- */

static void start_up(struct maker *m)
{
	int n = (int)(500 * jitter(m));

	for (int i = 0; i < n; i++)
		(void)put(m, 30 * jitter(m) * i / n, 2 * FOREVER);
}

static void cache_to_a_bound(struct maker *m)
{
	size_t bound = (size_t)(2000 * jitter(m));
	double gap = 10 * jitter(m);

	for (double t = 0; t < UNTIL && m->site->count < bound; t += exponential(m, gap))
		(void)put(m, t, 2 * FOREVER);
}

static void finite_keys(struct maker *m)
{
	double keys = 3000 * jitter(m), gap = 3.3 * jitter(m);

	for (double t = 0; t < UNTIL; t += exponential(m, gap))
		if (uniform(m) * keys > (double)m->site->count)
			(void)put(m, t, 2 * FOREVER);
}

/* The oldest, or any one, makes room; no work at night if there are nights. */
static void cache(
    struct maker *m, double bound_mean, double gap_mean, bool any, bool nights, double lost)
{
	size_t bound = (size_t)(bound_mean * jitter(m)), n = 0, next = 0;
	double gap = gap_mean * jitter(m);
	size_t *in = calloc(bound + 1, sizeof(*in));

	assert(in);
	for (double t = 0; t < UNTIL; t += exponential(m, gap)) {
		if (nights && daylight(m, t) < 0.5)
			continue;
		if (n == bound) {
			size_t out = any ? (size_t)(uniform(m) * (double)bound) : next++ % bound;

			if (uniform(m) >= lost)
				m->site->blocks[in[out]].death = (uint32_t)(t * 10);
			in[out] = put(m, t, 2 * FOREVER);
		} else {
			in[n++] = put(m, t, 2 * FOREVER);
		}
	}
	free(in);
}

static void lru(struct maker *m)
{
	cache(m, 1000, 5, false, false, 0);
}

static void by_day(struct maker *m)
{
	double p[] = {5 * jitter(m), 1};

	stream(m, 0, jitter(m), true, 0, by_lognormal, p);
}

static void lognormal_connections(struct maker *m)
{
	double p[] = {60 * jitter(m), 2};

	stream(m, 0, 0.05 * jitter(m), false, 0, by_lognormal, p);
}

static void pareto_1(struct maker *m)
{
	double p[] = {10 * jitter(m), 1};

	stream(m, 0, 0.05 * jitter(m), false, 0, by_pareto, p);
}

static void pareto_07(struct maker *m)
{
	double p[] = {10 * jitter(m), 0.7};

	stream(m, 0, 0.05 * jitter(m), false, 0, by_pareto, p);
}

static void bimodal(struct maker *m)
{
	double p[] = {0.9, jitter(m), 2 * HOUR * jitter(m)};

	stream(m, 0, 0.1 * jitter(m), false, 0, by_two, p);
}

static void ttl_6h(struct maker *m)
{
	double p[] = {6 * HOUR * jitter(m)};

	stream(m, 0, 0.05 * jitter(m), false, 0, constant, p);
}

static void ttl_24h(struct maker *m)
{
	double p[] = {24 * HOUR * jitter(m)};

	stream(m, 0, 0.05 * jitter(m), false, 0, constant, p);
}

/* Concurrency follows the day; the pool has what was needed at most so far. */
static void high_water_pool(struct maker *m)
{
	double mean = 200 * jitter(m), stay = 60 * jitter(m), now = 0;
	size_t pool = 0;

	for (double t = 0; t < UNTIL;) {
		double in = mean * daylight(m, t) / stay, out = now / stay;

		t += exponential(m, 1 / (in + out));
		now += uniform(m) * (in + out) < in ? 1 : -1;
		for (; (double)pool < now; pool++)
			(void)put(m, t, 2 * FOREVER);
	}
}

static void reload(struct maker *m, double every, double lost)
{
	int n = (int)(300 * jitter(m));

	every *= jitter(m);
	for (double t = 0; t < UNTIL; t += every)
		for (int i = 0; i < n; i++)
			(void)put(m, t, uniform(m) < lost ? 2 * FOREVER : every);
}

static void reloads(struct maker *m)
{
	reload(m, 3 * HOUR, 0);
}

static void hourly_batch(struct maker *m)
{
	int n = (int)(500 * jitter(m));
	double takes = 600 * jitter(m);

	for (double t = 60; t < UNTIL; t += HOUR)
		for (int i = 0; i < n; i++)
			(void)put(m, t + i * 0.1, takes * uniform(m));
}

static void growing_vector(struct maker *m)
{
	struct workloads_site *s = m->site;
	double gap = 60 * jitter(m), room = 16, used = 0;

	(void)put(m, 1, 2 * FOREVER);
	s->moves = calloc(64, sizeof(*s->moves));
	assert(s->moves);
	for (double t = 1; t < UNTIL; t += exponential(m, gap)) {
		if (++used < room || s->move_count == 64)
			continue;
		room *= 2;
		s->moves[s->move_count++] = (uint32_t)(t * 10);
	}
}

static void rare_long_workers(struct maker *m)
{
	double gap = 2 * HOUR * jitter(m), stay = 5 * HOUR * jitter(m);
	int each = (int)(20 * jitter(m));

	for (double t = 0; t < UNTIL; t += exponential(m, gap)) {
		double life = exponential(m, stay);

		for (int i = 0; i < each; i++)
			(void)put(m, t, life);
	}
}

static void random_eviction(struct maker *m)
{
	cache(m, 1000, 5, true, false, 0);
}

static void lru_with_nights(struct maker *m)
{
	cache(m, 1000, 5, false, true, 0);
}

static void step_at_20h(struct maker *m)
{
	int n = (int)(1000 * jitter(m));

	for (int i = 0; i < n; i++)
		(void)put(m, 100.0 * i / n, 2 * FOREVER);
	for (int i = 0; i < n; i++)
		(void)put(m, 20 * HOUR + 100.0 * i / n, 2 * FOREVER);
}

static void short_buffers(struct maker *m)
{
	double p[] = {0.05 * jitter(m)};

	stream(m, 0, jitter(m), false, 0, by_exponential, p);
}

/* They come, and a few leave: half of them within a week. */
static void tenants(struct maker *m)
{
	double gap = HOUR / 2 * jitter(m), stay = 10 * DAY * jitter(m);
	int each = (int)(5 * jitter(m));

	for (double t = 0; t < UNTIL; t += exponential(m, gap)) {
		double life = exponential(m, stay);

		for (int i = 0; i < each; i++)
			(void)put(m, t, life);
	}
}

/* ---- leaks ---- */

static void leak_fast(struct maker *m)
{
	stream(m, 0, 2 * jitter(m), false, 0, forever, NULL);
}

static void leak_each_minute(struct maker *m)
{
	stream(m, 0, jitter(m) / 60, false, 0, forever, NULL);
}

static void leak_each_20_min(struct maker *m)
{
	stream(m, 0, jitter(m) / 1200, false, 0, forever, NULL);
}

static void leak_by_day(struct maker *m)
{
	stream(m, 0, 0.05 * jitter(m), true, 0, forever, NULL);
}

static void leak_error_path(struct maker *m)
{
	double p[] = {jitter(m)};

	stream(m, 0, 3 * jitter(m), false, 0.001, by_exponential, p);
}

static void leak_half_percent_by_day(struct maker *m)
{
	double p[] = {5 * jitter(m), 1};

	stream(m, 0, jitter(m), true, 0.005, by_lognormal, p);
}

static void leak_reload(struct maker *m)
{
	reload(m, HOUR, 0.05);
}

static void leak_pareto(struct maker *m)
{
	double p[] = {10 * jitter(m), 1};

	stream(m, 0, 0.05 * jitter(m), false, 0.01, by_pareto, p);
}

static void leak_lru(struct maker *m)
{
	cache(m, 1000, 2, false, false, 0.001);
}

static void leak_ttl(struct maker *m)
{
	double p[] = {HOUR * jitter(m)};

	stream(m, 0, 0.05 * jitter(m), false, 0.01, constant, p);
}

static void leak_from_10h(struct maker *m)
{
	double p[] = {5 * jitter(m)};
	double rate = 0.5 * jitter(m);
	size_t n;

	stream(m, 0, rate, false, 0.01, by_exponential, p);
	n = m->site->count;
	for (size_t i = 0; i < n; i++)
		if (m->site->blocks[i].birth < 10 * HOUR * 10 &&
		    m->site->blocks[i].death == WORKLOADS_NEVER)
			m->site->blocks[i].death = m->site->blocks[i].birth + 50;
}

static void leak_bimodal(struct maker *m)
{
	double p[] = {0.9, jitter(m), 2 * HOUR * jitter(m)};

	stream(m, 0, 0.1 * jitter(m), false, 0.005, by_two, p);
}

/* ---- all ---- */

static const struct kind {
	const char *name;
	void (*make)(struct maker *m);
	bool is_leak;
} kinds[WORKLOADS] = {
    {"start-up", start_up, false},
    {"cache to a bound", cache_to_a_bound, false},
    {"finite set of keys", finite_keys, false},
    {"LRU", lru, false},
    {"requests by day", by_day, false},
    {"lognormal connections", lognormal_connections, false},
    {"Pareto connections, alpha 1", pareto_1, false},
    {"Pareto connections, alpha 0.7", pareto_07, false},
    {"bimodal", bimodal, false},
    {"TTL of 6 h", ttl_6h, false},
    {"TTL of 24 h", ttl_24h, false},
    {"pool at its high-water mark", high_water_pool, false},
    {"reloads", reloads, false},
    {"hourly batch", hourly_batch, false},
    {"growing vector", growing_vector, false},
    {"rare long workers", rare_long_workers, false},
    {"random eviction", random_eviction, false},
    {"LRU with idle nights", lru_with_nights, false},
    {"step at 20 h", step_at_20h, false},
    {"short buffers", short_buffers, false},
    {"tenants", tenants, false},
    {"all blocks, fast", leak_fast, true},
    {"all blocks, each minute", leak_each_minute, true},
    {"all blocks, each 20 min", leak_each_20_min, true},
    {"all blocks, by day", leak_by_day, true},
    {"error path 0.1 %", leak_error_path, true},
    {"0.5 % by day", leak_half_percent_by_day, true},
    {"a reload loses 5 %", leak_reload, true},
    {"1 % of Pareto connections", leak_pareto, true},
    {"LRU forgets 0.1 %", leak_lru, true},
    {"TTL forgets 1 %", leak_ttl, true},
    {"1 % from 10 h on", leak_from_10h, true},
    {"bimodal 0.5 %", leak_bimodal, true},
};

const char *workloads_name(int kind)
{
	return kinds[kind].name;
}

bool workloads_is_leak(int kind)
{
	return kinds[kind].is_leak;
}

void workloads_make(int kind, uint64_t seed, uint64_t life, struct workloads_site *ret)
{
	uint64_t fixed = (seed * WORKLOADS + (uint64_t)kind) << 20;
	struct maker m = {.site = ret, .fixed = fixed, .state = fixed + 512 + life};

	*ret = (struct workloads_site){0};
	m.state ^= (uint64_t)(uniform(&m) * 0x1p62); /* another sequence */
	ret->size = (uint32_t)(200 * jitter(&m));
	m.phase = DAY * next(&m.fixed);
	kinds[kind].make(&m);
}

void workloads_release(struct workloads_site *s)
{
	free(s->blocks);
	free(s->moves);
	*s = (struct workloads_site){0};
}

/* ---- a segment ---- */

static void count_death(struct mkseg *m, uint32_t id, uint32_t age)
{
	if (age == 0)
		return; /* known by the sums alone */
	if (age < SEG_YOUNG_TICKS)
		mkseg_ages(m, 1, id)->deaths[seg_age_step(age)]++;
	else
		mkseg_info(m, id)->ages[seg_age_bucket(age)]++;
}

static void write_site(
    struct mkseg *m, const struct workloads_site *s, size_t number, uint32_t tick)
{
	const uint64_t frame = MKSEG_FRAME(1, 0x1000 + 16 * number);
	uint32_t id = mkseg_stack(m, &frame, 1);
	uint64_t born = 0, died = 0, moved = 0;
	struct seg_live *live = mkseg_live(m, id);
	struct seg_info *info = mkseg_info(m, id);

	while (moved < s->move_count && s->moves[moved] < tick)
		moved++;
	if (s->moves)
		mkseg_site(m, id)->api = SEG_API_REALLOC;
	mkseg_site(m, id)->first_tick = s->count ? s->blocks[0].birth : 0;
	for (size_t i = 0; i < s->count; i++) {
		const struct workloads_block *b = &s->blocks[i];

		if (b->birth >= tick)
			break;
		born++;
		if (b->death < tick) {
			died++;
			count_death(m, id, b->death - b->birth);
			continue;
		}
		live->births[seg_birth_slot(b->birth, tick)]++;
		if (tick - b->birth < SEG_YOUNG_TICKS)
			live->young++;
		else
			live->ages[seg_age_bucket(tick - b->birth)]++;
		live->blocks++;
		live->bytes += s->size;
	}
	live->size_min = live->size_max = s->size;
	live->sizes[seg_size_class(s->size)] = (uint32_t)live->blocks;
	if (died > 60) {
		info->freed_by[0] = MKSEG_FRAME(1, 0x2000);
		info->freed_by_count[0] = (uint16_t)(died % 1000 + 1);
	}
	mkseg_book(m, 1, id, born + moved, s->size, died + moved);
}

struct mkseg *workloads_segment(const struct workloads_site *sites, size_t count, uint32_t tick)
{
	struct mkseg *m = mkseg_new();
	struct seg_header *h = mkseg_header(m);

	(void)mkseg_module(m, "/bin/host", 0);
	h->tick = tick;
	h->end_tick = tick;
	h->counted_ticks = SEG_COUNTED_TICKS;
	h->end_kind = SEG_END_EXITED;
	for (size_t i = 0; i < count; i++)
		write_site(m, &sites[i], i, tick);
	return m;
}
