/* census_view.c - the stacks of the sites in a census. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "findings/by_type.h"

#include "base/std.h"
#include "view/sites/verdict.h"

static int add_view(struct census_view *v, const struct session *s, const struct process *owner,
    struct names *names, const struct view_options *options)
{
	struct view_options o = *options;
	int err;

	o.only = owner;
	o.pid = VIEW_ANY;
	o.metric = VIEW_ALL;
	o.figures = NULL;
	o.older = NULL;
	o.before = NULL;
	o.group = false;
	o.merge = false;
	o.verdict_only = false;
	o.brief_names = true;
	err = view_new(s, names, &o, &v->views[v->count]);
	v->count += err == 0;
	return err;
}

bool census_view_filters(const struct view_options *options)
{
	return options->include || options->exclude || options->module || options->exclude_module ||
	    options->suppress;
}

int census_view_make(const struct session *s, const struct process *p, struct names *names,
    const struct view_options *options, struct census_view *ret)
{
	uint32_t below = UINT32_MAX;
	int err = 0;

	*ret = (struct census_view){.views = calloc(s->count + 1, sizeof(struct view *)),
	    .is_filtered = census_view_filters(options)};
	if (!ret->views)
		return -ENOMEM;
	/* from p to its ancestors; each has ids below those of the next */
	for (size_t n = 0; n < s->count && err == 0 && below > 0; n++) {
		const struct process *owner = verdict_owner(s, p, below - 1);

		if (!owner)
			break;
		err = add_view(ret, s, owner, names, options);
		below = owner->header.first_id < below ? owner->header.first_id : 0;
	}
	if (err < 0)
		census_view_release(ret);
	return err;
}

void census_view_release(struct census_view *v)
{
	for (size_t i = 0; i < v->count; i++)
		view_free(v->views[i]);
	free(v->views);
	*v = (struct census_view){0};
}

static int by_id(const void *key, const void *item)
{
	uint32_t a = *(const uint32_t *)key;
	uint32_t b = ((const struct view_site *)item)->id;

	return (a > b) - (a < b);
}

const struct view_site *census_view_find(
    const struct census_view *v, uint32_t id, const struct view **ret)
{
	for (size_t i = 0; i < v->count; i++) {
		const struct view *x = v->views[i];
		const struct view_site *found = x->site_count
		    ? bsearch(&id, x->sites, x->site_count, sizeof(*x->sites), by_id)
		    : NULL;

		if (!found)
			continue;
		*ret = x;
		return found;
	}
	return NULL;
}

/* ---- spare: what the sites of a process could give back ---- */

static void add(struct census_spare *to, const struct census_spare *x)
{
	to->equal_blocks += x->equal_blocks;
	to->equal_bytes += x->equal_bytes;
	to->unwritten_blocks += x->unwritten_blocks;
	to->unwritten_bytes += x->unwritten_bytes;
	to->tail_blocks += x->tail_blocks;
	to->tail_bytes += x->tail_bytes;
}

static uint64_t weight(const struct census_spare *x)
{
	return x->equal_bytes + x->unwritten_bytes + x->tail_bytes;
}

static int by_weight(const void *a, const void *b)
{
	const struct spare_line *x = a, *y = b;

	if (weight(&x->sum) != weight(&y->sum))
		return weight(&x->sum) > weight(&y->sum) ? -1 : 1;
	return (x->sum.site > y->sum.site) - (x->sum.site < y->sum.site);
}

int spare_make(const struct census *c, const struct census_view *v, struct spare *ret)
{
	*ret = (struct spare){.lines = calloc(c->spare_count + 1, sizeof(*ret->lines))};
	if (!ret->lines)
		return -ENOMEM;
	for (size_t i = 0; i < c->spare_count; i++) {
		struct spare_line *x = &ret->lines[ret->count];

		x->sum = c->spare[i];
		x->site = census_view_find(v, x->sum.site, &x->view);
		if (!x->site && v->is_filtered) {
			add(&ret->filtered, &x->sum);
			continue;
		}
		add(&ret->all, &x->sum);
		ret->count++;
	}
	qsort(ret->lines, ret->count, sizeof(*ret->lines), by_weight);
	return 0;
}

void spare_release(struct spare *s)
{
	free(s->lines);
	*s = (struct spare){0};
}
