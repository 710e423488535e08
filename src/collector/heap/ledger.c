/* ledger.c - the counters of sites, and the peak, in O(1) per event. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/heap/ledger.h"

#include <stddef.h>

#include "base/cpu/cpu.h"
#include "collector/heap/site_info.h"
#include "collector/heap/ledger_hit.h"
#include "collector/unwind/module.h"
#include "collector/heap/sample.h"
#include "collector/segment/tick.h"

enum {
	CHUNKS_PER_LOOK = 64, /* at the clock, by ledger_events() */
	TIMED_PEAK_BITS = 10,
};

_Static_assert(SEG_EXTENT_STEP / sizeof(struct seg_row) == 128, "row chunks");
_Static_assert(SEG_EXTENT_STEP / sizeof(struct seg_ages) == 256, "age chunks");

/*
 * Written by its owner at every event: a cache line each, and not the other
 * half of a pair that the CPU fetches together either.
 */
struct net {
	int64_t bytes;
	uint8_t pad[120];
} __attribute__((aligned(128)));

_Static_assert(offsetof(struct seg_row, size_min) % 8 == 0 &&
        offsetof(struct seg_row, size_span) == offsetof(struct seg_row, size_min) + 4,
    "one word");

static struct net nets[LEDGER_ARRAYS];
static struct segment_table arrays[LEDGER_ARRAYS];
static struct segment_table samples[LEDGER_ARRAYS];
static struct segment_table ages[LEDGER_ARRAYS]; /* of the young dead */
/* arrays below it have a shape: those of the first sixteen threads always do */
static uint32_t shaped = SEG_ARRAYS;
static struct segment_table inherited, lives;
static uint32_t arrays_used; /* highest array in use + 1 */
static uint32_t arrays_count;
static uint32_t first;

uint64_t ledger_word SEEP_HOT __attribute__((aligned(64))) = UINT64_C(1) << 32;
static int64_t peak;
static int64_t timed_peak; /* the peak when its time was last looked up */
static int64_t granted;    /* of the headroom, to threads, since the last guard */

static void shape(uint32_t i)
{
	const uint32_t owner = i < SEG_ARRAYS ? i : i - SEG_ARRAYS + SEG_MORE_ARRAYS;

	nets[i].bytes = 0;
	segment_table_shape(
	    &arrays[i], SEG_EXT_LEDGER, owner, sizeof(struct seg_row), first, SITES_MAX);
	segment_table_shape(
	    &samples[i], SEG_EXT_SAMPLE, owner, sizeof(struct seg_sample), first, SITES_MAX);
	segment_table_shape(
	    &ages[i], SEG_EXT_AGES, owner, sizeof(struct seg_ages), first, SITES_MAX);
}

bool ledger_init(uint32_t first_id)
{
	uint32_t i;

	first = first_id;
	peak = 0;
	timed_peak = 0;
	granted = 0;
	ledger_word = UINT64_C(1) << 32;
	arrays_used = 0;
	arrays_count = 0;
	/* in a forked child those of the parent's threads, too */
	for (i = 0; i < shaped; i++)
		shape(i);
	lives = (struct segment_table){0}; /* it gets its shape at the exit */
	segment.header->peak_epoch = 1;
	/* the rare ones get their chunk pointers when first needed */
	return site_info_init(first_id) &&
	    (first_id == 1 ||
	        segment_table_init(
	            &inherited, SEG_EXT_INHERITED, 0, sizeof(struct seg_inherited), 0, first_id));
}

static bool open_array(uint32_t i)
{
	if (!segment_table_map(&arrays[i]))
		return false;
	RAISE(&arrays_used, i + 1);
	return true;
}

static int64_t total_now(void)
{
	uint32_t i, n = LOAD(&arrays_used);
	int64_t total = 0;

	for (i = 0; i < n && i < LEDGER_ARRAYS; i++)
		total += LOAD(&nets[i].bytes);
	return total;
}

int64_t ledger_live_bytes(void)
{
	return total_now();
}

/* Everyone takes a new share at its next event. */
static void bump_guard(void)
{
	uint64_t w = LOAD(&ledger_word);
	uint64_t next;

	do
		next = (w & ~UINT64_C(0xffffffff)) | (uint32_t)(w + 1);
	while (!CAS(&ledger_word, &w, next));
}

/* A new maximum: the values of this moment are what the peak is made of. */
static void new_peak(int64_t total)
{
	int64_t old = LOAD(&peak);
	uint64_t word;

	do {
		if (total <= old)
			return;
	} while (!CAS(&peak, &old, total));
	/*
	 * The last 64 events of this thread may have taken hours. A look for
	 * each new maximum would cost a growing heap 5 ns a block, so the time
	 * of the peak may be that of a total that was less by a thousandth.
	 */
	if (total - LOAD(&timed_peak) > total >> TIMED_PEAK_BITS) {
		STORE(&timed_peak, total);
		tick_read();
	}
	word = ADD(&ledger_word, UINT64_C(1) << 32) + (UINT64_C(1) << 32);
	STORE(&segment.header->peak_bytes, (uint64_t)total);
	STORE(&segment.header->peak_tick, tick_now());
	STORE_RELEASE(&segment.header->peak_epoch, word >> 32);
}

/* How far a thread may grow before it must sum again. */
static void take_share(struct thread *t, int64_t total)
{
	const uint64_t word = LOAD(&ledger_word);
	int64_t n = LOAD(&arrays_count);
	int64_t headroom = LOAD(&peak) - total;
	int64_t share, least;

	/*
	 * What it was granted before is used up, or void and not counted. The
	 * only thread was granted nothing; in a growing heap it comes here at
	 * each allocation, so it is spared the locked instruction.
	 */
	if (t->ledger.grant && (uint32_t)word == (uint32_t)t->ledger.seen &&
	    LOAD(&granted) >= t->ledger.grant)
		ADD(&granted, -t->ledger.grant);
	ledger_saw(t, word);
	if (n == 1) {
		t->ledger.grant = 0;
		t->ledger.high = *t->ledger.net + headroom;
		return;
	}
	share = (headroom - LOAD(&granted)) / 2;
	least = total / (512 * n);
	t->ledger.grant = share > least ? share : least;
	ADD(&granted, t->ledger.grant);
	t->ledger.high = *t->ledger.net + t->ledger.grant;
}

/* Is too little left to grant, because others have it? */
static bool is_granted(int64_t total)
{
	const int64_t headroom = LOAD(&peak) - total, out = LOAD(&granted);

	return out > total / 1024 && headroom - out < headroom / 4;
}

SEEP_NOINLINE void ledger_peak(struct thread *t)
{
	int64_t total = total_now();

	if (total > LOAD(&peak))
		new_peak(total);
	if (LOAD(&arrays_count) > 1 && is_granted(total)) {
		/* in this order: what is granted in between is void, but counts */
		STORE(&granted, 0);
		bump_guard();
	}
	take_share(t, total);
}

SEEP_NOINLINE void ledger_sync(struct thread *t)
{
	uint64_t word = LOAD(&ledger_word);

	/* an epoch alone does not concern the share */
	if ((uint32_t)word != (uint32_t)t->ledger.seen)
		take_share(t, total_now());
	else
		ledger_saw(t, word);
}

static void join(struct thread *t, uint32_t array)
{
	t->ledger.rows = LOAD_ACQUIRE(&arrays[array].chunks);
	t->ledger.ages = LOAD_ACQUIRE(&ages[array].chunks);
	t->ledger.array = array;
	t->ledger.first_id = first;
	t->ledger.grant = 0;
	ADD(&arrays_count, 1);
	STORE(&segment.header->threads, LOAD(&arrays_count));
	bump_guard();
	take_share(t, total_now());
}

bool ledger_claim(struct thread *t, uint32_t array)
{
	/* only the claiming thread uses an array that has no shape yet */
	/* cppcheck-suppress arrayIndexOutOfBoundsCond ; it is below LEDGER_ARRAYS */
	if (array >= SEG_ARRAYS && !arrays[array].row_bytes) {
		shape(array);
		RAISE(&shaped, array + 1);
	}
	if (!open_array(array))
		return false;
	t->ledger.net = &nets[array].bytes;
	t->ledger.own_net = LOAD(t->ledger.net); /* counts while it takes the slow way */
	join(t, array);
	return true;
}

bool ledger_share(struct thread *t, uint32_t array)
{
	if (!open_array(array))
		return false;
	t->ledger.own_net = 0;
	t->ledger.net = &t->ledger.own_net;
	join(t, array);
	return true;
}

SEEP_COLD struct seg_row *ledger_row_slow(struct thread *t, uint32_t site)
{
	site_info_expect(site);
	return segment_table_row(&arrays[t->ledger.array], site - first);
}

/*
 * The row cannot tell sizes from 2^32 - 1 on apart. It never includes one
 * above, so all of these come here.
 */
SEEP_COLD static void large_size(uint32_t site, uint64_t size)
{
	struct seg_info *info = site_info_get(site);
	uint64_t least;

	if (!info) {
		segment_count(SEG_LOST_SIZES, 1);
		return;
	}
	RAISE(&info->size_max, size);
	least = LOAD(&info->size_min);
	while ((!least || size < least) && !CAS(&info->size_min, &least, size))
		;
}

/* Called when the size is outside of what the row has seen. */
SEEP_NOINLINE void ledger_sizes(struct seg_row *row, uint32_t site, uint64_t size)
{
	uint32_t small = size > UINT32_MAX ? UINT32_MAX : (uint32_t)size;

	if (size >= UINT32_MAX)
		large_size(site, size);
	if (!row->allocations) {
		row->size_min = small;
		row->size_span = 0;
		return;
	}
	if (small < row->size_min) {
		row->size_span += row->size_min - small;
		row->size_min = small;
	} else if (small - row->size_min > row->size_span) {
		row->size_span = small - row->size_min;
	}
}

typedef uint64_t __attribute__((may_alias)) both_sizes;

/* The same where several threads may be at it: both figures at once. */
static void sizes_shared(struct seg_row *row, uint32_t site, uint64_t size)
{
	both_sizes *both = (both_sizes *)(void *)&row->size_min;
	uint64_t old = LOAD(both), next;
	struct seg_row now = {.allocations = 0};

	do {
		now.size_min = (uint32_t)old;
		now.size_span = (uint32_t)(old >> 32);
		/* somebody may have set them who has not counted yet */
		now.allocations = old ? 1 : LOAD(&row->allocations);
		ledger_sizes(&now, site, size);
		next = (uint64_t)now.size_span << 32 | now.size_min;
	} while (next != old && !CAS(both, &old, next));
}

/* Where a thread that owns nothing books; nested events have the last one. */
static uint32_t array_of(const struct thread *t)
{
	return t ? t->ledger.array : SEG_ARRAYS - 1;
}

static bool young_death(struct thread *t, uint32_t site, uint32_t age)
{
	struct segment_table *table = &ages[array_of(t)];
	struct seg_ages *row;

	if (!segment_table_map(table))
		return false;
	if (t)
		t->ledger.ages = LOAD_ACQUIRE(&table->chunks);
	row = segment_table_row(table, site - first);
	if (!row)
		return false;
	ADD(&row->deaths[seg_age_step(age)], 1);
	return true;
}

static bool old_death(uint32_t site, uint32_t age)
{
	const uint32_t i = seg_age_bucket(age);
	struct seg_info *info = site_info_get(site);

	if (!info)
		return false;
	if (unlikely(ADD(&info->ages[i], 1) == UINT32_MAX))
		ADD(&info->ages_high[i], 1);
	return true;
}

SEEP_NOINLINE void ledger_age(struct thread *t, uint32_t site, uint32_t age)
{
	if (ledger_is_inherited(site))
		return;
	if (!(age < SEG_YOUNG_TICKS ? young_death(t, site, age) : old_death(site, age)))
		segment_count(SEG_LOST_AGES, 1);
}

static uint64_t frame_of(uint64_t pc)
{
	const struct module *m = module_of(pc - 1);

	return SEG_FRAME_PC(pc) | (m ? (uint64_t)m->number << 48 : 0);
}

/* Makes room in a counter of 16 bits. */
static SEEP_COLD void halve_counts(struct seg_info *info)
{
	int i;

	for (i = 0; i < SEG_FREERS; i++)
		STORE(&info->freed_by_count[i], (uint16_t)(LOAD(&info->freed_by_count[i]) / 2));
}

/* A caller that is new takes the place of the rarest. */
static SEEP_COLD int replace_freer(struct seg_info *info, uint64_t pc)
{
	int i, least = 0;

	for (i = 1; i < SEG_FREERS; i++)
		if (LOAD(&info->freed_by_count[i]) < LOAD(&info->freed_by_count[least]))
			least = i;
	STORE(&info->freed_by[least], frame_of(pc));
	return least;
}

/*
 * The record of a site, made where there is room to spare; else NULL. A system
 * call that nobody needs would end a host in seccomp's strict mode.
 */
static SEEP_COLD struct seg_info *make_info(uint32_t site)
{
	struct seg_info *info = segment_has_spare() ? site_info_get(site) : NULL;

	if (!info)
		segment_count(SEG_LOST_FREERS, 1);
	return info;
}

/*
 * Threads that do this at once may each lose the other's count: it is a sample
 * in any case, and no lock is worth it.
 */
SEEP_NOINLINE void ledger_freed_by(uint32_t site, uint64_t pc)
{
	struct seg_info *info;
	uint16_t count;
	int i;

	/* the first events of a forked child have little memory */
	if (site - first >= SITES_MAX || segment.memory.anonymous || !pc)
		return;
	info = site_info_peek(site);
	if (unlikely(!info))
		info = make_info(site);
	if (unlikely(!info))
		return;
	for (i = 0; SEG_FRAME_PC(LOAD(&info->freed_by[i]) ^ pc);) {
		if (++i == SEG_FREERS) {
			i = replace_freer(info, pc);
			break;
		}
	}
	count = LOAD(&info->freed_by_count[i]);
	if (unlikely(count == UINT16_MAX)) {
		halve_counts(info);
		count /= 2;
	}
	STORE(&info->freed_by_count[i], (uint16_t)(count + 1));
}

static void save_share(struct seg_row *row)
{
	uint32_t epoch = (uint32_t)(LOAD(&ledger_word) >> 32);

	if (LOAD(&row->epoch) == epoch)
		return;
	/* two threads here at once may both save: the same, nearly */
	STORE(&row->snap_bytes, (int64_t)(LOAD(&row->allocated_bytes) - LOAD(&row->freed_bytes)));
	STORE(&row->snap_blocks, (int64_t)(LOAD(&row->allocations) - LOAD(&row->frees)));
	STORE(&row->epoch, epoch);
}

struct seg_row *ledger_row_in(struct segment_table *rows, uint32_t site)
{
	struct seg_row *row = NULL;

	if (site - rows->first < SITES_MAX)
		row = segment_table_row(rows, site - rows->first);
	if (row)
		save_share(row);
	return row;
}

void ledger_row_add(struct seg_row *row, uint32_t site, uint64_t bytes)
{
	sizes_shared(row, site, bytes);
	ADD(&row->allocations, 1);
	ADD(&row->allocated_bytes, bytes);
	STORE(&row->last_tick, tick_now());
}

void ledger_row_sub(struct seg_row *row, uint64_t bytes)
{
	ADD(&row->frees, 1);
	ADD(&row->freed_bytes, bytes);
}

static struct seg_row *shared_row(uint32_t array, uint32_t site)
{
	return open_array(array) ? ledger_row_in(&arrays[array], site) : NULL;
}

/* After an event in a shared array: has the total passed the peak? */
static void shared_net(struct thread *t, uint32_t array, int64_t by)
{
	ADD(&nets[array].bytes, by);
	if (t) {
		if (LOAD(&ledger_word) != t->ledger.seen)
			ledger_sync(t);
		t->ledger.own_net += by;
		if (t->ledger.own_net > t->ledger.high)
			ledger_peak(t);
		return;
	}
	/* nested: rare, so no shares; the interrupted thread takes a new one */
	if (by > 0 && total_now() > LOAD(&peak))
		new_peak(total_now());
	bump_guard();
}

bool ledger_alloc_shared(struct thread *t, uint32_t site, uint64_t size)
{
	uint32_t array = array_of(t);
	struct seg_row *row = shared_row(array, site);

	if (!row)
		return false;
	ledger_row_add(row, site, size);
	shared_net(t, array, (int64_t)size);
	return true;
}

bool ledger_free_shared(struct thread *t, uint32_t site, uint64_t size)
{
	uint32_t array = array_of(t);
	struct seg_row *row = shared_row(array, site);

	if (!row)
		return false;
	ledger_row_sub(row, size);
	shared_net(t, array, -(int64_t)size);
	return true;
}

/* Adds to a figure of 128 bits; returns what its low half was. */
static uint64_t add_wide(uint64_t *low, uint64_t *high, seg_wide by)
{
	uint64_t before = ADD(low, (uint64_t)by);
	uint64_t up = (uint64_t)(by >> 64);

	if (before + (uint64_t)by < before)
		up++;
	if (up)
		ADD(high, up);
	return before;
}

/*
 * Adds a weighted figure and gives what it adds to the whole number that the
 * ledger shows: over many events nothing is lost to rounding.
 */
static uint64_t add_weighted(uint64_t *low, uint64_t *high, seg_wide by)
{
	uint64_t before = add_wide(low, high, by);

	return (uint64_t)((by + (before & 0xffff)) >> 16);
}

static struct seg_sample *sample_row(uint32_t array, uint32_t site)
{
	if (!segment_table_map(&samples[array]))
		return NULL;
	return segment_table_row(&samples[array], site - first);
}

static void sampled_net(struct thread *t, uint32_t array, int64_t by)
{
	if (t && ledger_is_owned(array)) {
		STORE(t->ledger.net, *t->ledger.net + by);
		if (LOAD(&ledger_word) != t->ledger.seen)
			ledger_sync(t);
		if (by > 0 && *t->ledger.net > t->ledger.high)
			ledger_peak(t);
		return;
	}
	shared_net(t, array, by);
}

bool ledger_sampled_alloc(struct thread *t, uint32_t site, uint64_t size)
{
	uint32_t array = array_of(t);
	struct seg_row *row = shared_row(array, site);
	struct seg_sample *s = row ? sample_row(array, site) : NULL;
	uint64_t w = sample_weight(size);
	uint64_t bytes;

	if (!s)
		return false;
	sizes_shared(row, site, size);
	ADD(&s->samples, 1);
	add_wide(&s->variance_allocated, &s->variance_allocated_high, sample_variance(size, w));
	ADD(&row->allocations, add_weighted(&s->weighted_count, &s->weighted_count_high, w));
	bytes = add_weighted(&s->weighted_bytes, &s->weighted_bytes_high, (seg_wide)size * w);
	ADD(&row->allocated_bytes, bytes);
	STORE(&row->last_tick, tick_now());
	sampled_net(t, array, (int64_t)bytes);
	return true;
}

bool ledger_sampled_free(struct thread *t, uint32_t site, uint64_t size)
{
	uint32_t array = array_of(t);
	struct seg_row *row = shared_row(array, site);
	struct seg_sample *s = row ? sample_row(array, site) : NULL;
	uint64_t w = sample_weight(size);
	uint64_t bytes;

	if (!s)
		return false;
	ADD(&s->sampled_frees, 1);
	add_wide(&s->variance_freed, &s->variance_freed_high, sample_variance(size, w));
	ADD(&row->frees, add_weighted(&s->weighted_frees, &s->weighted_frees_high, w));
	bytes = add_weighted(
	    &s->weighted_freed_bytes, &s->weighted_freed_bytes_high, (seg_wide)size * w);
	ADD(&row->freed_bytes, bytes);
	sampled_net(t, array, -(int64_t)bytes);
	return true;
}

bool ledger_is_inherited(uint32_t site)
{
	return site < first;
}

void ledger_inherited(uint32_t site, uint64_t size)
{
	struct seg_inherited *row = segment_table_row(&inherited, site);

	segment_count(SEG_INHERITED_FREES, 1);
	segment_count(SEG_INHERITED_BYTES, size);
	if (!row) {
		segment_count(SEG_LOST_INHERITED, 1);
		return;
	}
	ADD(&row->frees, 1);
	ADD(&row->freed_bytes, size);
}

size_t ledger_tables(struct segment_table **ret_tables, size_t max)
{
	size_t n = 0;
	int i;

	for (i = 0; i < LEDGER_ARRAYS && n < max; i++) {
		if (arrays[i].chunks)
			ret_tables[n++] = &arrays[i];
		if (samples[i].chunks && n < max)
			ret_tables[n++] = &samples[i];
		if (ages[i].chunks && n < max)
			ret_tables[n++] = &ages[i];
	}
	if (n + 3 <= max) {
		ret_tables[n++] = &site_info_table;
		if (lives.chunks)
			ret_tables[n++] = &lives;
		ret_tables[n++] = &inherited;
	}
	return n;
}

/* False: it would take longer than until_ns. */
static bool add_up(uint64_t until_ns, struct ledger_sums *ret)
{
	uint32_t c, k;
	int i;

	*ret = (struct ledger_sums){0};
	for (i = 0; i < LEDGER_ARRAYS; i++) {
		const struct segment_table *t = &arrays[i];
		uint8_t **chunks = LOAD_ACQUIRE(&t->chunks);

		for (c = 0; chunks && c < LOAD(&t->chunk_high); c++) {
			const struct seg_row *row = (const void *)LOAD_ACQUIRE(&chunks[c]);

			if (until_ns != UINT64_MAX && c % CHUNKS_PER_LOOK == 0 &&
			    tick_read() > until_ns)
				return false;
			for (k = 0; row && k < 1u << t->rows_bits; k++) {
				ret->allocations += LOAD(&row[k].allocations);
				ret->allocated_bytes += LOAD(&row[k].allocated_bytes);
				ret->frees += LOAD(&row[k].frees);
				ret->freed_bytes += LOAD(&row[k].freed_bytes);
			}
		}
	}
	return true;
}

uint64_t ledger_events(uint64_t until_ns)
{
	struct ledger_sums sums;

	return add_up(until_ns, &sums) ? sums.allocations + sums.frees : 0;
}

struct ledger_sums ledger_sums(void)
{
	struct ledger_sums sums;

	(void)add_up(UINT64_MAX, &sums);
	return sums;
}

static void count_up(uint32_t *n)
{
	if (*n != UINT32_MAX)
		(*n)++;
}

/*
 * Of a compiler's 30,000 sites a quarter has live blocks at the exit. Other
 * threads may still make new ones.
 */
static void shape_lives(void)
{
	const uint64_t sites = sites_next_id() - first;

	segment_table_shape_pieces(
	    &lives, SEG_EXT_LIVE, sizeof(struct seg_live), first, sites + sites / 8, 1);
}

bool ledger_fold_live(uint32_t site, uint64_t size, uint32_t birth, uint32_t now)
{
	/* other threads may go on: what is born after now is new */
	const uint32_t age = now > birth ? now - birth : 0;
	struct seg_live *row;

	if (ledger_is_inherited(site) || site - first >= SITES_MAX)
		return true;
	if (!lives.row_bytes)
		shape_lives();
	row = segment_table_map(&lives) ? segment_table_row(&lives, site - first) : NULL;
	if (!row)
		return false;
	if (!row->blocks || size < row->size_min)
		row->size_min = size;
	if (size > row->size_max)
		row->size_max = size;
	row->blocks++;
	row->bytes += size;
	count_up(&row->sizes[seg_size_class(size)]);
	count_up(&row->births[seg_birth_slot(birth, now)]);
	count_up(age < SEG_YOUNG_TICKS ? &row->young : &row->ages[seg_age_bucket(age)]);
	return true;
}
