/* process.c - sums up and checks the segment of one process. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "session/process/process.h"

#include <math.h>

#include "segments/read/extent_list.h"
#include "session/process/cross_check.h"
#include "session/process/live_ages.h"
#include "session/process/process_parts.h"
#include "session/process/family.h"
#include "recording/file/recording.h"
#include "recording/parts/aging.h"
#include "recording/parts/inventory.h"
#include "recording/parts/rss_account.h"
#include "recording/parts/verdicts.h"
#include "kit/data/capped.h"
#include "kit/data/room.h"
#include "kit/data/sorted.h"

bool process_ended_early(const struct process *p)
{
	return p->header.counts[SEG_EARLY_STACKS] > 0;
}

bool process_is_unseen(const struct process *p)
{
	uint32_t why = p->header.inert_reason;

	/*
	 * allocations are recorded, if only other functions of the family
	 * bypass us
	 */
	return p->totals.allocations == 0 &&
	    (p->header.state == SEG_INERT ||
	        (why != SEG_INERT_NONE && why != SEG_INERT_OWN_FREE && why != SEG_INERT_OWN_PART));
}

void process_add(struct process_figures *to, const struct process_figures *from)
{
	to->allocations = capped_sum(to->allocations, from->allocations);
	to->allocated_bytes = capped_sum(to->allocated_bytes, from->allocated_bytes);
	to->frees = capped_sum(to->frees, from->frees);
	to->freed_bytes = capped_sum(to->freed_bytes, from->freed_bytes);
	to->live_blocks = capped_sum(to->live_blocks, from->live_blocks);
	to->live_bytes = capped_sum(to->live_bytes, from->live_bytes);
	to->peak_blocks = capped_sum(to->peak_blocks, from->peak_blocks);
	to->peak_bytes = capped_sum(to->peak_bytes, from->peak_bytes);
}

void process_add_ages(struct process_ages *to, const struct process_ages *from)
{
	for (int i = 0; i < PROCESS_AGES; i++) {
		to->deaths[i] = capped_sum(to->deaths[i], from->deaths[i]);
		to->living[i] = capped_sum(to->living[i], from->living[i]);
	}
	for (int i = 0; i < PROCESS_STEPS; i++)
		to->young[i] = capped_sum(to->young[i], from->young[i]);
	for (int i = 0; i < PROCESS_SIZES; i++)
		to->sizes[i] = capped_sum_32(to->sizes[i], from->sizes[i]);
	to->live_ages_known = to->live_ages_known || from->live_ages_known;
	to->sizes_known = to->sizes_known || from->sizes_known;
}

void process_add_births(struct process_ages *to, const struct process_ages *from)
{
	for (int i = 0; i < SEG_BIRTH_SLOTS; i++)
		to->births[i] = capped_sum_32(to->births[i], from->births[i]);
	to->births_known = to->births_known || from->births_known;
}

bool process_knows_births(const struct process *p)
{
	for (size_t i = 0; i < p->site_count; i++)
		if (p->sites[i].ages && p->sites[i].ages->births_known)
			return true;
	return false;
}

BY(by_count, struct process_freer, DOWN(count) ?: UP(frame))

void process_add_freers(struct process_freers *to, const struct process_freers *from)
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
			all[k].count = capped_sum(all[k].count, from->at[i].count);
	}
	qsort(all, n, sizeof(*all), by_count);
	to->count = n < SEG_FREERS ? n : SEG_FREERS;
	memcpy(to->at, all, to->count * sizeof(*all));
}

/* True: the highest moment that we know is now. */
static bool make_peak(struct process *p, const struct segment *seg)
{
	/*
	 * with one thread, every event updates the total; with many, flushes do
	 */
	p->peak_exact = seg->peak_stable && p->header.threads <= 1 && p->header.sample_bytes == 0;
	p->totals.peak_bytes = p->header.peak_bytes;
	/*
	 * With one thread the peak is exact; a higher live figure comes from
	 * reading while the host runs. With many threads a flush may be due, so
	 * the current figure may be the highest that is known.
	 */
	if (p->totals.live_bytes <= p->totals.peak_bytes ||
	    (p->peak_exact && p->totals.peak_bytes > 0))
		return false;
	p->peak_exact = false;
	p->totals.peak_bytes = p->totals.live_bytes;
	p->totals.peak_blocks = p->totals.live_blocks;
	return true;
}

/* Pools are added up by make_pools(). */
void process_count(struct process *p, const struct process_site *s)
{
	if (seg_is_heap(s->kind))
		process_add(&p->totals, &s->figures);
	else if (s->kind == SEG_SITE_MAPPING)
		process_add(&p->mapped, &s->figures);
}

static void make_totals(struct process *p, const struct segment *seg)
{
	for (size_t i = 0; i < p->site_count; i++)
		process_count(p, &p->sites[i]);
	if (!make_peak(p, seg))
		return;
	for (size_t i = 0; i < p->site_count; i++) {
		struct process_figures *f = &p->sites[i].figures;

		f->peak_bytes = f->live_bytes;
		f->peak_blocks = f->live_blocks;
	}
}

static void make_pools(struct process *p)
{
	for (size_t i = 0; i < p->site_count; i++) {
		const struct process_site *s = &p->sites[i];

		if (s->kind != SEG_SITE_USER)
			continue;
		process_add(&p->pools[s->pool].figures, &s->figures);
		p->pools[s->pool].site_count++;
	}
}

static uint32_t temporary_ticks(const struct process *p)
{
	if (process_ended_early(p))
		return 0; /* the sums of its first events have no ages */
	return p->header.counted_ticks == SEG_COUNTED_TICKS ? PROCESS_TEMPORARY_TICKS
	                                                    : SEG_YOUNG_TICKS;
}

/*
 * Checks the figures against each other. Impossible ones are shown as they are,
 * and reported. -ENOMEM.
 */
static int check(struct process *p, const struct segment *seg, const struct sums *sums)
{
	struct extents sites;
	int err = extents_init(&sites, seg, SEG_EXT_SITE);

	if (err < 0)
		return err;
	err = invariants_check(seg, sums, &sites, &p->doubt);
	if (err == 0) /* otherwise the counts cannot be compared */
		p->live_map = cross_check_ended(seg, sums, &sites, &p->doubt);
	extents_release(&sites);
	return err == -ENOMEM ? err : 0;
}

static struct process *make_process(const struct segment *seg)
{
	struct process *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->header = seg->header;
	p->exit_status = -1;
	p->is_snapshot = p->header.snapshot_reason != SEG_SNAPSHOT_NONE;
	p->duration_ns = (uint64_t)p->header.tick * p->header.tick_ns;
	p->temporary_ticks = temporary_ticks(p);
	p->births_until = p->header.end_tick;
	return p;
}

/* Rows of the heap; those of pools and mappings are in arrays of their own. */
static void add_rows(struct process_figures *to, const struct segment_rows *x)
{
	if (x->kind != SEG_EXT_LEDGER || !seg_is_heap_array(x->owner))
		return;
	for (uint32_t i = 0; i < x->count; i++) {
		struct seg_row row;

		memcpy(&row, segment_copy_row(x, i), sizeof(row));
		to->allocations = capped_sum(to->allocations, row.allocations);
		to->allocated_bytes = capped_sum(to->allocated_bytes, row.allocated_bytes);
		to->frees = capped_sum(to->frees, row.frees);
		to->freed_bytes = capped_sum(to->freed_bytes, row.freed_bytes);
		/* right also if both sums have wrapped */
		to->live_blocks += row.allocations - row.frees;
		to->live_bytes += row.allocated_bytes - row.freed_bytes;
	}
}

int process_new_brief(const struct segment *seg, struct process **ret)
{
	struct process *p = make_process(seg);
	struct process_figures *t;

	if (!p)
		return -ENOMEM;
	t = &p->totals;
	for (size_t i = 0; i < seg->extent_count; i++)
		add_rows(t, &seg->extents[i]);
	if ((int64_t)t->live_blocks < 0)
		t->live_blocks = 0; /* impossible; a report says so */
	if ((int64_t)t->live_bytes < 0)
		t->live_bytes = 0;
	make_peak(p, seg);
	*ret = p;
	return 0;
}

/* A damaged one is none. */
static int take_rss(struct process *p, const struct segment *seg)
{
	struct rss_account r;
	int err;

	if (!p->is_snapshot)
		return 0; /* it is read from the process itself */
	err = rss_table_take(seg, &r);
	if (err < 0)
		return err == -ENOMEM ? err : 0;
	err = process_add_rss(p, &r);
	rss_account_release(&r);
	return err;
}

int process_new(const struct segment *seg, struct process **ret)
{
	struct process *p = make_process(seg);
	struct sums sums = {0};
	int err;

	if (!p)
		return -ENOMEM;
	err = sums_init(&sums, seg);
	if (err == 0)
		err = process_make_sites(p, seg, &sums);
	if (err == 0)
		err = process_make_tables(p, seg);
	if (err < 0)
		goto out;
	make_totals(p, seg);
	make_pools(p);
	err = check(p, seg, &sums);
	if (err == 0)
		err = take_rss(p, seg);
	if (err < 0)
		goto out;
	*ret = p;
	p = NULL;
out:
	process_free(p);
	sums_release(&sums);
	return err;
}

_Static_assert((int)PROCESS_RUNNING == (int)RECORDING_END_RUNNING &&
        (int)PROCESS_EXITED == (int)RECORDING_END_EXITED &&
        (int)PROCESS_KILLED == (int)RECORDING_END_KILLED &&
        (int)PROCESS_EXEC == (int)RECORDING_END_EXEC,
    "the recording's numbers are ours");

void process_set_recorded(struct process *p, const struct recording_segment *head)
{
	if (head->end_kind != RECORDING_END_UNKNOWN && head->end_kind <= RECORDING_END_EXEC)
		p->end = (enum process_end)head->end_kind;
	else if (p->end == PROCESS_UNKNOWN)
		p->end = PROCESS_GONE; /* it had ended when it was recorded */
	p->exit_status = head->exit_status;
	p->signal = head->signal > 0 ? head->signal : 0;
	p->is_out_of_memory =
	    p->end == PROCESS_KILLED && (head->flags & RECORDING_SEGMENT_OOM) != 0;
	p->owner = head->owner;
	p->view = head->view;
}

void process_drop_rss(struct process *p)
{
	if (p->rss_account)
		rss_account_release(p->rss_account);
	free(p->rss_account);
	for (size_t i = 0; i < p->earlier_count; i++)
		rss_account_release(&p->earlier[i]);
	free(p->earlier);
	p->rss_account = NULL;
	p->earlier = NULL;
	p->earlier_count = p->earlier_room = 0;
}

int process_add_rss(struct process *p, struct rss_account *r)
{
	if (p->rss_account) {
		int err =
		    room_make(&p->earlier, &p->earlier_room, p->earlier_count, sizeof(*p->earlier));

		if (err < 0)
			return err;
		p->earlier[p->earlier_count++] = *p->rss_account;
	} else {
		p->rss_account = calloc(1, sizeof(*p->rss_account));
		if (!p->rss_account)
			return -ENOMEM;
	}
	*p->rss_account = *r;
	*r = (struct rss_account){0};
	return 0;
}

void process_take_rss(struct process *to, struct process *from)
{
	process_drop_rss(to);
	to->rss_account = from->rss_account;
	to->earlier = from->earlier;
	to->earlier_count = from->earlier_count;
	to->earlier_room = from->earlier_room;
	from->rss_account = NULL;
	from->earlier = NULL;
	from->earlier_count = from->earlier_room = 0;
}

int process_join_rss(struct process *to, struct process *from)
{
	struct process all = {.rss_account = from->rss_account,
	    .earlier = from->earlier,
	    .earlier_count = from->earlier_count,
	    .earlier_room = from->earlier_room};
	int err = 0;

	if (!from->rss_account)
		return 0;
	for (size_t i = 0; i < to->earlier_count && err == 0; i++)
		err = process_add_rss(&all, &to->earlier[i]);
	if (to->rss_account && err == 0)
		err = process_add_rss(&all, to->rss_account);
	from->rss_account = NULL;
	from->earlier = NULL;
	from->earlier_count = from->earlier_room = 0;
	process_take_rss(to, &all);
	return err;
}

void process_free(struct process *p)
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
	mapped_pages_free(p->resident);
	free(p->modules);
	free(p->inherited);
	free(p->marks);
	free(p->ids);
	free(p->bare);
	free(p->points);
	if (p->verdicts)
		verdicts_release(p->verdicts);
	free(p->verdicts);
	if (p->aging)
		aging_release(p->aging);
	free(p->aging);
	if (p->inventory)
		inventory_release(p->inventory);
	free(p->inventory);
	free(p->scores);
	process_drop_rss(p);
	free(p);
}

void process_deaths(const struct process_site *site, uint64_t ret_deaths[PROCESS_AGES])
{
	uint64_t old = 0;

	memset(ret_deaths, 0, PROCESS_AGES * sizeof(*ret_deaths));
	for (int i = 1; site->ages && i < PROCESS_AGES; i++) {
		ret_deaths[i] = site->ages->deaths[i];
		old = capped_sum(old, ret_deaths[i]);
	}
	ret_deaths[0] = capped_difference(site->figures.frees, old);
}

void process_young(
    const struct process_ages *ages, uint64_t young, uint64_t ret_steps[PROCESS_STEPS])
{
	memset(ret_steps, 0, PROCESS_STEPS * sizeof(*ret_steps));
	/* while it runs, steps may have been read a moment after the frees */
	for (int i = 1; ages && i < PROCESS_STEPS; i++) {
		ret_steps[i] = ages->young[i] < young ? ages->young[i] : young;
		young -= ret_steps[i];
	}
	ret_steps[0] = young;
}

const struct process_id *process_find_id(const struct process *p, uint32_t id)
{
	size_t low = sorted_first(p->ids, p->id_count, x, x->id < id);

	return low < p->id_count && p->ids[low].id == id ? &p->ids[low] : NULL;
}

const struct process_module *process_module(const struct process *p, uint64_t frame)
{
	uint32_t n = SEG_FRAME_MODULE(frame);

	if (n == 0 || n >= p->module_count || p->modules[n].end == 0)
		return NULL;
	return &p->modules[n];
}

uint64_t process_time_ns(const struct process *p, uint32_t tick)
{
	return p->header.start_realtime_ns + (uint64_t)tick * p->header.tick_ns;
}

uint64_t process_error(double variance)
{
	double half = 1.96 * sqrt(variance) + 0.5;

	/* 2^64, which a double can have */
	return half < 18446744073709551616.0 ? (uint64_t)half : UINT64_MAX;
}

double process_variance_live(const struct process *p)
{
	double sum = 0;

	for (size_t i = 0; i < p->site_count; i++)
		sum += p->sites[i].variance_live;
	return sum;
}

double process_variance_allocated(const struct process *p)
{
	double sum = 0;

	for (size_t i = 0; i < p->site_count; i++)
		sum += p->sites[i].variance_allocated;
	return sum;
}
