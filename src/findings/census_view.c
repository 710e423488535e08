/* census_view.c - the stacks of the sites in a census. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "findings/census_view.h"

#include <errno.h>
#include <stdlib.h>

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
