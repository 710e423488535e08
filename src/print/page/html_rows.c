/* html_rows.c - which sites have a row in a page: all but very small ones. */
/* SPDX-License-Identifier: Apache-2.0 */

#include "print/page/html_parts.h"

#include "base/std.h"
enum {
	SITES_ENOUGH = 2000,     /* up to this number all sites have a row */
	SITES_MAX = 100000,      /* of a page, unless all are asked for */
	THRESHOLD_START = 10000, /* a ten thousandth */
};

static int add_groups(struct html *h, uint32_t input)
{
	const struct session *s = h->inputs[input].view->session;
	uint32_t pid = h->options->pid;
	struct html_group *bigger;

	bigger = reallocarray(h->groups, h->group_count + s->count + 1, sizeof(*bigger));
	if (!bigger)
		return -ENOMEM;
	h->groups = bigger;
	for (size_t i = 0; i < s->count; i++) {
		struct html_group *g = &h->groups[h->group_count];
		const struct process *p = s->processes[i];

		if (pid != VIEW_ANY && p->header.pid != pid)
			continue;
		*g = (struct html_group){.input = input,
		    .process = p,
		    .row_of = calloc(p->site_count + 1, sizeof(*g->row_of))};
		h->group_count++; /* its memory is ours in any case */
		if (!g->row_of)
			return -ENOMEM;
		memset(g->row_of, 0xff, p->site_count * sizeof(*g->row_of));
	}
	return 0;
}

/* The group of each process of a session, or NULL. For free(). */
static struct html_group **groups_of(struct html *h, uint32_t input)
{
	const struct session *s = h->inputs[input].view->session;
	struct html_group **list = calloc(s->count + 1, sizeof(struct html_group *));
	size_t at = 0;

	for (size_t i = 0; list && i < h->group_count; i++) {
		struct html_group *g = &h->groups[i];

		if (g->input != input)
			continue;
		while (s->processes[at] != g->process)
			at++;
		list[at] = g;
	}
	return list;
}

static bool is_share(uint64_t part, uint64_t whole, double share)
{
	return part > 0 && (double)part >= share * (double)whole;
}

bool html_rows_matter(const struct view_figures *f, const struct html_group *g, double share)
{
	for (int i = 0; i < FIGURES; i++)
		if (figures[i].is_share &&
		    is_share(
		        figures_value(&figures[i], f), figures_value(&figures[i], &g->all), share))
			return true;
	return false;
}

/* Suppressed and lost sites must stay distinguishable, and pools are few. */
static bool matters(const struct view_site *s, const struct html_group *g, double share)
{
	return s->kind == SEG_SITE_USER || s->suppression || s->verdict || share == 0 ||
	    html_rows_matter(&s->figures, g, share);
}

/* Sites of an input by process; `count` of them would have a row. */
static int look_at(struct html *h, uint32_t input, double share, size_t *count)
{
	const struct view *v = h->inputs[input].view;
	struct html_group **groups = groups_of(h, input);

	if (!groups)
		return -ENOMEM;
	for (size_t i = 0; i < v->site_count; i++) {
		const struct view_site *s = &v->sites[i];
		struct html_group *g = groups[s->process];

		if (!g)
			continue;
		if (share < 0) /* the first time, take all */
			view_add(&g->all, &s->figures);
		*count += share < 0 || matters(s, g, share);
	}
	free(groups);
	return 0;
}

/* Raises the threshold until at most SITES_MAX sites have a row. */
static int choose_threshold(struct html *h)
{
	size_t count = 0;
	double share = -1;
	int err = 0;

	for (;;) {
		for (uint32_t i = 0; i < h->input_count && err == 0; i++)
			err = look_at(h, i, share, &count);
		if (err < 0 || h->options->full ||
		    count <= (share < 0 ? SITES_ENOUGH : SITES_MAX) || share >= 1)
			break;
		share = share < 0 ? 1.0 / THRESHOLD_START : share * 4;
		count = 0;
	}
	h->threshold = share < 0 ? 0 : share;
	return err;
}

static void add_row(struct html *h, struct html_row row)
{
	h->rows[h->row_count++] = row;
}

/* Larger sites first, then the small ones, when their groups are known. */
static int add_rows(struct html *h, uint32_t input)
{
	const struct view *v = h->inputs[input].view;
	struct html_group **groups = groups_of(h, input);
	struct html_row *small = calloc(v->site_count + 1, sizeof(*small));
	size_t count = 0;
	int err = groups && small ? 0 : -ENOMEM;

	for (size_t i = 0; i < v->site_count && err == 0; i++) {
		const struct view_site *s = &v->sites[i];
		struct html_group *g = groups[s->process];
		struct html_row row = {.site = s};

		if (!g)
			continue;
		row.group = (uint32_t)(g - h->groups);
		if (matters(s, g, h->threshold))
			add_row(h, row);
		else
			small[count++] = row;
	}
	if (err == 0)
		err = html_others_merge(h, input, small, count);
	for (uint32_t i = 0; i < h->group_count && err == 0; i++)
		for (uint32_t k = 0; h->groups[i].input == input && k < h->groups[i].other_count;
		     k++)
			add_row(h,
			    (struct html_row){
			        .site = &h->groups[i].others[k].site, .group = i, .other = k + 1});
	free(groups);
	free(small);
	return err;
}

int html_rows_choose(struct html *h)
{
	size_t most = 0;
	int err = 0;

	for (uint32_t i = 0; i < h->input_count && err == 0; i++) {
		err = add_groups(h, i);
		most += h->inputs[i].view->site_count;
	}
	if (err == 0)
		err = choose_threshold(h);
	if (err < 0)
		return err;
	h->rows = calloc(most + 1, sizeof(*h->rows)); /* others are of sites */
	if (!h->rows)
		return -ENOMEM;
	for (uint32_t i = 0; i < h->input_count && err == 0; i++)
		err = add_rows(h, i);
	return err;
}
