/* view.c - a session as people look at it: sites chosen, stacks named. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "report/view.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "reader/index.h"
#include "report/fold.h"
#include "report/words.h"
#include "report/wrappers.h"

enum {
	CHUNK_BYTES = 1 << 20,
	FRAMES_MAX = 2 * STACKS_MAX_FRAMES, /* of a stack, the inlined too */
	OPERATORS_MAX = 8, /* the nothrow and array forms call the plain one */
};

/* Stacks are kept until the view goes, so there is nothing to give back. */
struct view_chunk {
	struct view_chunk *next;
	size_t used;
	char bytes[];
};

/* What a filter says of a frame; asked once. */
enum verdict {
	VERDICT_KNOWN = 1,
	VERDICT_INCLUDE = 2,
	VERDICT_EXCLUDE = 4,
	VERDICT_MODULE = 8,
	VERDICT_EXCLUDE_MODULE = 16,
	VERDICT_WRAPPER = 32,
};

struct builder {
	struct view *view;
	const struct view_options *options;
	uint8_t *verdicts; /* by frame */
	size_t verdict_room;
	size_t site_room;
	struct index index; /* of sites, where they are grouped */
	uint64_t words[STACKS_MAX_FRAMES];
	uint32_t numbers[FRAMES_MAX + 1];
	uint32_t folded[FRAMES_MAX + 1];
	uint16_t repeats[FRAMES_MAX + 1];
};

/* ---- figures ---- */

static uint64_t
plus(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

void
view_add(struct view_figures *to, const struct view_figures *from)
{
	process_add(&to->all, &from->all);
	to->temporary_blocks =
	    plus(to->temporary_blocks, from->temporary_blocks);
	to->temporary_bytes = plus(to->temporary_bytes, from->temporary_bytes);
	to->variance_live += from->variance_live;
	to->variance_allocated += from->variance_allocated;
}

uint64_t
view_bytes(const struct view_figures *f, int metric)
{
	switch (metric) {
	case VIEW_LIVE:
		return f->all.live_bytes;
	case VIEW_PEAK:
		return f->all.peak_bytes;
	case VIEW_TEMPORARY:
		return f->temporary_bytes;
	default:
		return f->all.allocated_bytes;
	}
}

uint64_t
view_blocks(const struct view_figures *f, int metric)
{
	switch (metric) {
	case VIEW_LIVE:
		return f->all.live_blocks;
	case VIEW_PEAK:
		return f->all.peak_blocks;
	case VIEW_TEMPORARY:
		return f->temporary_blocks;
	default:
		return f->all.allocations;
	}
}

uint64_t
view_error(const struct view_figures *f, int metric)
{
	double bytes = (double)view_bytes(f, metric);
	double all = (double)f->all.allocated_bytes;

	if (metric == VIEW_LIVE)
		return process_error(f->variance_live);
	/* variances add up block by block: a part of them has its share */
	if (all > 0 && bytes < all)
		return process_error(f->variance_allocated * bytes / all);
	return process_error(f->variance_allocated);
}

static struct view_figures
figures_of(const struct builder *b, size_t process, size_t site)
{
	const struct process *p = b->view->session->processes[process];
	const struct process_site *s = &p->sites[site];
	uint64_t deaths[PROCESS_AGES];
	struct view_figures f = {.all = s->figures,
	    .variance_live = s->variance_live,
	    .variance_allocated = s->variance_allocated};

	process_deaths(s, deaths);
	f.temporary_blocks = deaths[0];
	f.temporary_bytes = s->figures.freed_bytes;
	if (deaths[0] < s->figures.frees)
		f.temporary_bytes = (uint64_t)((double)f.temporary_bytes *
		    ((double)deaths[0] / (double)s->figures.frees));
	if (b->options->figures)
		f.all = b->options->figures[process][site];
	return f;
}

/* ---- memory ---- */

static void *
keep(struct view *v, const void *bytes, size_t len)
{
	struct view_chunk *c = v->chunks;
	size_t need = (len + 7) & ~(size_t)7;
	void *at;

	if (!c || c->used + need > CHUNK_BYTES) {
		c = malloc(sizeof(*c) +
		    (need > CHUNK_BYTES ? need : (size_t)CHUNK_BYTES));
		if (!c)
			return NULL;
		c->used = 0;
		c->next = v->chunks;
		v->chunks = c;
	}
	at = c->bytes + c->used;
	c->used += need;
	return memcpy(at, bytes, len);
}

void
view_free(struct view *v)
{
	if (!v)
		return;
	for (size_t i = 0; i < v->site_count; i++)
		free(v->sites[i].ages);
	free(v->sites);
	while (v->chunks) {
		struct view_chunk *next = v->chunks->next;

		free(v->chunks);
		v->chunks = next;
	}
	frames_free(v->table);
	free(v);
}

/* ---- frames: what filters say of them ---- */

static bool
matches(const regex_t *re, const char *text)
{
	return re && text && regexec(re, text, 0, NULL, 0) == 0;
}

static uint8_t
judge(const struct view_options *o, const struct frame *x)
{
	uint8_t v = VERDICT_KNOWN;

	if (x->is_missing)
		return v;
	if (matches(o->include, x->function))
		v |= VERDICT_INCLUDE;
	if (matches(o->exclude, x->function))
		v |= VERDICT_EXCLUDE;
	if (matches(o->module, x->module))
		v |= VERDICT_MODULE;
	if (matches(o->exclude_module, x->module))
		v |= VERDICT_EXCLUDE_MODULE;
	if (o->skip_wrappers && x->function &&
	    (wrappers_has(x->function) || matches(o->wrapper, x->function)))
		v |= VERDICT_WRAPPER;
	return v;
}

/* 0: out of memory. */
static uint8_t
verdict(struct builder *b, uint32_t number)
{
	const struct view *v = b->view;

	if (number >= b->verdict_room) {
		size_t room = v->frame_count * 2 + 256;
		uint8_t *bigger = realloc(b->verdicts, room);

		if (!bigger)
			return 0;
		memset(bigger + b->verdict_room, 0, room - b->verdict_room);
		b->verdicts = bigger;
		b->verdict_room = room;
	}
	if (b->verdicts[number] == 0)
		b->verdicts[number] = judge(b->options, &v->frames[number]);
	return b->verdicts[number];
}

/* ---- one site ---- */

/* The whole stack into b->numbers; how many, or negative. */
static int
name_stack(struct builder *b, const struct process *p, struct view_site *site,
    uint32_t stack)
{
	struct view *v = b->view;
	size_t n, count = 0, operators = 0;
	int err;

	n = stacks_frames(
	    p->stacks, stack, b->words, STACKS_MAX_FRAMES, &site->stack_flags);
	for (size_t i = 0; i < n; i++) {
		struct frames_span span;

		err = frames_find(v->table, b->words[i], &span);
		v->frames = frames_list(v->table, &v->frame_count);
		if (err < 0)
			return err;
		for (size_t k = 0; k < span.count; k++) {
			const struct frame *x = &v->frames[span.numbers[k]];

			if (count == 0 && x->api != 0 &&
			    operators < OPERATORS_MAX) {
				site->api = x->api;
				operators++;
			} else if (count < FRAMES_MAX) {
				b->numbers[count++] = span.numbers[k];
			}
		}
	}
	if (words_no_frame(site->stack_flags)) {
		err = frames_missing(v->table,
		    words_no_frame(site->stack_flags), &b->numbers[count++]);
		v->frames = frames_list(v->table, &v->frame_count);
		if (err < 0)
			return err;
	}
	return (int)count;
}

static bool
is_libc(const char *module)
{
	const char *base = frames_base(module);

	return base &&
	    (strncmp(base, "libc.so", 7) == 0 ||
	        strncmp(base, "libpthread", 10) == 0 ||
	        strncmp(base, "ld-linux", 8) == 0);
}

static bool
is_main(const struct frame *x)
{
	return x->is_main && x->function && strcmp(x->function, "main") == 0;
}

/* Not seeded as index_hash() is, so that it can be kept in files. */
static uint64_t
mix(uint64_t h, uint64_t word)
{
	h = (h ^ word) * UINT64_C(0x9e3779b97f4a7c15);
	return h ^ h >> 32;
}

/*
 * From the innermost frame to main; else without the outermost frames in
 * libc, whose names come and go with its debug package.
 */
static uint64_t
fingerprint(struct builder *b, const struct view_site *site, size_t count)
{
	const struct frame *frames = b->view->frames;
	uint64_t h = mix(UINT64_C(0xcbf29ce484222325),
	    (uint64_t)site->kind << 8 | site->api);
	size_t n = 0;

	memcpy(b->folded, b->numbers, count * sizeof(*b->folded));
	count = fold_stack(frames, b->folded, b->repeats, count);
	while (n < count && !is_main(&frames[b->folded[n]]))
		n++;
	if (n < count)
		n++;
	else
		while (n > 0 && is_libc(frames[b->folded[n - 1]].module))
			n--;
	for (size_t i = 0; i < n; i++)
		h = mix(h, frames[b->folded[i]].hash);
	return h;
}

static bool
size_fits(const struct view_options *o, const struct process_site *s)
{
	uint64_t low = s->size_min, high = s->size_max;

	if (low == 0 && high == 0 && s->figures.allocations > 0)
		low = high =
		    s->figures.allocated_bytes / s->figures.allocations;
	return high >= o->min_size && (o->max_size == 0 || low <= o->max_size);
}

/* Does the filter on functions and modules keep this stack? */
static int
passes(struct builder *b, size_t count)
{
	const struct view_options *o = b->options;
	uint8_t all = 0;

	if (!o->include && !o->exclude && !o->module && !o->exclude_module)
		return 1;
	for (size_t i = 0; i < count; i++) {
		uint8_t v = verdict(b, b->numbers[i]);

		if (v == 0)
			return -ENOMEM;
		all |= v;
	}
	return (!o->include || all & VERDICT_INCLUDE) &&
	    (!o->module || all & VERDICT_MODULE) &&
	    !(all & (VERDICT_EXCLUDE | VERDICT_EXCLUDE_MODULE));
}

/* Leading wrappers off; the last frame stays in any case. */
static int
skip_wrappers(struct builder *b, size_t *count)
{
	size_t skip = 0;

	while (b->options->skip_wrappers && skip + 1 < *count) {
		uint8_t v = verdict(b, b->numbers[skip]);

		if (v == 0)
			return -ENOMEM;
		if (!(v & VERDICT_WRAPPER))
			break;
		skip++;
	}
	*count -= skip;
	memmove(b->numbers, b->numbers + skip, *count * sizeof(*b->numbers));
	return 0;
}

/* The stack as it shall be shown, kept. */
static int
shape_stack(struct builder *b, struct view_site *site, size_t count)
{
	const struct view_options *o = b->options;
	struct view *v = b->view;
	bool recurs = false;
	int err;

	err = skip_wrappers(b, &count);
	if (err < 0)
		return err;
	if (o->group)
		for (size_t i = 0; i < count; i++)
			b->numbers[i] = v->frames[b->numbers[i]].place;
	if (o->fold)
		count = fold_stack(v->frames, b->numbers, b->repeats, count);
	if (o->depth > 0 && count > o->depth) {
		count = o->depth;
		err = frames_missing(
		    v->table, "(callers beyond --depth)", &b->numbers[count]);
		v->frames = frames_list(v->table, &v->frame_count);
		if (err < 0)
			return err;
		b->repeats[count++] = 1;
	}
	for (size_t i = 0; o->fold && i < count; i++)
		recurs = recurs || b->repeats[i] > 1;
	site->frame_count = (uint32_t)count;
	site->frames = b->numbers;
	site->repeats = recurs ? b->repeats : NULL;
	return 0;
}

static bool
same_site(const void *items, uint32_t item, const void *key)
{
	const struct view_site *x = (const struct view_site *)items + item;
	const struct view_site *y = key;

	return x->process == y->process && x->kind == y->kind &&
	    x->api == y->api && x->frame_count == y->frame_count &&
	    memcmp(x->frames, y->frames, x->frame_count * sizeof(*x->frames)) ==
	    0;
}

static uint64_t
hash_site(const struct view_site *s)
{
	uint64_t h = index_hash(s->process, (uint64_t)s->kind << 8 | s->api, 3);

	for (uint32_t i = 0; i < s->frame_count; i++)
		h = index_hash(h, s->frames[i], i);
	return h;
}

static void
add_ages(struct process_ages *to, const struct process_ages *from)
{
	for (int i = 0; i < PROCESS_AGES; i++) {
		to->deaths[i] = plus(to->deaths[i], from->deaths[i]);
		to->living[i] = plus(to->living[i], from->living[i]);
	}
	to->living_known = to->living_known || from->living_known;
}

/* Another site that looks the same. */
static void
merge_site(struct view *v, struct view_site *to, struct view_site *from)
{
	bool knows = to->size_min > 0 || to->size_max > 0;

	if (from->size_max > 0 && (!knows || from->size_min < to->size_min))
		to->size_min = from->size_min;
	if (from->size_max > to->size_max)
		to->size_max = from->size_max;
	if (from->first_ns < to->first_ns)
		to->first_ns = from->first_ns;
	if (from->last_ns > to->last_ns)
		to->last_ns = from->last_ns;
	to->samples = plus(to->samples, from->samples);
	to->count++;
	view_add(&to->figures, &from->figures);
	if (from->repeats && !to->repeats)
		to->repeats = keep(v, from->repeats,
		    from->frame_count * sizeof(*from->repeats));
	for (uint32_t i = 0;
	     to->repeats && from->repeats && i < to->frame_count; i++)
		if (from->repeats[i] > to->repeats[i])
			to->repeats[i] = from->repeats[i];
	if (to->ages && from->ages) {
		add_ages(to->ages, from->ages);
	} else if (from->ages) {
		to->ages = from->ages;
		from->ages = NULL;
	}
}

/* Takes site->ages over, also on failure. */
static int
add_site(struct builder *b, struct view_site *site)
{
	struct view *v = b->view;
	uint32_t at = (uint32_t)v->site_count;
	int err = -ENOMEM;

	if (v->site_count == b->site_room) {
		size_t room = b->site_room ? b->site_room * 2 : 1024;
		struct view_site *bigger =
		    reallocarray(v->sites, room, sizeof(*bigger));

		if (!bigger)
			goto out;
		v->sites = bigger;
		b->site_room = room;
	}
	if (b->options->group &&
	    index_find(&b->index, hash_site(site), same_site, v->sites, site,
	        at, &at) < 0)
		goto out;
	if (at < v->site_count) {
		merge_site(v, &v->sites[at], site);
		err = 0;
		goto out;
	}
	site->frames =
	    keep(v, site->frames, site->frame_count * sizeof(*site->frames));
	if (site->repeats)
		site->repeats = keep(v, site->repeats,
		    site->frame_count * sizeof(*site->repeats));
	if (!site->frames)
		goto out;
	v->sites[v->site_count++] = *site;
	return 0;
out:
	free(site->ages);
	return err;
}

static struct process_ages *
ages_of(const struct process_site *s)
{
	struct process_ages *ages = calloc(1, sizeof(*ages));

	if (!ages)
		return NULL;
	if (s->ages)
		*ages = *s->ages;
	process_deaths(s, ages->deaths);
	return ages;
}

static void
count_in(struct view_sum *sum, const struct view_figures *f)
{
	sum->sites++;
	view_add(&sum->figures, f);
}

static int
look_at(struct builder *b, uint32_t process, size_t number)
{
	const struct view_options *o = b->options;
	struct view *v = b->view;
	const struct process *p = v->session->processes[process];
	const struct process_site *s = &p->sites[number];
	struct view_site site = {
	    .process = o->merge ? VIEW_MERGED : process,
	    .site = (uint32_t)number,
	    .id = s->id,
	    .count = 1,
	    .kind = s->kind,
	    .api = s->api,
	    .figures = figures_of(b, process, number),
	    .samples = s->samples,
	    .size_min = s->size_min,
	    .size_max = s->size_max,
	    .first_ns = process_time_ns(p, s->first_tick),
	    .last_ns = process_time_ns(p, s->last_tick),
	};
	int n, keeps;

	if ((s->kind == SEG_SITE_USER && !o->all_kinds) ||
	    (o->metric != VIEW_ALL &&
	        view_blocks(&site.figures, o->metric) == 0))
		return 0;
	if (!size_fits(o, s)) {
		count_in(&v->filtered, &site.figures);
		return 0;
	}
	n = name_stack(b, p, &site, s->stack);
	if (n < 0)
		return n;
	keeps = passes(b, (size_t)n);
	if (keeps < 0)
		return keeps;
	if (keeps == 0) {
		count_in(&v->filtered, &site.figures);
		return 0;
	}
	count_in(&v->chosen, &site.figures);
	site.fingerprint = fingerprint(b, &site, (size_t)n);
	n = shape_stack(b, &site, (size_t)n);
	if (n < 0)
		return n;
	if (s->ages || s->figures.frees > 0) {
		site.ages = ages_of(s);
		if (!site.ages)
			return -ENOMEM;
	}
	return add_site(b, &site);
}

int
view_new(const struct session *s, struct names *names,
    const struct view_options *options, struct view **ret)
{
	struct builder *b = calloc(1, sizeof(*b));
	struct view *v = calloc(1, sizeof(*v));
	int err = -ENOMEM;

	if (!b || !v)
		goto out;
	b->view = v;
	b->options = options;
	v->session = s;
	err = frames_new(names, &v->table);
	for (size_t i = 0; i < s->count && err == 0; i++) {
		const struct process *p = s->processes[i];

		if (options->pid != VIEW_ANY && p->header.pid != options->pid)
			continue;
		err = frames_begin(v->table, p, (uint32_t)i);
		for (size_t k = 0; k < p->site_count && err == 0; k++)
			err = look_at(b, (uint32_t)i, k);
	}
	if (err < 0)
		goto out;
	*ret = v;
	v = NULL;
out:
	if (b) {
		index_release(&b->index);
		free(b->verdicts);
	}
	free(b);
	view_free(v);
	return err;
}
