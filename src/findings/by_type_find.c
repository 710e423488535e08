/* by_type_find.c - what allocating functions say of the types of blocks, by their innermost frames alone. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "findings/by_type.h"

#include "base/std.h"
#include "view/sites/verdict.h"

enum {
	FIRST = 4, /* frames that decide nearly always */
	MOST = 24, /* in the second round */
	FUNCTIONS = 24,
	DOORS_MAX = 8, /* operator new: the array forms call the plain one */
};

struct item {
	uint32_t site;
	const struct process *owner; /* NULL: not known */
	uint32_t stack;
	bool is_found, is_open;
	struct element element;
};

struct by_type_find {
	struct item *items; /* by site */
	size_t count;
};

/* Whose site it is, and its stack. */
static void find_stack(const struct session *s, const struct process *p, struct item *x)
{
	const struct process *owner = verdict_owner(s, p, x->site);
	const struct process_id *id = owner ? process_find_id(owner, x->site) : NULL;

	if (!id || id->site >= owner->site_count || !owner->stacks)
		return;
	x->owner = owner;
	x->stack = owner->sites[id->site].stack;
}

static int gather(struct names *names, const struct item *x, size_t frames)
{
	uint64_t words[MOST];
	uint32_t flags;
	size_t n = x->owner ? stacks_frames(x->owner->stacks, x->stack, words, frames, &flags) : 0;

	return names_gather_frames(names, x->owner, words, n);
}

/* From the caller of the allocator on; without operator new. */
static void decide(struct names *names, struct item *x, size_t frames)
{
	const char *functions[FUNCTIONS];
	bool lines[FUNCTIONS];
	uint64_t words[MOST];
	size_t count = 0, doors = 0, n;
	uint32_t flags;

	n = stacks_frames(x->owner->stacks, x->stack, words, frames, &flags);
	for (size_t i = 0; i < n && count < FUNCTIONS; i++) {
		const struct names_frame *chain;
		size_t len = names_chain(names, x->owner, words[i], &chain);

		for (size_t k = 0; k < len && count < FUNCTIONS; k++) {
			if (count == 0 && doors < DOORS_MAX && chain[k].api) {
				doors++;
				continue;
			}
			lines[count] = chain[k].line > 0;
			/* debug information shows who calls it; else nobody knows */
			functions[count++] =
			    chain[k].folded && !chain[k].line ? NULL : chain[k].function;
		}
	}
	x->is_found = element_find(functions, lines, count, &x->element);
	/* the stack may have no more */
	x->is_open = n == frames && count < FUNCTIONS &&
	    element_is_open(functions, count, x->is_found ? &x->element : NULL);
}

static int look_up(struct by_type_find *f, struct names *names, size_t frames, bool first)
{
	int err = 0;

	for (size_t i = 0; i < f->count && err == 0; i++)
		if (f->items[i].owner && (first || f->items[i].is_open))
			err = gather(names, &f->items[i], frames);
	if (err < 0)
		return err;
	names_resolve(names);
	for (size_t i = 0; i < f->count; i++)
		if (f->items[i].owner && (first || f->items[i].is_open))
			decide(names, &f->items[i], frames);
	return 0;
}

int by_type_find_new(const struct session *s, const struct process *p, struct names *names,
    const struct census *c, struct by_type_find **ret)
{
	struct by_type_find *f = calloc(1, sizeof(*f));
	bool any = false;
	int err;

	if (!f)
		return -ENOMEM;
	f->items = calloc(c->type_count + 1, sizeof(*f->items));
	err = f->items ? 0 : -ENOMEM;
	for (size_t i = 0; i < c->type_count && err == 0; i++) {
		if (i > 0 && c->types[i - 1].site == c->types[i].site)
			continue; /* they are sorted by site */
		f->items[f->count].site = c->types[i].site;
		find_stack(s, p, &f->items[f->count++]);
	}
	if (err == 0)
		err = look_up(f, names, FIRST, true);
	for (size_t i = 0; i < f->count; i++)
		any |= f->items[i].is_open;
	if (err == 0 && any)
		err = look_up(f, names, MOST, false);
	if (err < 0) {
		by_type_find_free(f);
		return err;
	}
	*ret = f;
	return 0;
}

void by_type_find_free(struct by_type_find *f)
{
	if (f)
		free(f->items);
	free(f);
}

static int by_site(const void *key, const void *item)
{
	uint32_t a = *(const uint32_t *)key;
	uint32_t b = ((const struct item *)item)->site;

	return (a > b) - (a < b);
}

bool by_type_find_site(const struct by_type_find *f, uint32_t site, struct element *ret)
{
	const struct item *x =
	    f->count ? bsearch(&site, f->items, f->count, sizeof(*f->items), by_site) : NULL;

	if (!x || !x->is_found)
		return false;
	*ret = x->element;
	return true;
}
