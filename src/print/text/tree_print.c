/* tree_print.c - prints a view as a tree. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "print/text/body.h"

#include "base/std.h"
#include "kit/data/room.h"
#include "print/text/table_parts.h"

enum { INDENT_MAX = 40 }; /* columns; deeper forks are not indented further */

/* A fork whose branches are being printed. */
struct fork {
	struct tree_node *children;
	size_t count, next;
	unsigned level;      /* their indentation */
	struct amounts low;  /* sum of those below the threshold */
	uint64_t low_places; /* how many they are */
	struct amounts cut;  /* beyond --top, at the root */
	uint64_t cut_places;
};

struct printer {
	const struct layout *page;
	struct view *view;
	struct tree *tree;
	const struct tree_print_options *options;
	struct columns columns;
	struct fork *forks; /* as many as the tree has levels */
	size_t depth, room;
};

static size_t indent_of(unsigned level)
{
	size_t n = (size_t)level * 2;

	return n > INDENT_MAX ? INDENT_MAX : n;
}

static void print_node(
    const struct printer *x, const struct tree_node *n, unsigned level, bool with_figures)
{
	const struct layout *p = x->page;
	size_t used;

	used = with_figures ? columns_print(&x->columns, p, &n->amounts)
	                    : columns_blank(&x->columns, p);
	if (level > 0)
		used += (size_t)fprintf(
		    p->out, "%*s%s", (int)indent_of(level) - 2, "", n->is_inner ? "-> " : "<- ");
	if (n->frame == TREE_API)
		(void)fprintf(p->out, "%s%s%s", layout_colour(p, LAYOUT_DIM),
		    enum_words_api(n->api), layout_colour(p, LAYOUT_PLAIN));
	else
		layout_frame(p, &x->view->frames[n->frame], n->repeats, used,
		    level ? LAYOUT_PLAIN : LAYOUT_STRONG);
	(void)putc('\n', p->out);
}

/* Puts the children of a node on the stack of forks. */
static int push(struct printer *x, const struct tree_node *n, unsigned level)
{
	struct fork f = {.level = level};
	int err;

	err = room_make(&x->forks, &x->room, x->depth, sizeof(*x->forks));
	if (err < 0)
		return err;
	err = tree_children(x->tree, n, &f.children, &f.count);
	if (err == 0)
		x->forks[x->depth++] = f;
	return err;
}

/*
 * Prints callers of a node that are the only ones, down to the next fork. They
 * have the same indentation and no figures, because theirs are those of the
 * node.
 */
static int print_chain(struct printer *x, const struct tree_node *n, unsigned level)
{
	struct tree_node only = *n;
	unsigned below = level; /* to which frame a fork at the end belongs */

	for (;;) {
		struct fork *f;
		int err = push(x, &only, below);

		if (err < 0)
			return err;
		f = &x->forks[x->depth - 1];
		if (f->count != 1 || f->children[0].amounts.sites != only.amounts.sites)
			return 0;
		only = f->children[0];
		free(f->children);
		x->depth--;
		print_node(x, &only, level, false);
		below = level + 1;
	}
}

static void print_rests(const struct printer *x, const struct fork *f)
{
	size_t indent = indent_of(f->level);
	char why[64];

	(void)snprintf(why, sizeof(why), " beyond --top %u", x->options->top);
	columns_rest(&x->columns, x->page, &f->cut, f->cut_places, indent, why);
	(void)snprintf(why, sizeof(why), "%s below %g%%", f->low_places > 1 ? ", each" : "",
	    x->options->threshold);
	columns_rest(&x->columns, x->page, &f->low, f->low_places, indent, why);
}

/* A loop instead of recursion, because stacks are deep. */
static int print_forks(struct printer *x)
{
	unsigned shown = 0;
	int err = 0;

	while (x->depth > 0 && err == 0 && !ferror(x->page->out)) {
		struct fork *f = &x->forks[x->depth - 1];
		const struct tree_node *n;

		if (f->next == f->count) {
			print_rests(x, f);
			free(f->children);
			x->depth--;
			continue;
		}
		n = &f->children[f->next++];
		if (columns_is_below(&x->columns, &n->amounts, x->options->threshold)) {
			amounts_add(&f->low, &n->amounts);
			f->low_places++;
		} else if (f->level == 0 && x->options->top > 0 && shown >= x->options->top) {
			amounts_add(&f->cut, &n->amounts);
			f->cut_places++;
		} else {
			shown += f->level == 0;
			print_node(x, n, f->level, true);
			err = print_chain(x, n, f->level + 1);
		}
	}
	return err;
}

/* Is any site headed by a frame that is not its innermost? */
static bool has_inner(const struct view *v)
{
	for (size_t i = 0; i < v->site_count; i++)
		if (v->sites[i].own > 0)
			return true;
	return false;
}

int tree_print_write(
    const struct layout *p, struct view *v, const struct tree_print_options *options)
{
	struct printer x = {.page = p, .view = v, .options = options};
	struct tree_node root;
	size_t used;
	int err;

	err = tree_new(v, &options->tree, &x.tree);
	if (err < 0)
		return err;
	columns_init(&x.columns, v, options->tree.metric, options->tree.order, options->with_holds);
	used = columns_head(&x.columns, p);
	layout_fit(p,
	    options->tree.top_down ? "where it starts, -> what it calls"
	        : has_inner(v)     ? "function that allocates, -> callees, <- callers"
	                           : "function that allocates, <- its callers",
	    layout_room(p, used));
	(void)putc('\n', p->out);
	tree_root(x.tree, &root);
	err = push(&x, &root, 0);
	if (err == 0)
		err = print_forks(&x);
	while (x.depth > 0)
		free(x.forks[--x.depth].children);
	free(x.forks);
	tree_free(x.tree);
	return err;
}
