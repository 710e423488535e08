/* html_stacks.c - the stacks of a page, sorted; each as the difference from the last. */
/* SPDX-License-Identifier: Apache-2.0 */

#include "print/page/html_parts.h"

#include "base/std.h"
#include "kit/data/sorted.h"

/* The frames of a row, outermost first, as numbers of the page. */
struct stack {
	const uint32_t *frames;
	uint32_t count;
	struct html_row row;
};

/* Numbers of a view's frames in the page; 0: not asked for yet, else + 1. */
struct numbers {
	const struct view *view;
	uint32_t *of_frame;
};

static int number_of(struct html *h, struct numbers *n, uint32_t frame, uint32_t *ret)
{
	const struct view *v = n->view;
	int err;

	/* By place, so that addresses of one line are the same frame. */
	frame = v->frames[frame].place;
	if (n->of_frame[frame] == 0) {
		err = html_frames_frame(&h->frames, &v->frames[frame], &n->of_frame[frame]);
		if (err < 0)
			return err;
		n->of_frame[frame]++;
	}
	*ret = n->of_frame[frame] - 1;
	return 0;
}

/* The innermost frame of what is merged. */
static int number_of_other(struct html *h, uint32_t *ret)
{
	static const struct frame other = {.function = "(other)", .is_missing = true};

	return html_frames_frame(&h->frames, &other, ret);
}

static int fill(struct html *h, struct numbers *numbers, struct stack *s, uint32_t *room)
{
	const struct html_group *g = &h->groups[s->row.group];
	const struct view_site *site = s->row.site;
	int err = g->input < h->input_count ? 0 : -EINVAL;

	s->frames = room;
	s->count = site->frame_count;
	for (uint32_t i = 0; i < s->count && err == 0; i++)
		err = number_of(h, &numbers[g->input], site->frames[s->count - 1 - i], &room[i]);
	if (s->row.other && err == 0)
		err = number_of_other(h, &room[s->count++]);
	return err;
}

static uint32_t shared(const struct stack *a, const struct stack *b)
{
	uint32_t n = a->count < b->count ? a->count : b->count, i = 0;

	while (i < n && a->frames[i] == b->frames[i])
		i++;
	return i;
}

static int compare(const struct stack *a, const struct stack *b)
{
	uint32_t n = shared(a, b);

	if (n < a->count && n < b->count)
		return a->frames[n] < b->frames[n] ? -1 : 1;
	return (a->count > b->count) - (a->count < b->count);
}

static int by_frames(const void *a, const void *b)
{
	const struct stack *x = a, *y = b;
	int order = compare(x, y);

	if (order == 0)
		order = (x->row.group > y->row.group) - (x->row.group < y->row.group);
	if (order == 0) /* a total order, so that equal inputs give equal pages */
		order = (x->row.site->id > y->row.site->id) - (x->row.site->id < y->row.site->id);
	return order;
}

static void put(struct html_blob *b, const struct stack *before, const struct stack *s)
{
	uint32_t n = before ? shared(before, s) : 0;

	html_blob_put(b, HTML_STACK_SHARED, n);
	html_blob_put(b, HTML_STACK_ADDED, s->count - n);
	for (; n < s->count; n++)
		html_blob_put(b, HTML_STACK_FRAMES, s->frames[n]);
}

BY(by_group, struct html_row, UP(group) ?: UP(stack) ?: UP(site->id))

/* Numbers the stacks; rows go back to their groups. */
static void put_all(struct html *h, struct stack *stacks)
{
	const struct stack *before = NULL;
	uint32_t number = 0;

	qsort(stacks, h->row_count, sizeof(*stacks), by_frames);
	for (size_t i = 0; i < h->row_count; i++) {
		if (!before || compare(before, &stacks[i]) != 0) {
			put(&h->blob, before, &stacks[i]);
			before = &stacks[i];
			number++;
		}
		h->rows[i] = stacks[i].row;
		h->rows[i].stack = number - 1;
	}
	qsort(h->rows, h->row_count, sizeof(*h->rows), by_group);
}

/* A merged site gets the row of the group that it is merged into. */
static void resolve_others(struct html_group *g)
{
	for (size_t i = 0; i < g->process->site_count; i++) {
		uint32_t n = g->row_of[i] - HTML_OTHERS;

		if (g->row_of[i] >= HTML_OTHERS && n < g->other_count)
			g->row_of[i] = g->others[n].row;
	}
}

/* Where the rows of each group are, and the row of each site. */
static void find_rows(struct html *h)
{
	for (size_t i = 0; i < h->row_count; i++) {
		const struct html_row *r = &h->rows[i];
		struct html_group *g = &h->groups[r->group];

		if (g->count++ == 0)
			g->first = i;
		if (r->other)
			g->others[r->other - 1].row = (uint32_t)i;
		else
			g->row_of[r->site->site] = (uint32_t)i;
	}
	for (size_t i = 0; i < h->group_count; i++)
		resolve_others(&h->groups[i]);
}

int html_stacks_put(struct html *h)
{
	struct numbers *numbers = calloc(h->input_count, sizeof(*numbers));
	struct stack *stacks = calloc(h->row_count + 1, sizeof(*stacks));
	uint32_t *frames = NULL;
	size_t total = 0, at = 0;
	int err = numbers && stacks ? 0 : -ENOMEM;

	for (size_t i = 0; i < h->input_count && err == 0; i++) {
		const struct view *v = h->inputs[i].view;

		numbers[i] = (struct numbers){
		    .view = v, .of_frame = calloc(v->frame_count + 1, sizeof(uint32_t))};
		err = numbers[i].of_frame ? 0 : -ENOMEM;
	}
	for (size_t i = 0; i < h->row_count; i++)
		total += h->rows[i].site->frame_count + 1;
	if (err == 0)
		frames = calloc(total + 1, sizeof(*frames));
	if (!frames)
		err = -ENOMEM;
	for (size_t i = 0; i < h->row_count && err == 0; i++) {
		stacks[i].row = h->rows[i];
		err = fill(h, numbers, &stacks[i], frames + at);
		at += stacks[i].count;
	}
	if (err == 0) {
		put_all(h, stacks);
		find_rows(h);
		html_frames_put(&h->frames, &h->blob);
	}
	for (size_t i = 0; numbers && i < h->input_count; i++)
		free(numbers[i].of_frame);
	free(numbers);
	free(stacks);
	free(frames);
	return err;
}
