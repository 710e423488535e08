/* html_others.c - very small sites, merged below their callers. */
/* SPDX-License-Identifier: Apache-2.0 */

#include "print/page/html_parts.h"

#include "base/std.h"
#include "kit/data/room.h"

/*
 * Small sites that share outer frames are merged. Each site goes as deep into
 * the tree as the sites around it are together above the threshold; there it
 * becomes part of one site "(other)".
 */
struct range {
	size_t first, end; /* of the list */
	uint32_t depth;    /* outer frames that all of them share */
};

struct merge {
	struct html *html;
	const struct view *view;
	struct html_group *group;
	const struct html_row *list; /* in the order of their stacks */
	struct range *pile;          /* to be split, the next one last */
	size_t pile_count, pile_room;
};

static int push(struct merge *m, struct range r)
{
	int err = room_make(&m->pile, &m->pile_room, m->pile_count, sizeof(r));

	if (err == 0)
		m->pile[m->pile_count++] = r;
	return err;
}

/*
 * The frame at this depth, counted from the outermost, as a number of the page.
 */
static uint32_t place_at(const struct view *v, const struct view_site *s, uint32_t depth)
{
	return v->frames[s->frames[s->frame_count - 1 - depth]].place;
}

static int by_stack(const void *a, const void *b, void *view)
{
	const struct html_row *x = a, *y = b;
	uint32_t n = x->site->frame_count < y->site->frame_count ? x->site->frame_count
	                                                         : y->site->frame_count;

	if (x->group != y->group)
		return x->group < y->group ? -1 : 1;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t px = place_at(view, x->site, i);
		uint32_t py = place_at(view, y->site, i);

		if (px != py)
			return px < py ? -1 : 1;
	}
	if (x->site->frame_count != y->site->frame_count)
		return x->site->frame_count < y->site->frame_count ? -1 : 1;
	return (x->site->site > y->site->site) - (x->site->site < y->site->site);
}

/* Makes a new one, below the outer `depth` frames of s. -ENOMEM. */
static int begin_other(struct html_group *g, const struct view_site *s, uint32_t depth)
{
	int err = room_make(&g->others, &g->other_room, g->other_count, sizeof(*g->others));

	if (err < 0)
		return err;
	g->others[g->other_count++].site = (struct view_site){.kind = s->kind,
	    .api = s->api,
	    .first_ns = s->first_ns,
	    .stack_flags = s->stack_flags,
	    .frames = s->frames + (s->frame_count - depth),
	    .frame_count = depth};
	return 0;
}

/* Adds a site that is too small for a row. -ENOMEM. */
static int add_to_other(struct html_group *g, const struct view_site *s)
{
	struct view_site *o = &g->others[g->other_count - 1].site;

	g->row_of[s->site] = HTML_OTHERS + (uint32_t)g->other_count - 1;
	g->merged++;
	view_join(o, s);
	if (!s->ages)
		return 0;
	if (!o->own_ages)
		o->ages = o->own_ages = calloc(1, sizeof(*o->own_ages));
	if (!o->own_ages)
		return -ENOMEM;
	process_add_ages(o->own_ages, s->ages);
	return 0;
}

/*
 * The end of the sites from `first` on that have the same frame at this depth.
 */
static size_t same_until(
    const struct merge *m, const struct range *r, size_t first, struct view_figures *ret_sum)
{
	const struct view_site *s = m->list[first].site;
	size_t i;

	*ret_sum = (struct view_figures){0};
	for (i = first; i < r->end; i++) {
		const struct view_site *x = m->list[i].site;

		if (place_at(m->view, x, r->depth) != place_at(m->view, s, r->depth))
			break;
		view_add(ret_sum, &x->figures);
	}
	return i;
}

/* Puts subtrees above the threshold on the pile, and merges the other sites. */
static int split(struct merge *m, const struct range *r)
{
	struct html_group *g = m->group;
	bool begun = false;
	int err = 0;

	for (size_t i = r->first, end; i < r->end && err == 0; i = end) {
		struct view_figures sum = {0};

		end = i + 1;
		if (m->list[i].site->frame_count > r->depth)
			end = same_until(m, r, i, &sum);
		if (html_rows_matter(&sum, g, m->html->threshold)) {
			err =
			    push(m, (struct range){.first = i, .end = end, .depth = r->depth + 1});
			continue;
		}
		if (!begun)
			err = begin_other(g, m->list[i].site, r->depth);
		begun = true;
		for (size_t k = i; k < end && err == 0; k++)
			err = add_to_other(g, m->list[k].site);
	}
	return err;
}

int html_others_merge(struct html *h, uint32_t input, struct html_row *small, size_t count)
{
	struct merge m = {.html = h, .view = h->inputs[input].view, .list = small};
	int err = 0;

	qsort_r(small, count, sizeof(*small), by_stack, (void *)(uintptr_t)m.view);
	for (size_t i = 0, end; i < count && err == 0; i = end) {
		for (end = i; end < count && small[end].group == small[i].group;)
			end++;
		m.group = &h->groups[small[i].group];
		err = push(&m, (struct range){.first = i, .end = end});
		while (m.pile_count > 0 && err == 0) {
			struct range r = m.pile[--m.pile_count];

			err = split(&m, &r);
		}
	}
	free(m.pile);
	return err;
}
