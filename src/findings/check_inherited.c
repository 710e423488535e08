/* check_inherited.c - what forked processes lost of their ancestors' blocks. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "findings/check.h"

#include "findings/check_parts.h"
#include "view/sites/verdict.h"
#include "view/sites/view.h"

/*
 * Blocks that the ancestor itself has lost, before the fork or after it, are
 * reported once, for the ancestor.
 */
static int forget_known(struct view *v, const struct process *owner)
{
	struct verdict_index own;
	int err = verdict_index_make(owner, owner, 0, &own);

	for (size_t i = 0; i < v->site_count && err == 0; i++) {
		struct view_site *s = &v->sites[i];
		const struct verdict_found *f = verdict_index_find(&own, s->site);

		if (f && s->verdict && f->leak.blocks >= s->verdict->leak.blocks)
			s->verdict->leak = (struct verdict_part){0};
		if (f && s->verdict && f->possible.blocks >= s->verdict->possible.blocks)
			s->verdict->possible = (struct verdict_part){0};
	}
	verdict_index_release(&own);
	return err;
}

static int add_view(struct check_input *in, uint32_t process, const struct process *owner,
    uint32_t below, struct names *names, const struct view_options *options)
{
	struct check_inherited *bigger =
	    reallocarray(in->inherited, in->inherited_count + 1, sizeof(*bigger));
	struct view_options o = *options;
	struct view *v;
	int err;

	if (!bigger)
		return -ENOMEM;
	in->inherited = bigger;
	o.only = owner;
	o.pid = VIEW_ANY;
	o.judged = in->session->processes[process];
	o.judged_below = below;
	o.verdict_only = true;
	o.metric = VIEW_ALL;
	o.keep_suppressed = true;
	o.group = false; /* so that forget_known() finds its sites */
	err = view_new(in->session, names, &o, &v);
	if (err < 0)
		return err;
	in->inherited[in->inherited_count++] =
	    (struct check_inherited){.view = v, .process = process};
	return forget_known(v, owner);
}

int check_inherited_find(
    struct check_input *in, struct names *names, const struct view_options *options)
{
	const struct session *s = in->session;
	int err = 0;

	for (uint32_t i = 0; i < s->count && err == 0; i++) {
		const struct process *p = s->processes[i];
		uint32_t below = p->header.first_id;

		if (!p->verdicts || p->verdicts->count == 0)
			continue;
		while (below > 1 && err == 0) {
			const struct process *owner = verdict_owner(s, p, below - 1);

			if (!owner || owner->header.first_id >= below)
				break;
			err = add_view(in, i, owner, below, names, options);
			below = owner->header.first_id;
		}
	}
	return err;
}

void check_inherited_release(struct check_input *in)
{
	for (size_t i = 0; i < in->inherited_count; i++)
		view_free(in->inherited[i].view);
	free(in->inherited);
	in->inherited = NULL;
	in->inherited_count = 0;
}

/* ---- remainders: blocks that start-up code leaves in recorded processes ---- */

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
