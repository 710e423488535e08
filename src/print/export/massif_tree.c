/* massif_tree.c - the heap at one moment as a tree of callers, in the form of massif. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "print/export/export_forms.h"

#include "print/export/texts.h"
#include "kit/data/room.h"
#include "view/sites/enum_words.h"
#include "kit/words/text.h"
#include "kit/data/sorted.h"

/* Sites in the order of their stacks: those that share frames are neighbours. */
struct massif_tree {
	const struct view *view;
	unsigned depth, per_mille; /* of the whole: what a branch must have */
	struct modules modules;
	uint32_t *order;         /* numbers of sites */
	struct branch *branches; /* to be written, the next one last */
	size_t branch_count, branch_room;
};

/* Sites [first, end) of the order: they have frames up to `level` in common. */
struct branch {
	size_t first, end;
	uint64_t bytes;
	unsigned level;
	size_t places; /* not 0: this stands for so many small branches */
};

/* One pass over the tree. */
struct pass {
	FILE *out;
	const uint64_t *bytes;
	uint64_t least; /* what a line of its own takes */
};

static uint32_t place(const struct view *v, uint32_t site, unsigned level)
{
	const struct view_site *s = &v->sites[site];

	return v->frames[s->frames[level]].place;
}

static int by_stack(const void *a, const void *b, void *context)
{
	const struct view *v = context;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	uint32_t nx = v->sites[x].frame_count, ny = v->sites[y].frame_count;

	for (uint32_t i = 0; i < nx && i < ny; i++) {
		uint32_t p = place(v, x, i), q = place(v, y, i);

		if (p != q)
			return p < q ? -1 : 1;
	}
	if (nx != ny)
		return nx < ny ? -1 : 1;
	return (x > y) - (x < y);
}

int massif_tree_new(const struct view *v, unsigned depth, bool full, struct massif_tree **ret)
{
	struct massif_tree *t = calloc(1, sizeof(*t));
	int err = -ENOMEM;

	if (!t)
		return -ENOMEM;
	t->view = v;
	t->depth = depth ? depth : full ? UINT_MAX : MASSIF_DEPTH;
	t->per_mille = full ? 0 : MASSIF_PER_MILLE;
	t->order = calloc(v->site_count + 1, sizeof(*t->order));
	if (t->order)
		err = modules_init(&t->modules, v->session);
	if (err < 0) {
		massif_tree_free(t);
		return err;
	}
	for (uint32_t i = 0; i < v->site_count; i++)
		t->order[i] = i;
	/* qsort_r() only reads the context */
	qsort_r(t->order, v->site_count, sizeof(*t->order), by_stack, (void *)(uintptr_t)v);
	*ret = t;
	return 0;
}

void massif_tree_free(struct massif_tree *t)
{
	if (!t)
		return;
	modules_release(&t->modules);
	free(t->order);
	free(t->branches);
	free(t);
}

/* ---- children ---- */

static int add_branch(struct massif_tree *t, const struct branch *b)
{
	if (room_make(&t->branches, &t->branch_room, t->branch_count, sizeof(*t->branches)) < 0)
		return -ENOMEM;
	t->branches[t->branch_count++] = *b;
	return 0;
}

/* The largest is last, because the last one is written next. */
BY(lighter, struct branch, UP(bytes) ?: DOWN(first))

/* Sites from `at` on that have the same frame at this level; moves `at`. */
static struct branch next_branch(
    const struct massif_tree *t, const struct pass *p, size_t *at, size_t end, unsigned level)
{
	const struct view *v = t->view;
	struct branch b = {.first = *at, .level = level};

	for (; *at < end && place(v, t->order[*at], level) == place(v, t->order[b.first], level);
	     (*at)++)
		b.bytes += p->bytes[t->order[*at]];
	b.end = *at;
	return b;
}

/*
 * Puts the branches of sites [first, end) by their frame at `level` on the
 * pile, the small ones as one at its bottom. *ret_count: how many lines.
 */
static int find_branches(struct massif_tree *t, const struct pass *p, size_t first, size_t end,
    unsigned level, size_t *ret_count)
{
	struct branch rest = {.level = level};
	size_t begin = t->branch_count;
	int err;

	err = add_branch(t, &rest); /* its temporary place */
	for (size_t i = first; i < end && err == 0;) {
		struct branch b;

		if (t->view->sites[t->order[i]].frame_count <= level) {
			i++; /* it ends here */
			continue;
		}
		b = next_branch(t, p, &i, end, level);
		if (b.bytes > 0 && b.bytes >= p->least) {
			err = add_branch(t, &b);
		} else if (b.bytes > 0) {
			rest.places++;
			rest.bytes += b.bytes;
		}
	}
	if (err < 0)
		return err;
	if (rest.places > 0)
		t->branches[begin++] = rest;
	else /* any other will do: they are sorted later */
		t->branches[begin] = t->branches[--t->branch_count];
	if (t->branch_count > begin)
		qsort(t->branches + begin, t->branch_count - begin, sizeof(*t->branches), lighter);
	*ret_count = t->branch_count - begin + (rest.places > 0);
	return 0;
}

/* ---- lines ---- */

static void put_begin(FILE *out, unsigned indent, size_t children, uint64_t bytes)
{
	(void)fprintf(out, "%*sn%zu: %" PRIu64 " ", (int)indent, "", children, bytes);
}

static void put_rest(const struct pass *p, const struct branch *b)
{
	put_begin(p->out, b->level + 1, 0, b->bytes);
	(void)fprintf(p->out, "in %zu place%s, %sbelow massif's threshold (%.2f%%)\n", b->places,
	    b->places == 1 ? "" : "s", b->places == 1 ? "" : "all ", MASSIF_PER_MILLE / 10.0);
}

/* Writes the branch on top of the pile, and puts its own branches there. */
static int put_branch(struct massif_tree *t, const struct pass *p)
{
	const struct branch b = t->branches[--t->branch_count];
	const struct view_site *s;
	size_t count = 0;
	int err = 0;

	if (b.places > 0) {
		put_rest(p, &b);
		return 0;
	}
	if (b.level + 1 < t->depth)
		err = find_branches(t, p, b.first, b.end, b.level + 1, &count);
	if (err < 0)
		return err;
	s = &t->view->sites[t->order[b.first]];
	put_begin(p->out, b.level + 1, count, b.bytes);
	modules_put_frame(p->out, &t->modules, &t->view->frames[s->frames[b.level]], "?");
	(void)putc('\n', p->out);
	return 0;
}

int massif_tree_write(struct massif_tree *t, FILE *out, const uint64_t *bytes, uint64_t whole)
{
	const struct pass p = {.out = out, .bytes = bytes, .least = whole / 1000 * t->per_mille};
	uint64_t sum = 0;
	size_t count;
	int err;

	for (size_t i = 0; i < t->view->site_count; i++)
		sum += bytes[i];
	t->branch_count = 0;
	err = find_branches(t, &p, 0, t->view->site_count, 0, &count);
	if (err < 0)
		return err;
	put_begin(out, 0, count + (whole > sum), whole);
	(void)fputs("(heap allocation functions) malloc/new/new[], "
	            "--alloc-fns, etc.\n",
	    out);
	while (t->branch_count > 0 && err == 0)
		err = put_branch(t, &p);
	if (whole > sum) {
		put_begin(out, 1, 0, whole - sum);
		(void)fputs("in places that are left out\n", out);
	}
	return err;
}
