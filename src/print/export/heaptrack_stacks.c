/* heaptrack_stacks.c - names and stacks of a view as heaptrack's file has them. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "print/export/export_forms.h"

#include "kit/data/capped.h"
#include "kit/data/room.h"
#include "kit/words/text.h"
#include "print/export/texts.h"

struct heaptrack_trace {
	uint32_t location, parent; /* numbers; parent 0: none */
};

int heaptrack_stacks_init(struct heaptrack_stacks *h, FILE *out, const struct view *v)
{
	*h = (struct heaptrack_stacks){.out = out, .view = v};
	h->err = modules_init(&h->modules, v->session);
	return h->err;
}

void heaptrack_stacks_release(struct heaptrack_stacks *h)
{
	modules_release(&h->modules);
	strings_release(&h->strings);
	locations_release(&h->locations);
	dict_release(&h->index);
	free(h->traces);
	h->traces = NULL;
}

/* ---- names ---- */

/* Its number in the file; 0: none. */
static uint32_t string(struct heaptrack_stacks *h, const char *text)
{
	size_t before = h->strings.count, len = 0;
	uint32_t number;
	char *clean = NULL;
	FILE *memory;

	if (!text || !*text || h->err < 0)
		return 0;
	h->err = strings_find(&h->strings, text, &number);
	if (h->err < 0)
		return 0;
	if (number < before)
		return number + 1;
	memory = open_memstream(&clean, &len);
	if (memory)
		text_print(memory, text);
	if (!memory || fclose(memory) != 0) {
		free(clean);
		h->err = -ENOMEM;
		return 0;
	}
	(void)fprintf(h->out, "s %zx %s\n", len, clean);
	free(clean);
	return number + 1;
}

/* The number of its name: "libfoo.so+0x1b7" where no function is known. */
static uint32_t name(struct heaptrack_stacks *h, const struct frame *f)
{
	uint32_t number;
	char *made;

	if (f->brief)
		return string(h, f->brief);
	made = texts_name_of(f);
	if (!made)
		h->err = -ENOMEM;
	number = made ? string(h, made) : 0;
	free(made);
	return number;
}

static void put_location(struct heaptrack_stacks *h, const struct location *l)
{
	const struct view *v = h->view;
	const struct frame *outer = l->count ? &v->frames[l->frames[l->count - 1]] : NULL;
	uint32_t module = outer ? string(h, outer->module) : 0;
	uint64_t address = 0;

	if (outer && !outer->is_missing)
		address = modules_address(&h->modules, outer);
	for (uint32_t i = 0; i < l->count; i++) {
		(void)name(h, &v->frames[l->frames[i]]);
		(void)string(h, v->frames[l->frames[i]].file);
	}
	if (!outer)
		(void)string(h, "(no frames)");
	(void)fprintf(h->out, "i %" PRIx64 " %" PRIx32, address, module);
	for (uint32_t i = 0; i < l->count; i++) {
		const struct frame *f = &v->frames[l->frames[i]];

		(void)fprintf(h->out, " %" PRIx32 " %" PRIx32 " %" PRIx32, name(h, f),
		    string(h, f->file), f->line);
	}
	if (!outer)
		(void)fprintf(h->out, " %" PRIx32 " 0 0", string(h, "(no frames)"));
	(void)putc('\n', h->out);
}

/* ---- stacks ---- */

static bool same_trace(const void *items, uint32_t item, const void *key)
{
	const struct heaptrack_trace *a = (const struct heaptrack_trace *)items + item;
	const struct heaptrack_trace *b = key;

	return a->location == b->location && a->parent == b->parent;
}

static uint32_t find_trace(struct heaptrack_stacks *h, const struct heaptrack_trace *fresh)
{
	uint32_t at;

	h->err = room_make(&h->traces, &h->trace_room, h->trace_count, sizeof(*h->traces));
	if (h->err < 0)
		return 0;
	h->err = dict_find(&h->index, dict_hash(fresh->location, fresh->parent, 9), same_trace,
	    h->traces, fresh, (uint32_t)h->trace_count, &at);
	if (h->err < 0)
		return 0;
	if (at == h->trace_count) {
		h->traces[h->trace_count++] = *fresh;
		(void)fprintf(
		    h->out, "t %" PRIx32 " %" PRIx32 "\n", fresh->location + 1, fresh->parent);
	}
	return at + 1;
}

uint32_t heaptrack_stacks_put(struct heaptrack_stacks *h, const struct view_site *s)
{
	uint32_t numbers[STACKS_MAX_FRAMES];
	uint32_t at = 0, n = 0, parent = 0;

	do {
		size_t before = h->locations.count;

		h->err = locations_next(&h->locations, h->view, s, &at, &numbers[n]);
		if (h->err < 0)
			return 0;
		if (numbers[n] == before)
			put_location(h, &h->locations.list[before]);
		n++;
	} while (at < s->frame_count && n < STACKS_MAX_FRAMES);
	while (n-- > 0 && h->err == 0)
		parent = find_trace(
		    h, &(struct heaptrack_trace){.location = numbers[n], .parent = parent});
	return parent;
}

/* ---- heaptrack_plan: invents events that add up to a site's figures ---- */

/* A limit, so that two of them can be added. */
static uint64_t bounded(uint64_t n)
{
	return n < UINT64_MAX / 4 ? n : UINT64_MAX / 4;
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* The range of bytes for blocks that are live both times. */
struct range {
	uint64_t low, high;
};

/* It can only be this much. */
static void narrow(struct range *r, uint64_t value)
{
	if (value < r->low || value > r->high)
		*r = (struct range){.low = 1, .high = 0};
	else
		r->low = r->high = value;
}

/* Tries this number of blocks that are live both times. */
static bool try_blocks(const struct heaptrack_group *all, const struct heaptrack_group *peak,
    const struct heaptrack_group *end, uint64_t blocks, struct heaptrack_plan *ret)
{
	struct range bytes = {.low = capped_difference(peak->bytes + end->bytes, all->bytes),
	    .high = smaller(peak->bytes, end->bytes)};
	uint64_t both;

	if (blocks == 0)
		narrow(&bytes, 0);
	if (blocks == peak->blocks)
		narrow(&bytes, peak->bytes);
	if (blocks == end->blocks)
		narrow(&bytes, end->bytes);
	if (peak->blocks + end->blocks - blocks == all->blocks)
		narrow(&bytes, capped_difference(peak->bytes + end->bytes, all->bytes));
	if (bytes.low > bytes.high)
		return false;
	both = bytes.high;
	if (peak->blocks + end->blocks - blocks == all->blocks &&
	    peak->bytes + end->bytes - both != all->bytes)
		return false;
	*ret = (struct heaptrack_plan){.both = {blocks, both},
	    .peak = {peak->blocks - blocks, peak->bytes - both},
	    .end = {end->blocks - blocks, end->bytes - both},
	    .neither = {all->blocks - (peak->blocks + end->blocks - blocks),
	        all->bytes - (peak->bytes + end->bytes - both)}};
	return true;
}

void heaptrack_plan(const struct process_figures *f, struct heaptrack_plan *ret)
{
	const struct heaptrack_group all = {bounded(f->allocations), bounded(f->allocated_bytes)};
	const struct heaptrack_group peak = {bounded(f->peak_blocks), bounded(f->peak_bytes)};
	const struct heaptrack_group end = {bounded(f->live_blocks), bounded(f->live_bytes)};
	uint64_t most = smaller(peak.blocks, end.blocks);
	uint64_t least = capped_difference(peak.blocks + end.blocks, all.blocks);
	const uint64_t tries[] = {most, capped_difference(most, 1), least, least + 1,
	    least + capped_difference(most, least) / 2};

	/*
	 * bounds matter only if a group is empty: try the limits and one inside
	 */
	for (size_t i = 0; i < sizeof(tries) / sizeof(tries[0]); i++)
		if (tries[i] >= least && tries[i] <= most &&
		    try_blocks(&all, &peak, &end, tries[i], ret))
			return;
	*ret = (struct heaptrack_plan){.peak = peak,
	    .end = end,
	    .neither = {capped_difference(all.blocks, peak.blocks + end.blocks),
	        capped_difference(all.bytes, peak.bytes + end.bytes)}};
	if (ret->neither.blocks == 0)
		ret->neither.bytes = 0;
}
