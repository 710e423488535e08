/* remainders.c - blocks that start-up code leaves in recorded processes. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "findings/remainders.h"

#include "view/sites/view.h"

enum { SECONDS = 2 }; /* the user waits for a prompt */

static void add_up(const struct session *s, const struct view *v, struct remainders *ret)
{
	*ret = (struct remainders){0};
	for (size_t i = 0; i < v->site_count; i++) {
		const struct view_site *x = &v->sites[i];

		if (!x->suppression || s->processes[x->process]->end == PROCESS_EXEC)
			continue;
		ret->sites++;
		ret->blocks += x->figures.all.live_blocks;
		ret->bytes += x->figures.all.live_bytes;
	}
}

int remainders_count(const char *path, struct remainders *ret)
{
	const struct names_options naming = {.seconds = SECONDS};
	struct view_options o = {.metric = VIEW_LIVE, .keep_suppressed = true};
	struct names *names = NULL;
	struct session *s = NULL;
	struct fault where;
	struct view *v;
	int err;

	err = session_load(path, &s, &where);
	if (err < 0)
		return err;
	err = suppress_new(&o.suppress);
	if (err == 0)
		err = suppress_builtin(o.suppress);
	if (err == 0)
		err = names_new(&naming, &names);
	if (err == 0)
		err = view_new(s, names, &o, &v);
	if (err == 0) {
		add_up(s, v, ret);
		view_free(v);
	}
	names_free(names);
	suppress_free(o.suppress);
	session_free(s);
	return err;
}
