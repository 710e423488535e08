/* process.c - what one segment says of one process, summed and checked. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "reader/process.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "util/dict.h"
#include "reader/invariants.h"
#include "reader/sums.h"
#include "reader/relative.h"
#include "util/room.h"
#include "reader/extents.h"
#include "reader/young.h"
#include "trace/verdicts.h"
#include "util/capped.h"

enum {
	MAX_MODULES = 65536, /* a frame has 16 bits for the number */
	MAX_PATH_BYTES = 4096,
	MAX_MARKS = 65536,
};

static uint64_t
minus(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

struct site_tables {
	struct extents sites, infos, lives, pools;
	struct young young;
	uint32_t *pool_of; /* number in the segment -> in process.pools, + 1 */
	struct dict pool_index;
};

static bool
same_site(const void *items, uint32_t item, const void *key)
{
	const struct process_site *x =
	    (const struct process_site *)items + item;
	const struct process_site *y = key;

	return x->stack == y->stack && x->kind == y->kind && x->api == y->api &&
	    x->pool == y->pool;
}

bool
process_ended_early(const struct process *p)
{
	return p->header.counts[SEG_EARLY_STACKS] > 0;
}

bool
process_is_unseen(const struct process *p)
{
	uint32_t why = p->header.inert_reason;

	/* allocations are seen where only others of the family are not ours */
	return p->totals.allocations == 0 &&
	    (p->header.state == SEG_INERT ||
	        (why != SEG_INERT_NONE && why != SEG_INERT_OWN_FREE &&
	            why != SEG_INERT_OWN_PART));
}

void
process_add(struct process_figures *to, const struct process_figures *from)
{
	to->allocations = capped_sum(to->allocations, from->allocations);
	to->allocated_bytes =
	    capped_sum(to->allocated_bytes, from->allocated_bytes);
	to->frees = capped_sum(to->frees, from->frees);
	to->freed_bytes = capped_sum(to->freed_bytes, from->freed_bytes);
	to->live_blocks = capped_sum(to->live_blocks, from->live_blocks);
	to->live_bytes = capped_sum(to->live_bytes, from->live_bytes);
	to->peak_blocks = capped_sum(to->peak_blocks, from->peak_blocks);
	to->peak_bytes = capped_sum(to->peak_bytes, from->peak_bytes);
}

static void
add_capped(uint32_t *to, uint32_t n)
{
	if (__builtin_add_overflow(*to, n, to))
		*to = UINT32_MAX;
}

void
process_add_ages(struct process_ages *to, const struct process_ages *from)
{
	for (int i = 0; i < PROCESS_AGES; i++) {
		to->deaths[i] = capped_sum(to->deaths[i], from->deaths[i]);
		to->living[i] = capped_sum(to->living[i], from->living[i]);
	}
	for (int i = 0; i < PROCESS_STEPS; i++)
		to->young[i] = capped_sum(to->young[i], from->young[i]);
	for (int i = 0; i < PROCESS_SIZES; i++)
		add_capped(&to->sizes[i], from->sizes[i]);
	to->live_ages_known = to->live_ages_known || from->live_ages_known;
	to->sizes_known = to->sizes_known || from->sizes_known;
}

static struct process_figures
figures_of(const struct sum_row *sum)
{
	return (struct process_figures){
	    .allocations = sum->allocations,
	    .allocated_bytes = sum->allocated_bytes,
	    .frees = sum->frees,
	    .freed_bytes = sum->freed_bytes,
	    .live_blocks = minus(sum->allocations, sum->frees),
	    .live_bytes = minus(sum->allocated_bytes, sum->freed_bytes),
	    .peak_blocks =
	        sum->peak_blocks > 0 ? (uint64_t)sum->peak_blocks : 0,
	    .peak_bytes = sum->peak_bytes > 0 ? (uint64_t)sum->peak_bytes : 0,
	};
}

static struct process_ages *
ages_of(struct process_site *site)
{
	if (!site->ages)
		site->ages = calloc(1, sizeof(*site->ages));
	return site->ages;
}

/* What lived at the end: ages, and sizes where they are told or all equal. */
static int
add_living(struct process_site *site, const struct site_tables *t, uint32_t id)
{
	struct process_ages more = {
	    .live_ages_known = true, .sizes_known = true};
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
		    live.blocks < UINT32_MAX ? (uint32_t)live.blocks
		                             : UINT32_MAX;
	else
		more.sizes_known = false;
	process_add_ages(site->ages, &more);
	if (has < sizeof(live))
		return 0;
	site->ages->births_known = true;
	for (int i = 0; i < SEG_BIRTH_SLOTS; i++)
		add_capped(&site->ages->births[i], live.births[i]);
	return 0;
}

/*
 * A ledger row holds sizes up to 2^32 - 1; what is beyond is in the info. The
 * minimum is there if the row has no smaller block.
 */
static void
take_large_sizes(
    struct process_site *site, const struct site_tables *t, uint32_t id)
{
	struct seg_info info;

	if (site->size_max < UINT32_MAX ||
	    extents_take(&t->infos, id, &info, sizeof(info)) == 0)
		return;
	if (info.size_max > site->size_max)
		site->size_max = info.size_max;
	if (site->size_min >= UINT32_MAX && info.size_min > site->size_min)
		site->size_min = info.size_min;
}

/*
 * Ages of sampled blocks are counted one by one; each stands for as many
 * deaths as the mean of its site.
 */
static uint64_t
estimated_deaths(uint64_t n, const struct sum_row *sum)
{
	seg_wide all;

	if (sum->sampled_frees == 0)
		return n;
	if (n >= sum->sampled_frees)
		return sum->frees;
	all = (seg_wide)n * sum->frees;
	return (uint64_t)((all + sum->sampled_frees / 2) / sum->sampled_frees);
}

/* The deaths that are below the first bucket, by steps. */
static int
add_young(struct process_site *site, const uint64_t deaths[SEG_AGE_STEPS],
    const struct sum_row *sum)
{
	for (int i = 0; i < SEG_AGE_STEPS; i++) {
		uint64_t n = estimated_deaths(deaths[i], sum);

		if (n == 0)
			continue;
		if (!ages_of(site))
			return -ENOMEM;
		site->ages->young[i + 1] =
		    capped_sum(site->ages->young[i + 1], n);
	}
	return 0;
}

static int
by_count(const void *a, const void *b)
{
	const struct process_freer *x = a, *y = b;

	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	return x->frame < y->frame ? -1 : x->frame > y->frame;
}

void
process_add_freers(struct process_freers *to, const struct process_freers *from)
{
	struct process_freer all[2 * SEG_FREERS];
	size_t n = to->count;

	memcpy(all, to->at, n * sizeof(*all));
	for (size_t i = 0; i < from->count; i++) {
		size_t k = 0;

		while (k < n && all[k].frame != from->at[i].frame)
			k++;
		if (k == n)
			all[n++] = from->at[i];
		else
			all[k].count =
			    capped_sum(all[k].count, from->at[i].count);
	}
	qsort(all, n, sizeof(*all), by_count);
	to->count = n < SEG_FREERS ? n : SEG_FREERS;
	memcpy(to->at, all, to->count * sizeof(*all));
}

static int
add_freers(struct process_site *site, const struct seg_info *info)
{
	struct process_freers more = {.count = 0};

	for (int i = 0; i < SEG_FREERS; i++)
		if (info->freed_by[i] != 0 && info->freed_by_count[i] > 0)
			more.at[more.count++] = (struct process_freer){
			    info->freed_by[i], info->freed_by_count[i]};
	if (more.count == 0)
		return 0;
	if (!site->freed_by)
		site->freed_by = calloc(1, sizeof(*site->freed_by));
	if (!site->freed_by)
		return -ENOMEM;
	process_add_freers(site->freed_by, &more);
	return 0;
}

/* Ages from the rare records of the site's id. */
static int
add_rare(struct process_site *site, const struct site_tables *t,
    const struct sum_row *sum)
{
	uint32_t id = sum->id;
	struct seg_info info;

	if (extents_take(&t->infos, id, &info, sizeof(info)) == 0)
		return add_living(site, t, id);
	if (add_freers(site, &info) < 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < SEG_AGE_BUCKETS; i++) {
		uint64_t n = estimated_deaths(seg_deaths(&info, i), sum);

		if (n == 0)
			continue;
		if (!ages_of(site))
			return -ENOMEM;
		site->ages->deaths[i + 1] =
		    capped_sum(site->ages->deaths[i + 1], n);
	}
	return add_living(site, t, id);
}

static void
merge_site(struct process_site *to, const struct process_site *from)
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

static bool
same_pool(const void *items, uint32_t item, const void *key)
{
	return strcmp(((const struct process_pool *)items)[item].name, key) ==
	    0;
}

static int
tables_init(
    struct site_tables *t, const struct segment *seg, const struct sums *sums)
{
	t->pool_of = calloc(UINT16_MAX + 1, sizeof(*t->pool_of));
	if (!t->pool_of || extents_init(&t->sites, seg, SEG_EXT_SITE) < 0 ||
	    extents_init(&t->infos, seg, SEG_EXT_INFO) < 0 ||
	    extents_init(&t->lives, seg, SEG_EXT_LIVE) < 0 ||
	    young_init(&t->young, seg, sums) < 0 ||
	    extents_init(&t->pools, seg, SEG_EXT_POOL) < 0)
		return -ENOMEM;
	return 0;
}

static void
tables_release(struct site_tables *t)
{
	extents_release(&t->sites);
	extents_release(&t->infos);
	extents_release(&t->lives);
	extents_release(&t->pools);
	young_release(&t->young);
	dict_release(&t->pool_index);
	free(t->pool_of);
}

/* Two numbers may have one name: the collector lost a race. */
static int
find_pool(
    struct process *p, struct site_tables *t, uint16_t number, uint32_t *ret)
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
	if (dict_find(&t->pool_index, dict_hash_text(row.name), same_pool,
	        p->pools, row.name, (uint32_t)p->pool_count, &at) < 0)
		return -ENOMEM;
	if (at == p->pool_count) {
		p->pools[p->pool_count++] = (struct process_pool){.name = ""};
		memcpy(p->pools[at].name, row.name, sizeof(row.name));
	}
	t->pool_of[number] = at + 1;
	*ret = at;
	return 0;
}

static int
make_sites(struct process *p, const struct sums *sums, struct site_tables *t)
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
		    .variance_live =
		        sum->variance_allocated > sum->variance_freed
		        ? (double)(sum->variance_allocated -
		              sum->variance_freed)
		        : 0,
		    .figures = figures_of(sum)};
		struct seg_site row = {0};
		uint32_t at;

		/* given out but never filled: "(unknown)", all in one */
		if (extents_get(&t->sites, sum->id, &row, sizeof(row)) &&
		    row.inner != 0) {
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
		take_large_sizes(&site, t, sum->id);
		err =
		    stacks_intern(p->stacks, row.inner, row.node, &site.stack);
		if (err < 0)
			break;
		err = dict_find(&index,
		    dict_hash(site.stack, (uint64_t)site.kind << 8 | site.api,
		        site.pool),
		    same_site, p->sites, &site, (uint32_t)p->site_count, &at);
		if (err < 0)
			break;
		if (at == p->site_count)
			p->sites[p->site_count++] = site;
		else
			merge_site(&p->sites[at], &site);
		p->ids[p->id_count++] =
		    (struct process_id){.id = sum->id, .site = at};
		err = add_rare(&p->sites[at], t, sum);
		if (err == 0 && t->young.deaths)
			err = add_young(&p->sites[at], t->young.deaths[i], sum);
	}
	dict_release(&index);
	return err;
}

/* ---- modules, inherited frees, marks ---- */

/* A string of the segment may run over from one extent into the next. */
static char *
string_at(const struct extents *strings, uint64_t offset, uint32_t len)
{
	char *text;

	if (len == 0 || len > MAX_PATH_BYTES)
		return NULL;
	text = calloc(1, (size_t)len + 1);
	for (uint32_t i = 0; text && i < len; i++) {
		if (!extents_get(strings, offset + i, &text[i], 1)) {
			free(text);
			return NULL;
		}
	}
	return text;
}

static int
make_modules(struct process *p, const struct segment *seg)
{
	struct extents modules = {0}, strings = {0};
	struct seg_module row;
	int err = -ENOMEM;

	if (extents_init(&modules, seg, SEG_EXT_MODULE) < 0 ||
	    extents_init(&strings, seg, SEG_EXT_STRING) < 0)
		goto out;
	for (size_t i = 0; i < modules.count; i++) {
		uint64_t end =
		    modules.extents[i]->first + modules.extents[i]->count;

		if (end > MAX_MODULES) {
			p->header.counts[SEG_LOST_MODULES] +=
			    modules.extents[i]->count;
			p->is_cut = true;
			end = MAX_MODULES;
		}
		if (end > p->module_count)
			p->module_count = (size_t)end;
	}
	p->modules = calloc(p->module_count + 1, sizeof(*p->modules));
	if (!p->modules)
		goto out;
	for (size_t i = 1; i < p->module_count; i++) {
		struct process_module *m = &p->modules[i];

		if (!extents_get(&modules, i, &row, sizeof(row)) ||
		    row.end == 0)
			continue; /* room for modules to come */
		m->base = row.base;
		m->start = row.start;
		m->end = row.end;
		m->generation = row.generation;
		m->is_main = row.is_main != 0;
		m->is_gone = row.gone_tick != 0;
		m->path = string_at(&strings, row.path, row.path_bytes);
		if (row.path_bytes > MAX_PATH_BYTES) {
			p->header.counts[SEG_LOST_MODULES]++;
			p->is_cut = true;
		}
		if (row.build_id_bytes <= sizeof(m->build_id)) {
			m->build_id_bytes = row.build_id_bytes;
			memcpy(m->build_id, row.build_id, row.build_id_bytes);
		}
	}
	while (p->module_count > 1 && p->modules[p->module_count - 1].end == 0)
		p->module_count--;
	err = relative_join(p);
out:
	extents_release(&modules);
	extents_release(&strings);
	return err;
}

static int
make_inherited(struct process *p, const struct segment *seg)
{
	size_t room = 0;

	for (size_t i = 0; i < seg->extent_count; i++) {
		const struct segment_rows *x = &seg->extents[i];

		if (x->kind != SEG_EXT_INHERITED)
			continue;
		for (uint32_t k = 0; k < x->count; k++) {
			struct seg_inherited row;

			memcpy(&row, segment_row(x, k), sizeof(row));
			if (row.frees == 0 || (x->first + k) >> SEG_SITE_BITS)
				continue;
			if (room_make(&p->inherited, &room, p->inherited_count,
			        sizeof(*p->inherited)) < 0)
				return -ENOMEM;
			p->inherited[p->inherited_count++] =
			    (struct process_inherited){
			        .id = (uint32_t)(x->first + k),
			        .frees = row.frees,
			        .freed_bytes = row.freed_bytes,
			    };
		}
	}
	return 0;
}

static int
by_sequence(const void *a, const void *b)
{
	const struct seg_mark *x = a, *y = b;

	return (x->sequence > y->sequence) - (x->sequence < y->sequence);
}

static int
make_marks(struct process *p, const struct segment *seg)
{
	size_t room = 0;

	for (size_t i = 0; i < seg->extent_count; i++) {
		const struct segment_rows *x = &seg->extents[i];

		for (uint32_t k = 0; x->kind == SEG_EXT_MARK && k < x->count;
		     k++) {
			struct seg_mark mark;

			memcpy(&mark, segment_row(x, k), sizeof(mark));
			if (mark.sequence == 0)
				continue;
			if (p->mark_count == MAX_MARKS) {
				p->header.counts[SEG_MARKS_LOST]++;
				p->is_cut = true;
				continue;
			}
			if (room_make(&p->marks, &room, p->mark_count,
			        sizeof(*p->marks)) < 0)
				return -ENOMEM;
			mark.label[sizeof(mark.label) - 1] = '\0';
			p->marks[p->mark_count++] = mark;
		}
	}
	if (p->mark_count > 0) {
		qsort(p->marks, p->mark_count, sizeof(*p->marks), by_sequence);
		p->is_snapshot |=
		    p->marks[p->mark_count - 1].kind == SEG_MARK_SNAPSHOT;
	}
	return 0;
}

/* ---- the whole ---- */

static void
make_totals(struct process *p, const struct segment *seg)
{
	for (size_t i = 0; i < p->site_count; i++)
		if (p->sites[i].kind != SEG_SITE_USER)
			process_add(&p->totals, &p->sites[i].figures);
	/* one thread: every event sees the total; many: flushes do */
	p->peak_exact = seg->peak_stable && p->header.threads <= 1 &&
	    p->header.sample_bytes == 0;
	p->totals.peak_bytes = p->header.peak_bytes;
	/*
	 * One thread: the peak is right to the byte, and a live figure above it
	 * comes from reading while the host runs. Many threads: a flush may be
	 * due, and the highest moment we know is now.
	 */
	if (p->totals.live_bytes <= p->totals.peak_bytes ||
	    (p->peak_exact && p->totals.peak_bytes > 0))
		return;
	p->peak_exact = false;
	p->totals.peak_bytes = p->totals.live_bytes;
	p->totals.peak_blocks = p->totals.live_blocks;
	for (size_t i = 0; i < p->site_count; i++) {
		struct process_figures *f = &p->sites[i].figures;

		f->peak_bytes = f->live_bytes;
		f->peak_blocks = f->live_blocks;
	}
}

static void
make_pools(struct process *p)
{
	for (size_t i = 0; i < p->site_count; i++) {
		const struct process_site *s = &p->sites[i];

		if (s->kind != SEG_SITE_USER)
			continue;
		process_add(&p->pools[s->pool].figures, &s->figures);
		p->pools[s->pool].site_count++;
	}
}

static uint32_t
temporary_ticks(const struct process *p)
{
	if (process_ended_early(p))
		return 0; /* the sums of its first events have no ages */
	return p->header.counted_ticks == SEG_COUNTED_TICKS
	    ? PROCESS_TEMPORARY_TICKS
	    : SEG_YOUNG_TICKS;
}

int
process_new(const struct segment *seg, struct process **ret)
{
	struct site_tables t = {0};
	struct sums sums = {0};
	struct process *p;
	int err = -ENOMEM;

	p = calloc(1, sizeof(*p));
	if (!p)
		return -ENOMEM;
	p->header = seg->header;
	p->exit_status = -1;
	p->is_snapshot = p->header.snapshot_reason != SEG_SNAPSHOT_NONE;
	p->duration_ns = (uint64_t)p->header.tick * p->header.tick_ns;
	p->temporary_ticks = temporary_ticks(p);
	p->births_until = p->header.end_tick;
	err = sums_init(&sums, seg);
	if (err < 0)
		goto out;
	err = -ENOMEM;
	if (stacks_new(seg, &p->stacks) < 0 || tables_init(&t, seg, &sums) < 0)
		goto out;
	err = make_sites(p, &sums, &t);
	if (err < 0)
		goto out;
	stacks_close(p->stacks);
	err = make_modules(p, seg);
	if (err < 0)
		goto out;
	err = make_inherited(p, seg);
	if (err < 0)
		goto out;
	err = make_marks(p, seg);
	if (err < 0)
		goto out;
	make_totals(p, seg);
	make_pools(p);
	err = invariants_check(seg, &sums, &t.sites, &p->doubt);
	if (err == -ENOMEM)
		goto out;
	if (err == 0) /* else the counts are no measure */
		p->live_map =
		    cross_check_ended(seg, &sums, &t.sites, &p->doubt);
	err = 0; /* what cannot be is shown all the same, and told */
	*ret = p;
	p = NULL;
out:
	process_free(p);
	tables_release(&t);
	sums_release(&sums);
	return err;
}

void
process_free(struct process *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->site_count; i++) {
		free(p->sites[i].ages);
		free(p->sites[i].freed_by);
	}
	for (size_t i = 0; i < p->module_count; i++)
		relative_release(&p->modules[i]);
	stacks_free(p->stacks);
	free(p->sites);
	free(p->pools);
	free(p->modules);
	free(p->inherited);
	free(p->marks);
	free(p->ids);
	free(p->points);
	if (p->verdicts)
		verdicts_release(p->verdicts);
	free(p->verdicts);
	free(p);
}

void
process_deaths(
    const struct process_site *site, uint64_t ret_deaths[PROCESS_AGES])
{
	uint64_t old = 0;

	memset(ret_deaths, 0, PROCESS_AGES * sizeof(*ret_deaths));
	for (int i = 1; site->ages && i < PROCESS_AGES; i++) {
		ret_deaths[i] = site->ages->deaths[i];
		old = capped_sum(old, ret_deaths[i]);
	}
	ret_deaths[0] = minus(site->figures.frees, old);
}

void
process_young(const struct process_ages *ages, uint64_t young,
    uint64_t ret_steps[PROCESS_STEPS])
{
	memset(ret_steps, 0, PROCESS_STEPS * sizeof(*ret_steps));
	/* while it runs, steps may have been read a moment after the frees */
	for (int i = 1; ages && i < PROCESS_STEPS; i++) {
		ret_steps[i] = ages->young[i] < young ? ages->young[i] : young;
		young -= ret_steps[i];
	}
	ret_steps[0] = young;
}

const struct process_module *
process_module(const struct process *p, uint64_t frame)
{
	uint32_t n = SEG_FRAME_MODULE(frame);

	if (n == 0 || n >= p->module_count || p->modules[n].end == 0)
		return NULL;
	return &p->modules[n];
}

uint64_t
process_time_ns(const struct process *p, uint32_t tick)
{
	return p->header.start_realtime_ns + (uint64_t)tick * p->header.tick_ns;
}

uint64_t
process_error(double variance)
{
	double half = 1.96 * sqrt(variance) + 0.5;

	/* 2^64, which a double can have */
	return half < 18446744073709551616.0 ? (uint64_t)half : UINT64_MAX;
}

double
process_variance_live(const struct process *p)
{
	double sum = 0;

	for (size_t i = 0; i < p->site_count; i++)
		sum += p->sites[i].variance_live;
	return sum;
}

double
process_variance_allocated(const struct process *p)
{
	double sum = 0;

	for (size_t i = 0; i < p->site_count; i++)
		sum += p->sites[i].variance_allocated;
	return sum;
}
