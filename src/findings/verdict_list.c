/* verdict_list.c - the sites of a process that have verdicts. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "findings/score_list.h"

#include "kit/data/capped.h"

static struct verdict_sums *sums_of(struct verdict_list *l, uint32_t class)
{
	return class == VERDICT_LEAK ? &l->leak : &l->possible;
}

static void add(struct verdict_sum *to, uint64_t blocks, uint64_t bytes)
{
	to->places++;
	to->blocks = capped_sum(to->blocks, blocks);
	to->bytes = capped_sum(to->bytes, bytes);
}

static void add_line(struct verdict_list *l, uint32_t class, const struct verdict_part *part,
    const struct view *v, const struct view_site *site)
{
	struct verdict_sums *sums = sums_of(l, class);

	if (part->looks == 0)
		return;
	if (site && site->suppression) {
		add(&sums->suppressed, part->blocks, part->bytes);
		return;
	}
	add(&sums->shown, part->blocks, part->bytes);
	l->lines[l->count++] = (struct verdict_line){.class = class,
	    .part = *part,
	    .is_inherited = l->view_count != 1 || !v,
	    .view = v,
	    .site = site};
}

/* The sites of p, or of an ancestor of it. */
static int add_view(struct verdict_list *l, const struct session *s, const struct process *owner,
    const struct process *judged, uint32_t below, struct names *names,
    const struct view_options *options)
{
	struct view_options o = *options;
	struct view *v;
	int err;

	o.only = owner;
	o.pid = VIEW_ANY;
	o.judged = judged;
	o.judged_below = below;
	o.verdict_only = true;
	o.metric = VIEW_ALL;
	o.figures = NULL;
	o.older = NULL;
	o.before = NULL;
	o.merge = false;
	o.keep_suppressed = true;
	o.brief_names = true;
	err = view_new(s, names, &o, &v);
	if (err < 0)
		return err;
	l->views[l->view_count++] = v;
	for (size_t i = 0; i < v->site_count; i++) {
		const struct verdict_found *f = v->sites[i].verdict;

		add_line(l, VERDICT_LEAK, &f->leak, v, &v->sites[i]);
		add_line(l, VERDICT_POSSIBLE, &f->possible, v, &v->sites[i]);
	}
	return 0;
}

/* Sites without a stack, because their process is not in the session. */
static void add_homeless(struct verdict_list *l, const struct session *s, const struct process *p)
{
	const struct verdicts *v = p->verdicts;
	struct verdict_part parts[2] = {{0}};

	for (size_t i = 0; i < v->count; i++) {
		const struct verdict_site *x = &v->sites[i];
		struct verdict_part *to = &parts[x->class == VERDICT_POSSIBLE];

		if (verdict_owner(s, p, x->site))
			continue;
		to->blocks = capped_sum(to->blocks, x->blocks);
		to->bytes = capped_sum(to->bytes, x->bytes);
		to->direct_blocks = capped_sum(to->direct_blocks, x->direct_blocks);
		to->indirect_blocks = capped_sum(to->indirect_blocks, x->indirect_blocks);
		to->notes |= x->notes;
		to->looks = v->looks;
	}
	add_line(l, VERDICT_LEAK, &parts[0], NULL, NULL);
	add_line(l, VERDICT_POSSIBLE, &parts[1], NULL, NULL);
}

static int worse(const void *a, const void *b)
{
	const struct verdict_line *x = a, *y = b;

	if (x->class != y->class)
		return x->class < y->class ? -1 : 1;
	if (x->part.bytes != y->part.bytes)
		return x->part.bytes > y->part.bytes ? -1 : 1;
	if (x->part.blocks != y->part.blocks)
		return x->part.blocks > y->part.blocks ? -1 : 1;
	if (!x->site || !y->site)
		return !x->site - !y->site;
	return (x->site->id > y->site->id) - (x->site->id < y->site->id);
}

/* Sites that are neither shown nor suppressed were filtered. */
static void find_filtered(struct verdict_list *l, const struct verdicts *v, uint32_t class)
{
	struct verdict_sums *sums = sums_of(l, class);
	uint64_t places, blocks, bytes;
	uint64_t known = capped_sum(sums->shown.blocks, sums->suppressed.blocks);
	uint64_t known_bytes = capped_sum(sums->shown.bytes, sums->suppressed.bytes);

	verdict_total(v, class, &places, &blocks, &bytes);
	sums->filtered.blocks = blocks > known ? blocks - known : 0;
	sums->filtered.bytes = bytes > known_bytes ? bytes - known_bytes : 0;
}

static void add_sums(
    struct verdict_sums *sums, const struct verdict_part *part, const struct view_site *site)
{
	if (part->looks > 0)
		add(site->suppression ? &sums->suppressed : &sums->shown, part->blocks,
		    part->bytes);
}

void verdict_list_sums(
    const struct view *v, uint32_t process, const struct process *p, struct verdict_list *ret)
{
	*ret = (struct verdict_list){0};
	for (size_t i = 0; i < v->site_count; i++) {
		const struct view_site *s = &v->sites[i];

		if (!s->verdict || s->process != process)
			continue;
		add_sums(&ret->leak, &s->verdict->leak, s);
		add_sums(&ret->possible, &s->verdict->possible, s);
	}
	if (!p->verdicts)
		return;
	find_filtered(ret, p->verdicts, VERDICT_LEAK);
	find_filtered(ret, p->verdicts, VERDICT_POSSIBLE);
}

int verdict_list_make(const struct session *s, const struct process *p, struct names *names,
    const struct view_options *options, struct verdict_list *ret)
{
	const struct verdicts *v = p->verdicts;
	const struct process *owner = NULL;
	uint32_t below = UINT32_MAX;
	int err = 0;

	*ret = (struct verdict_list){0};
	if (!v || v->count == 0)
		return 0;
	ret->lines = calloc(v->count + 2, sizeof(*ret->lines));
	ret->views = calloc(s->count + 1, sizeof(struct view *));
	if (!ret->lines || !ret->views)
		err = -ENOMEM;
	/* from p to its ancestors; each has ids below those of the next */
	for (size_t n = 0; n < s->count && err == 0 && below > 0; n++) {
		owner = verdict_owner(s, p, below - 1);
		if (!owner)
			break;
		err = add_view(ret, s, owner, p, below, names, options);
		below = owner->header.first_id < below ? owner->header.first_id : 0;
	}
	if (err < 0) {
		verdict_list_release(ret);
		return err;
	}
	add_homeless(ret, s, p);
	if (ret->count > 0)
		qsort(ret->lines, ret->count, sizeof(*ret->lines), worse);
	find_filtered(ret, v, VERDICT_LEAK);
	find_filtered(ret, v, VERDICT_POSSIBLE);
	return 0;
}

void verdict_list_release(struct verdict_list *l)
{
	for (size_t i = 0; l->views && i < l->view_count; i++)
		view_free(l->views[i]);
	free(l->views);
	free(l->lines);
	*l = (struct verdict_list){0};
}
