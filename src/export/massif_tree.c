/* massif_tree.c - the heap at one moment as massif tells it, by callers. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "export/massif_tree.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "export/modules.h"
#include "export/texts.h"
#include "report/words.h"

/* Sites in the order of their stacks: those that share frames are neighbours. */
struct massif_tree {
	const struct view *view;
	unsigned depth;
	struct modules modules;
	uint32_t *order; /* numbers of sites */
	/* children of the nodes that are being written, outermost first */
	struct branch *branches;
	size_t branch_count, branch_room;
};

/* Sites [first, end) of the order, which have a frame more in common. */
struct branch {
	size_t first, end;
	uint64_t bytes;
};

/* One pass over the tree. */
struct pass {
	FILE *out;
	const uint64_t *bytes;
	uint64_t whole, least;
};

static uint32_t
place(const struct view *v, uint32_t site, unsigned level)
{
	const struct view_site *s = &v->sites[site];

	return v->frames[s->frames[level]].place;
}

static int
by_stack(const void *a, const void *b, void *context)
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

int
massif_tree_new(const struct view *v, unsigned depth, struct massif_tree **ret)
{
	struct massif_tree *t = calloc(1, sizeof(*t));
	int err = -ENOMEM;

	if (!t)
		return -ENOMEM;
	t->view = v;
	t->depth = depth ? depth : MASSIF_DEPTH;
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
	qsort_r(t->order, v->site_count, sizeof(*t->order), by_stack,
	    (void *)(uintptr_t)v);
	*ret = t;
	return 0;
}

void
massif_tree_free(struct massif_tree *t)
{
	if (!t)
		return;
	modules_release(&t->modules);
	free(t->order);
	free(t->branches);
	free(t);
}

/* ---- children ---- */

static int
add_branch(struct massif_tree *t, const struct branch *b)
{
	if (t->branch_count == t->branch_room) {
		size_t room = t->branch_room ? t->branch_room * 2 : 256;
		struct branch *bigger =
		    reallocarray(t->branches, room, sizeof(*bigger));

		if (!bigger)
			return -ENOMEM;
		t->branches = bigger;
		t->branch_room = room;
	}
	t->branches[t->branch_count++] = *b;
	return 0;
}

static int
heavier(const void *a, const void *b)
{
	const struct branch *x = a, *y = b;

	if (x->bytes != y->bytes)
		return x->bytes > y->bytes ? -1 : 1;
	return (x->first > y->first) - (x->first < y->first);
}

/* Those that are too light, in one. */
struct rest {
	size_t places;
	uint64_t bytes;
};

/* The branches of sites [first, end) by their frame at `level`. */
static int
find_branches(struct massif_tree *t, const struct pass *p, size_t first,
    size_t end, unsigned level, struct rest *ret)
{
	const struct view *v = t->view;
	size_t begin = t->branch_count;
	int err = 0;

	*ret = (struct rest){0};
	for (size_t i = first; i < end && err == 0;) {
		struct branch b = {.first = i};

		if (v->sites[t->order[i]].frame_count <= level) {
			i++; /* it ends here */
			continue;
		}
		for (; i < end &&
		     place(v, t->order[i], level) ==
		         place(v, t->order[b.first], level);
		     i++)
			b.bytes += p->bytes[t->order[i]];
		b.end = i;
		if (b.bytes > 0 && b.bytes >= p->least) {
			err = add_branch(t, &b);
		} else if (b.bytes > 0) {
			ret->places++;
			ret->bytes += b.bytes;
		}
	}
	if (t->branch_count > begin)
		qsort(t->branches + begin, t->branch_count - begin,
		    sizeof(*t->branches), heavier);
	return err;
}

/* ---- lines ---- */

static void
put_begin(FILE *out, unsigned indent, size_t children, uint64_t bytes)
{
	(void)fprintf(
	    out, "%*sn%zu: %" PRIu64 " ", (int)indent, "", children, bytes);
}

static void
put_rest(const struct pass *p, unsigned indent, const struct rest *r)
{
	if (r->places == 0)
		return;
	put_begin(p->out, indent, 0, r->bytes);
	(void)fprintf(p->out,
	    "in %zu place%s, %sbelow massif's threshold (%.2f%%)\n", r->places,
	    r->places == 1 ? "" : "s", r->places == 1 ? "" : "all ",
	    MASSIF_PER_MILLE / 10.0);
}

/* "0x401136: parse (a.c:12)", "0x401136: parse (in /usr/lib/libfoo.so)" */
static void
put_frame(const struct massif_tree *t, FILE *out, const struct frame *f)
{
	(void)fprintf(out, "0x%" PRIX64 ": ",
	    f->is_missing ? 0 : modules_address(&t->modules, f));
	texts_name(out, f);
	if (f->file) {
		(void)fputs(" (", out);
		words_print(out, frames_base(f->file));
		(void)fprintf(out, ":%" PRIu32 ")\n", f->line);
	} else {
		(void)fputs(" (in ", out);
		words_print(out, f->module ? f->module : "?");
		(void)fputs(")\n", out);
	}
}

/* Depth of the recursion is t->depth at most. */
static int
put_branch(struct massif_tree *t, const struct pass *p, struct branch b,
    unsigned level)
{
	const struct view_site *s = &t->view->sites[t->order[b.first]];
	size_t begin = t->branch_count, count;
	struct rest rest = {0};
	int err = 0;

	if (level + 1 < t->depth)
		err = find_branches(t, p, b.first, b.end, level + 1, &rest);
	if (err < 0)
		return err;
	count = t->branch_count - begin;
	put_begin(p->out, level + 1, count + (rest.places > 0), b.bytes);
	put_frame(t, p->out, &t->view->frames[s->frames[level]]);
	for (size_t i = 0; i < count && err == 0; i++)
		err = put_branch(t, p, t->branches[begin + i], level + 1);
	put_rest(p, level + 2, &rest);
	t->branch_count = begin;
	return err;
}

int
massif_tree_write(
    struct massif_tree *t, FILE *out, const uint64_t *bytes, uint64_t whole)
{
	const struct pass p = {.out = out,
	    .bytes = bytes,
	    .whole = whole,
	    .least = whole / 1000 * MASSIF_PER_MILLE};
	uint64_t sum = 0;
	struct rest rest;
	size_t count;
	int err;

	for (size_t i = 0; i < t->view->site_count; i++)
		sum += bytes[i];
	t->branch_count = 0;
	err = find_branches(t, &p, 0, t->view->site_count, 0, &rest);
	if (err < 0)
		return err;
	count = t->branch_count;
	put_begin(out, 0, count + (rest.places > 0) + (whole > sum), whole);
	(void)fputs("(heap allocation functions) malloc/new/new[], "
	            "--alloc-fns, etc.\n",
	    out);
	for (size_t i = 0; i < count && err == 0; i++)
		err = put_branch(t, &p, t->branches[i], 0);
	put_rest(&p, 1, &rest);
	if (whole > sum) {
		put_begin(out, 1, 0, whole - sum);
		(void)fputs("in places that are left out\n", out);
	}
	return err;
}
