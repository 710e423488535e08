/* inventory_make.c - record --retained and --types: an inventory of what was read. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "follow/recorder/leaks_look.h"

#include "findings/held_view.h"

static int take_holders(const struct leaks_look_memory *m, struct names *names,
    const struct view_options *view, struct inventory_of *to)
{
	const struct held_view_input in = {.session = m->session,
	    .process = m->process,
	    .pid = m->pid,
	    .names = names,
	    .view = view,
	    .heap = m->heap,
	    .notes = m->notes,
	    .max_bytes = m->max_bytes,
	    .was_stopped = m->was_still};
	struct held_view v;
	int err = held_view_make(&in, &v);

	if (err < 0)
		return err;
	err = inventory_of_held(to, &v);
	held_view_release(&v);
	return err;
}

static int take_types(
    const struct leaks_look_memory *m, struct names *names, struct inventory_of *to)
{
	struct by_type_find *find = NULL;
	struct by_type types = {0};
	int err = by_type_find_new(m->session, m->process, names, m->census, &find);

	if (err == 0)
		err = by_type_make(m->process, m->census, NULL, find, &types);
	if (err == 0) {
		by_type_settle(&types);
		err = inventory_of_types(to, &types, m->census->is_partial);
	}
	by_type_release(&types);
	by_type_find_free(find);
	return err;
}

int inventory_make(
    const struct leaks_look_more *more, const struct leaks_look_memory *m, struct inventory *ret)
{
	const struct view_options view = {
	    .pid = VIEW_ANY, .metric = VIEW_ALL, .fold = true, .trim = true};
	struct names *names = NULL;
	struct inventory_of to;
	int err = inventory_of_begin(&to);

	if (err == 0)
		err = names_new(more->context, &names);
	if (m->heap && err == 0)
		err = take_holders(m, names, &view, &to);
	else
		heap_free(m->heap);
	if (m->census && err == 0)
		err = take_types(m, names, &to);
	names_free(names);
	return inventory_of_end(&to, err, ret);
}
