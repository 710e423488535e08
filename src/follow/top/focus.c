/* focus.c - the sites of one process: counters of the looks, and names. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "follow/top/focus.h"

#include "follow/top/board.h"
#include "kit/data/capped.h"
#include "kit/os/clock.h"
#include "kit/data/room.h"

enum { SAMPLES = BOARD_RATE_LOOKS + 1, AGAIN = 10 };

/* One id of the segment. Samples are of the last looks, the newest first. */
struct account {
	struct engine_site site; /* without its trend */
	uint64_t live[SAMPLES], allocations[SAMPLES];
	uint8_t engine_count, allocation_count;
	struct trend trend;
};

struct accounts {
	struct account *items; /* by id */
	size_t count, room;
};

struct focus {
	uint64_t number;
	pid_t pid; /* 0: it has ended, or is out of sight */
	bool is_over;
	struct accounts now, spare;
	uint64_t times[SAMPLES];
	size_t looks;   /* that this has seen */
	uint64_t least; /* live bytes of sites that are kept, if many */
	uint64_t left_out;
	struct focus_site *rows;
	size_t row_count, row_room;
	/* names */
	struct namer *namer;
	struct namer_filter filter;
	struct namer_table *shown, *next; /* rows point into shown */
	uint64_t asked_ns, took_ns;
	char *page;
};

static uint64_t live_of(const struct engine_site *s)
{
	return capped_difference(s->allocated_bytes, s->freed_bytes);
}

/* ---- counters ---- */

/* What a look at all sites fills. */
struct gathering {
	struct focus *focus;
	const struct engine_process *process;
	struct accounts *to;
	const struct accounts *from; /* by id, as the sites come */
	size_t at;                   /* in that */
	uint64_t looks;              /* of the process, for a trend */
	size_t count;                /* sites that have `least` bytes */
	bool is_first;
	int err;
};

static uint64_t then(const struct gathering *g, const struct engine_site *s, size_t back)
{
	return engine_site_then(g->process, s, g->looks - 1 - back);
}

/*
 * In the first look at the process, the past comes from the engine. It is
 * rounded, so that only differences of it are used.
 */
static void begin_account(struct gathering *g, struct account *a, const struct engine_site *s)
{
	size_t past = g->looks < SAMPLES ? g->looks : SAMPLES;
	uint64_t live = live_of(s), last;

	if (!g->is_first) { /* it is new, so it had nothing before */
		a->engine_count = a->allocation_count = SAMPLES;
		return;
	}
	a->engine_count = s->trend ? (uint8_t)past : SAMPLES;
	for (size_t i = 1; i < SAMPLES; i++)
		a->live[i] = live;
	if (!s->trend || past == 0)
		return;
	last = then(g, s, 0);
	for (size_t i = 1; i < past; i++) {
		uint64_t was = then(g, s, i);

		a->live[i] =
		    was > last ? capped_sum(live, was - last) : capped_difference(live, last - was);
	}
}

static void find_trend(const struct gathering *g, struct trend *t, const struct engine_site *s)
{
	uint64_t values[TREND_LOOKS];
	size_t count = g->looks < TREND_LOOKS ? g->looks : TREND_LOOKS;

	if (!s->trend) {
		trend_flat(t, count);
		return;
	}
	for (size_t i = 0; i < count; i++)
		values[i] = then(g, s, count - 1 - i);
	trend_of(t, values, count);
}

static void add_sample(uint64_t samples[SAMPLES], uint8_t *count, uint64_t value, bool shift)
{
	if (shift)
		memmove(samples + 1, samples, (SAMPLES - 1) * sizeof(*samples));
	samples[0] = value;
	if (*count < SAMPLES)
		*count += (uint8_t)(shift || *count == 0);
}

static bool take_site(void *context, const struct engine_site *s)
{
	struct gathering *g = context;
	const struct account *old = NULL;
	struct account *a;

	if (s->is_pool || live_of(s) < g->focus->least)
		return true;
	g->err = room_make(&g->to->items, &g->to->room, g->to->count, sizeof(*a));
	if (g->err < 0)
		return false;
	a = &g->to->items[g->to->count++];
	while (g->at < g->from->count && g->from->items[g->at].site.id < s->id)
		g->at++;
	if (g->at < g->from->count && g->from->items[g->at].site.id == s->id)
		old = &g->from->items[g->at];
	if (old)
		*a = *old;
	else
		*a = (struct account){0};
	if (!old)
		begin_account(g, a, s);
	a->site = *s;
	a->site.trend = NULL; /* valid until the next look */
	find_trend(g, &a->trend, s);
	add_sample(a->live, &a->engine_count, live_of(s), old || !g->is_first);
	add_sample(a->allocations, &a->allocation_count, s->allocations, old || !g->is_first);
	return true;
}

static bool count_site(void *context, const struct engine_site *s)
{
	struct gathering *g = context;

	g->count += !s->is_pool && live_of(s) >= g->focus->least;
	return true;
}

/* Of very many sites those with the most live bytes are kept. */
static void find_least(struct gathering *g, const struct engine *l)
{
	struct focus *f = g->focus;

	f->least = f->left_out = 0;
	if (g->process->site_count <= FOCUS_SITES)
		return;
	for (;;) {
		g->count = 0;
		engine_each_site(l, g->process, count_site, g);
		if (f->least == 0)
			f->left_out = g->count;
		if (g->count <= FOCUS_SITES)
			break;
		f->least = f->least ? f->least * 2 : 1;
	}
	f->left_out -= g->count;
}

/* Does the table lack a site that there is? */
static bool is_table_old(const struct focus *f)
{
	const struct namer_table *t = f->next ? f->next : f->shown;
	size_t k = 0;

	for (size_t i = 0; i < f->now.count; i++) {
		uint32_t id = f->now.items[i].site.id;

		while (t && k < t->id_count && t->ids[k].id < id)
			k++;
		if (!t || k == t->id_count || t->ids[k].id != id)
			return true;
	}
	return false;
}

static void ask_table(struct focus *f)
{
	if (!f->namer)
		return;
	f->asked_ns = clock_ns(CLOCK_MONOTONIC);
	namer_ask_table(f->namer, f->pid, &f->filter);
}

/* Names of new sites, but a tenth of the time at most goes into finding them. */
static void ask_again(struct focus *f)
{
	uint64_t passed = clock_ns(CLOCK_MONOTONIC) - f->asked_ns;

	if (f->namer && !namer_is_naming(f->namer) && passed >= AGAIN * f->took_ns &&
	    is_table_old(f))
		ask_table(f);
}

int focus_look(struct focus *f, const struct engine *l, const struct engine_process *p)
{
	struct gathering g = {.focus = f,
	    .process = p,
	    .to = &f->spare,
	    .from = &f->now,
	    .looks = p->looks,
	    .is_first = f->looks == 0};
	struct accounts old = f->now;

	f->pid = p->state == LIVE_RUNS ? p->pid : 0;
	f->is_over = p->state == LIVE_ENDED;
	if (g.is_first)
		for (size_t i = 0; i < SAMPLES && i < p->looks; i++)
			f->times[i] = p->ring[(p->looks - 1 - i) % LIVE_LOOKS].at_ns;
	else
		memmove(f->times + 1, f->times, (SAMPLES - 1) * sizeof(*f->times));
	f->times[0] = p->now.at_ns;
	find_least(&g, l);
	g.to->count = 0;
	engine_each_site(l, p, take_site, &g);
	if (g.err < 0)
		return g.err;
	f->now = f->spare;
	f->spare = old;
	f->looks++;
	ask_again(f);
	return 0;
}

static bool take_base(void *context, const struct engine_site *s)
{
	struct gathering *g = context;
	struct accounts *a = &g->focus->now;

	while (g->at < a->count && a->items[g->at].site.id < s->id)
		g->at++;
	if (g->at == a->count || a->items[g->at].site.id != s->id)
		return true;
	a->items[g->at].site.base_live_bytes = s->base_live_bytes;
	a->items[g->at].site.base_live_blocks = s->base_live_blocks;
	a->items[g->at].site.base_allocations = s->base_allocations;
	return true;
}

void focus_set_base(struct focus *f, const struct engine *l, const struct engine_process *p)
{
	struct gathering g = {.focus = f, .process = p};

	engine_each_site(l, p, take_base, &g);
}

/* ---- rows ---- */

static void set_rates(const struct focus *f, const struct account *a, struct focus_site *row)
{
	size_t live = a->engine_count > 0 ? a->engine_count - 1u : 0;
	size_t calls = a->allocation_count > 0 ? a->allocation_count - 1u : 0;
	double seconds;

	/* samples that are older than the first look have no time */
	while (live > 0 && f->times[live] == 0)
		live--;
	while (calls > 0 && f->times[calls] == 0)
		calls--;
	row->has_rates = calls > 0;
	if (f->is_over)
		return;
	if (live > 0 && f->times[0] > f->times[live]) {
		seconds = (double)(f->times[0] - f->times[live]) / 1e9;
		row->growth += (double)capped_change(a->live[0], a->live[live]) / seconds;
	}
	if (calls > 0 && f->times[0] > f->times[calls]) {
		seconds = (double)(f->times[0] - f->times[calls]) / 1e9;
		row->allocations_rate +=
		    (double)capped_difference(a->allocations[0], a->allocations[calls]) / seconds;
	}
}

/* Adds one id to its row. */
static void add_account(const struct focus *f, const struct account *a, struct focus_site *row)
{
	const struct engine_site *s = &a->site;
	uint64_t live = live_of(s);
	uint64_t blocks = capped_difference(s->allocations, s->frees);

	if (row->allocations == 0 || live > row->live_bytes)
		row->trend = a->trend;
	row->allocations = capped_sum(row->allocations, s->allocations);
	row->allocated_bytes = capped_sum(row->allocated_bytes, s->allocated_bytes);
	row->frees = capped_sum(row->frees, s->frees);
	row->freed_bytes = capped_sum(row->freed_bytes, s->freed_bytes);
	row->live_blocks = capped_sum(row->live_blocks, blocks);
	row->live_bytes = capped_sum(row->live_bytes, live);
	row->since_bytes =
	    capped_sum_signed(row->since_bytes, capped_change(live, s->base_live_bytes));
	row->since_blocks =
	    capped_sum_signed(row->since_blocks, capped_change(blocks, s->base_live_blocks));
	set_rates(f, a, row);
}

static void set_name(struct focus_site *row, const struct namer_site *s)
{
	row->id = s->id;
	row->api = s->api;
	row->is_named = true;
	row->is_chosen = s->is_chosen;
	row->is_main = s->is_main;
	row->is_missing = s->is_missing;
	row->function = s->function;
	row->file = s->file;
	row->module = s->module;
	row->offset = s->offset;
	row->line = s->line;
}

static bool has_filter(const struct namer_filter *f)
{
	return f->include[0] || f->exclude[0] || f->module[0];
}

/* The newest table, to which no row points yet. */
static void adopt_table(struct focus *f)
{
	if (!f->next)
		return;
	namer_table_free(f->shown);
	f->shown = f->next;
	f->next = NULL;
}

int focus_fill(struct focus *f)
{
	const struct namer_table *t;
	uint32_t *row_of; /* by site of the table: row + 1 */
	size_t k = 0;

	f->row_count = 0;
	adopt_table(f);
	t = f->shown;
	row_of = calloc(t ? t->count + 1 : 1, sizeof(*row_of));
	if (!row_of)
		return -ENOMEM;
	for (size_t i = 0; i < f->now.count; i++) {
		const struct account *a = &f->now.items[i];
		const struct namer_site *named = NULL;
		uint32_t site = 0, row = 0;

		while (t && k < t->id_count && t->ids[k].id < a->site.id)
			k++;
		if (t && k < t->id_count && t->ids[k].id == a->site.id) {
			site = t->ids[k].site;
			named = &t->sites[site];
			row = row_of[site];
		}
		if (row == 0) {
			if (room_make(&f->rows, &f->row_room, f->row_count, sizeof(*f->rows)) < 0) {
				free(row_of);
				return -ENOMEM;
			}
			row = (uint32_t)++f->row_count;
			f->rows[row - 1] = (struct focus_site){
			    .id = a->site.id, .is_chosen = !has_filter(&f->filter)};
			if (named) {
				set_name(&f->rows[row - 1], named);
				row_of[site] = row;
			}
		}
		add_account(f, a, &f->rows[row - 1]);
	}
	free(row_of);
	return 0;
}

static int compare_ids(const void *key, const void *item)
{
	uint32_t a = *(const uint32_t *)key;
	uint32_t b = ((const struct process_id *)item)->id;

	return a < b ? -1 : a > b;
}

void focus_rename(struct focus *f)
{
	if (!f->next)
		return;
	adopt_table(f);
	for (size_t i = 0; i < f->row_count; i++) {
		struct focus_site *row = &f->rows[i];
		const struct process_id *found = bsearch(&row->id, f->shown->ids,
		    f->shown->id_count, sizeof(*f->shown->ids), compare_ids);

		row->is_named = false;
		row->is_chosen = !has_filter(&f->filter);
		row->function = row->file = row->module = NULL;
		if (found)
			set_name(row, &f->shown->sites[found->site]);
	}
}

struct focus_site *focus_rows(struct focus *f, size_t *ret_count)
{
	*ret_count = f->row_count;
	return f->rows;
}

/* ---- names ---- */

void focus_choose(struct focus *f, const struct namer_filter *filter)
{
	f->filter = *filter;
	ask_table(f);
}

int focus_fd(const struct focus *f)
{
	return f->namer ? namer_fd(f->namer) : -1;
}

bool focus_receive(struct focus *f)
{
	struct namer_table *table = NULL;
	bool changed = false;
	char *text = NULL;

	while (f->namer) {
		switch (namer_receive(f->namer, &table, &text)) {
		case NAMER_TABLE:
			f->took_ns = clock_ns(CLOCK_MONOTONIC) - f->asked_ns;
			namer_table_free(f->next);
			f->next = table;
			break;
		case NAMER_PAGE:
			free(f->page);
			f->page = text;
			break;
		case NAMER_ENDED:
			namer_free(f->namer);
			f->namer = NULL;
			break;
		case NAMER_NOTHING:
			return changed;
		}
		changed = true;
	}
	return changed;
}

bool focus_is_naming(const struct focus *f)
{
	return f->namer && namer_is_naming(f->namer);
}

void focus_ask_names(struct focus *f)
{
	if (!focus_is_naming(f) && is_table_old(f))
		ask_table(f);
}

bool focus_has_namer(const struct focus *f)
{
	return f->namer != NULL;
}

void focus_ask_page(struct focus *f, const struct namer_page *page)
{
	if (f->namer)
		namer_ask_page(f->namer, f->pid, page);
}

const char *focus_page(const struct focus *f)
{
	return f->page;
}

bool focus_is_paging(const struct focus *f)
{
	return f->namer && namer_is_paging(f->namer);
}

void focus_forget_page(struct focus *f)
{
	free(f->page);
	f->page = NULL;
}

/* ---- the whole ---- */

int focus_new(const struct engine *l, const struct engine_process *p,
    const struct names_options *naming, const struct namer_filter *filter, struct focus **ret)
{
	struct namer_plan plan = {.naming = naming};
	struct focus *f = calloc(1, sizeof(*f));
	int err;

	if (!f)
		return -ENOMEM;
	f->number = p->number;
	f->filter = *filter;
	f->pid = p->state == LIVE_RUNS ? p->pid : 0;
	plan.file = engine_segfile(l, p, &plan.slot);
	if (plan.file && namer_new(&plan, &f->namer) == 0)
		ask_table(f);
	err = p->looks > 0 ? focus_look(f, l, p) : 0;
	if (err < 0) {
		focus_free(f);
		return err;
	}
	*ret = f;
	return 0;
}

void focus_free(struct focus *f)
{
	if (!f)
		return;
	namer_free(f->namer);
	namer_table_free(f->shown);
	namer_table_free(f->next);
	free(f->now.items);
	free(f->spare.items);
	free(f->rows);
	free(f->page);
	free(f);
}

uint64_t focus_number(const struct focus *f)
{
	return f->number;
}
