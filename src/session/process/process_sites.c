/* process_sites.c - the sites of a process: figures, ages, pools, stacks. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "segments/read/extent_list.h"

#include "base/std.h"
#include "kit/data/capped.h"
#include "kit/data/dict.h"
#include "kit/data/room.h"
#include "kit/data/sorted.h"
#include "session/process/process_parts.h"

struct site_tables {
	struct extents sites, lives, pools;
	struct infos infos;
	struct young young;
	uint32_t *pool_of; /* number in the segment -> in process.pools, + 1 */
	struct dict pool_index;
};

static bool same_site(const void *items, uint32_t item, const void *key)
{
	const struct process_site *x = (const struct process_site *)items + item;
	const struct process_site *y = key;

	return x->stack == y->stack && x->kind == y->kind && x->api == y->api && x->pool == y->pool;
}

static struct process_figures figures_of(const struct sum_row *sum)
{
	return (struct process_figures){
	    .allocations = sum->allocations,
	    .allocated_bytes = sum->allocated_bytes,
	    .frees = sum->frees,
	    .freed_bytes = sum->freed_bytes,
	    .live_blocks = capped_difference(sum->allocations, sum->frees),
	    .live_bytes = capped_difference(sum->allocated_bytes, sum->freed_bytes),
	    .peak_blocks = sum->peak_blocks > 0 ? (uint64_t)sum->peak_blocks : 0,
	    .peak_bytes = sum->peak_bytes > 0 ? (uint64_t)sum->peak_bytes : 0,
	};
}

static struct process_ages *ages_of(struct process_site *site)
{
	if (!site->ages)
		site->ages = calloc(1, sizeof(*site->ages));
	return site->ages;
}

/*
 * The ages of the blocks that were live at the end, and their sizes if these
 * are recorded or all equal.
 */
static int add_living(struct process_site *site, const struct site_tables *t, uint32_t id)
{
	struct process_ages more = {.live_ages_known = true, .sizes_known = true};
	struct seg_live live = {0};
	size_t has = extents_take(&t->lives, id, &live, sizeof(live));

	if (has == 0 || live.blocks == 0)
		return 0;
	if (!ages_of(site))
		return -ENOMEM;
	more.living[0] = live.young;
	for (int i = 0; i < SEG_AGE_BUCKETS; i++)
		more.living[i + 1] = live.ages[i];
	for (int i = 0; i < PROCESS_SIZES; i++)
		more.sizes[i] = live.sizes[i]; /* zeros in a shorter row */
	if (has >= offsetof(struct seg_live, births))
		;
	else if (live.size_min == live.size_max)
		more.sizes[seg_size_class(live.size_min)] =
		    live.blocks < UINT32_MAX ? (uint32_t)live.blocks : UINT32_MAX;
	else
		more.sizes_known = false;
	process_add_ages(site->ages, &more);
	if (has < sizeof(live))
		return 0;
	site->ages->births_known = true;
	for (int i = 0; i < SEG_BIRTH_SLOTS; i++)
		site->ages->births[i] = capped_sum_32(site->ages->births[i], live.births[i]);
	return 0;
}

/*
 * A ledger row holds sizes up to 2^32 - 1; what is beyond is in the info. The
 * minimum is there if the row has no smaller block.
 */
static void take_large_sizes(struct process_site *site, const struct site_tables *t, uint32_t id)
{
	uint64_t least = 0;
	struct seg_info info;
	size_t at = 0;

	if (site->size_max < UINT32_MAX)
		return;
	while (site_infos_next(&t->infos, id, &at, &info)) {
		if (info.size_max > site->size_max)
			site->size_max = info.size_max;
		if (info.size_min && (!least || info.size_min < least))
			least = info.size_min;
	}
	if (site->size_min >= UINT32_MAX && least > site->size_min)
		site->size_min = least;
}

/*
 * Ages of sampled blocks are counted one by one. Each sample represents as many
 * frees as the mean of its site.
 */
static uint64_t estimated_deaths(uint64_t n, const struct sum_row *sum)
{
	seg_wide all;

	if (sum->sampled_frees == 0)
		return n;
	if (n >= sum->sampled_frees)
		return sum->frees;
	all = (seg_wide)n * sum->frees;
	return (uint64_t)((all + sum->sampled_frees / 2) / sum->sampled_frees);
}

/* The deaths below the first bucket, by steps. */
static int add_young(
    struct process_site *site, const uint64_t deaths[SEG_AGE_STEPS], const struct sum_row *sum)
{
	for (int i = 0; i < SEG_AGE_STEPS; i++) {
		uint64_t n = estimated_deaths(deaths[i], sum);

		if (n == 0)
			continue;
		if (!ages_of(site))
			return -ENOMEM;
		site->ages->young[i + 1] = capped_sum(site->ages->young[i + 1], n);
	}
	return 0;
}

static int add_freers(struct process_site *site, const struct seg_info *info)
{
	struct process_freers more = {.count = 0};

	for (int i = 0; i < SEG_FREERS; i++)
		if (info->freed_by[i] != 0 && info->freed_by_count[i] > 0)
			more.at[more.count++] =
			    (struct process_freer){info->freed_by[i], info->freed_by_count[i]};
	if (more.count == 0)
		return 0;
	if (!site->freed_by)
		site->freed_by = calloc(1, sizeof(*site->freed_by));
	if (!site->freed_by)
		return -ENOMEM;
	process_add_freers(site->freed_by, &more);
	return 0;
}

/* What a rare record of the site's id says. */
static int add_info(
    struct process_site *site, const struct seg_info *info, const struct sum_row *sum)
{
	if (add_freers(site, info) < 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < SEG_AGE_BUCKETS; i++) {
		uint64_t n = estimated_deaths(seg_deaths(info, i), sum);

		if (n == 0)
			continue;
		if (!ages_of(site))
			return -ENOMEM;
		site->ages->deaths[i + 1] = capped_sum(site->ages->deaths[i + 1], n);
	}
	return 0;
}

/* Ages from the rare records of the site's id. */
static int add_rare(
    struct process_site *site, const struct site_tables *t, const struct sum_row *sum)
{
	struct seg_info info;
	size_t at = 0;

	while (site_infos_next(&t->infos, sum->id, &at, &info))
		if (add_info(site, &info, sum) < 0)
			return -ENOMEM;
	return add_living(site, t, sum->id);
}

static void merge_site(struct process_site *to, const struct process_site *from)
{
	bool known = to->size_max > 0 || to->size_min > 0;

	if (from->first_tick < to->first_tick)
		to->first_tick = from->first_tick;
	if (from->last_tick > to->last_tick)
		to->last_tick = from->last_tick;
	if (from->figures.allocations > 0) {
		if (!known || from->size_min < to->size_min)
			to->size_min = from->size_min;
		if (from->size_max > to->size_max)
			to->size_max = from->size_max;
	}
	to->samples = capped_sum(to->samples, from->samples);
	to->variance_allocated += from->variance_allocated;
	to->variance_live += from->variance_live;
	process_add(&to->figures, &from->figures);
}

/* ---- pools ---- */

static bool same_pool(const void *items, uint32_t item, const void *key)
{
	return strcmp(((const struct process_pool *)items)[item].name, key) == 0;
}

static int tables_init(struct site_tables *t, const struct segment *seg, const struct sums *sums)
{
	t->pool_of = calloc(UINT16_MAX + 1, sizeof(*t->pool_of));
	if (!t->pool_of || extents_init(&t->sites, seg, SEG_EXT_SITE) < 0 ||
	    site_infos_init(&t->infos, seg) < 0 || extents_init(&t->lives, seg, SEG_EXT_LIVE) < 0 ||
	    young_init(&t->young, seg, sums) < 0 || extents_init(&t->pools, seg, SEG_EXT_POOL) < 0)
		return -ENOMEM;
	return 0;
}

static void tables_release(struct site_tables *t)
{
	extents_release(&t->sites);
	site_infos_release(&t->infos);
	extents_release(&t->lives);
	extents_release(&t->pools);
	young_release(&t->young);
	dict_release(&t->pool_index);
	free(t->pool_of);
}

/* Two numbers may have one name: the collector lost a race. */
static int find_pool(struct process *p, struct site_tables *t, uint16_t number, uint32_t *ret)
{
	struct seg_pool row = {0};
	struct process_pool *more;
	uint32_t at;

	if (t->pool_of[number] > 0) {
		*ret = t->pool_of[number] - 1;
		return 0;
	}
	(void)extents_get(&t->pools, number, &row, sizeof(row));
	row.name[sizeof(row.name) - 1] = '\0';
	more = reallocarray(p->pools, p->pool_count + 1, sizeof(*more));
	if (!more)
		return -ENOMEM;
	p->pools = more;
	if (dict_find(&t->pool_index, dict_hash_text(row.name), same_pool, p->pools, row.name,
	        (uint32_t)p->pool_count, &at) < 0)
		return -ENOMEM;
	if (at == p->pool_count) {
		p->pools[p->pool_count++] = (struct process_pool){.name = ""};
		memcpy(p->pools[at].name, row.name, sizeof(row.name));
	}
	t->pool_of[number] = at + 1;
	*ret = at;
	return 0;
}

static int make_sites(struct process *p, const struct sums *sums, struct site_tables *t)
{
	struct dict index = {0};
	int err = 0;

	p->sites = calloc(sums->count + 1, sizeof(*p->sites));
	p->ids = calloc(sums->count + 1, sizeof(*p->ids));
	if (!p->sites || !p->ids)
		return -ENOMEM;
	for (size_t i = 0; i < sums->count && err == 0; i++) {
		const struct sum_row *sum = &sums->items[i];
		struct process_site site = {.id = sum->id,
		    .kind = SEG_SITE_HEAP,
		    .last_tick = sum->last_tick,
		    .size_min = sum->size_min,
		    .size_max = sum->size_max,
		    .samples = sum->samples,
		    .variance_allocated = (double)sum->variance_allocated,
		    .variance_live = sum->variance_allocated > sum->variance_freed
		        ? (double)(sum->variance_allocated - sum->variance_freed)
		        : 0,
		    .figures = figures_of(sum)};
		struct seg_site row = {0};
		uint32_t at;

		/*
		 * ids that were given out but never filled: one site
		 * "(unknown)"
		 */
		if (extents_get(&t->sites, sum->id, &row, sizeof(row)) && row.inner != 0) {
			site.kind = row.kind;
			site.api = row.api;
			site.first_tick = row.first_tick;
		} else {
			row = (struct seg_site){0};
		}
		if (site.kind == SEG_SITE_USER) {
			err = find_pool(p, t, row.pool, &site.pool);
			if (err < 0)
				break;
		}
		if (site.kind == SEG_SITE_MAPPING)
			site.pool = row.pool;
		take_large_sizes(&site, t, sum->id);
		err = stacks_intern(p->stacks, row.inner, row.node, &site.stack);
		if (err < 0)
			break;
		err = dict_find(&index,
		    dict_hash(site.stack, (uint64_t)site.kind << 8 | site.api, site.pool),
		    same_site, p->sites, &site, (uint32_t)p->site_count, &at);
		if (err < 0)
			break;
		if (at == p->site_count)
			p->sites[p->site_count++] = site;
		else
			merge_site(&p->sites[at], &site);
		p->ids[p->id_count++] = (struct process_id){.id = sum->id, .site = at};
		err = add_rare(&p->sites[at], t, sum);
		if (err == 0 && t->young.deaths)
			err = add_young(&p->sites[at], t->young.deaths[i], sum);
	}
	dict_release(&index);
	return err;
}

static int by_id(const void *key, const void *item)
{
	uint32_t a = *(const uint32_t *)key;
	uint32_t b = ((const struct sum_row *)item)->id;

	return (a > b) - (a < b);
}

/* Stacks of frees: sites that are in no row of the ledger. */
static int make_bare(struct process *p, const struct sums *sums, struct site_tables *t)
{
	size_t room = 0;

	for (size_t i = 0; i < t->sites.count; i++) {
		const struct segment_rows *x = t->sites.extents[i];

		for (uint64_t k = 0; k < x->count; k++) {
			uint32_t id = (uint32_t)(x->first + k), stack;
			struct seg_site row;

			if ((x->first + k) >> SEG_SITE_BITS)
				break;
			if (!extents_get(&t->sites, id, &row, sizeof(row)) || row.inner == 0 ||
			    row.kind != SEG_SITE_HEAP ||
			    (sums->count > 0 &&
			        bsearch(
			            &id, sums->items, sums->count, sizeof(*sums->items), by_id)))
				continue;
			if (room_make(&p->bare, &room, p->bare_count, sizeof(*p->bare)) < 0 ||
			    stacks_intern(p->stacks, row.inner, row.node, &stack) < 0)
				return -ENOMEM;
			p->bare[p->bare_count++] = (struct process_bare){id, stack};
		}
	}
	return 0;
}

int process_make_sites(struct process *p, const struct segment *seg, const struct sums *sums)
{
	struct site_tables t = {0};
	int err = -ENOMEM;

	if (stacks_new(seg, &p->stacks) == 0 && tables_init(&t, seg, sums) == 0)
		err = make_sites(p, sums, &t);
	if (err == 0 && seg->header.log_last)
		err = make_bare(p, sums, &t);
	if (err == 0)
		stacks_close(p->stacks);
	tables_release(&t);
	return err;
}

/* ---- site_infos: figures of sites that few sites have ---- */

struct info_place {
	uint32_t site, row;
	const struct segment_rows *rows;
};

BY(by_site, struct info_place, UP(site))

int site_infos_init(struct infos *s, const struct segment *seg)
{
	struct seg_info info;
	uint64_t rows = 0;

	*s = (struct infos){0};
	for (size_t i = 0; i < seg->extent_count; i++)
		if (seg->extents[i].kind == SEG_EXT_SITE_INFO)
			rows += seg->extents[i].count;
	s->places = calloc(rows + 1, sizeof(*s->places));
	if (!s->places || extents_init(&s->older, seg, SEG_EXT_INFO) < 0) {
		site_infos_release(s);
		return -ENOMEM;
	}
	for (size_t i = 0; i < seg->extent_count; i++) {
		const struct segment_rows *x = &seg->extents[i];

		if (x->kind != SEG_EXT_SITE_INFO)
			continue;
		for (uint32_t k = 0; k < x->count; k++) {
			segment_copy_row_into(x, k, &info, sizeof(info));
			if (info.site != 0)
				s->places[s->count++] = (struct info_place){info.site, k, x};
		}
	}
	qsort(s->places, s->count, sizeof(*s->places), by_site);
	return 0;
}

void site_infos_release(struct infos *s)
{
	extents_release(&s->older);
	free(s->places);
	*s = (struct infos){0};
}

/* The first place of this site, or of a larger one. */
static size_t first_of(const struct infos *s, uint32_t site)
{
	return sorted_first(s->places, s->count, x, x->site < site);
}

bool site_infos_next(const struct infos *s, uint32_t site, size_t *at, struct seg_info *ret)
{
	const struct info_place *p;

	/* *at - 1 is the next place */
	if (*at == 0) {
		*at = first_of(s, site) + 1;
		if (extents_take(&s->older, site, ret, sizeof(*ret)) > 0)
			return true;
	}
	if (*at > s->count)
		return false;
	p = &s->places[*at - 1];
	if (p->site != site)
		return false;
	segment_copy_row_into(p->rows, p->row, ret, sizeof(*ret));
	(*at)++;
	return true;
}

/* ---- young: deaths below SEG_YOUNG_TICKS, by age and site ---- */

static int young_by_id(const void *key, const void *item)
{
	uint64_t a = *(const uint64_t *)key;
	uint64_t b = ((const struct sum_row *)item)->id;

	return (a > b) - (a < b);
}

static void add_row(
    struct young *y, const struct sums *sums, uint64_t id, const struct seg_ages *row)
{
	const struct sum_row *sum =
	    bsearch(&id, sums->items, sums->count, sizeof(*sums->items), young_by_id);
	uint64_t *to;

	if (!sum)
		return; /* its free happened after we read the ledger */
	to = y->deaths[sum - sums->items];
	for (int i = 0; i < SEG_AGE_STEPS; i++)
		if (__builtin_add_overflow(to[i], row->deaths[i], &to[i]))
			to[i] = UINT64_MAX;
}

int young_init(struct young *y, const struct segment *seg, const struct sums *sums)
{
	static const struct seg_ages none;

	/* A damaged file may have ages, but no ledger. */
	for (size_t i = 0; sums->count > 0 && i < seg->extent_count; i++) {
		const struct segment_rows *x = &seg->extents[i];

		if (x->kind != SEG_EXT_AGES)
			continue;
		if (!y->deaths)
			y->deaths = calloc(sums->count + 1, sizeof(*y->deaths));
		if (!y->deaths)
			return -ENOMEM;
		for (uint32_t k = 0; k < x->count; k++) {
			struct seg_ages row;

			(void)segment_copy_row_into(x, k, &row, sizeof(row));
			if (memcmp(&row, &none, sizeof(row)) != 0)
				add_row(y, sums, x->first + k, &row);
		}
	}
	return 0;
}

void young_release(struct young *y)
{
	free(y->deaths);
}
