/* inventory_of.c - what one reading of a heap found, as an inventory. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "findings/held_view.h"

#include "kit/os/clock.h"
#include "kit/data/sorted.h"

enum { PER_MILLE = 1000 };

_Static_assert((int)INVENTORY_VTABLE == (int)BY_TYPE_VTABLE &&
        (int)INVENTORY_SHARED == (int)BY_TYPE_SHARED &&
        (int)INVENTORY_FRAMES == (int)BY_TYPE_FRAMES,
    "bases are written as they are");

/* What the pointers will be: offset + 1, until the texts are there. */
static const char *offset_of(struct inventory_of *t)
{
	return (const char *)(uintptr_t)(ftell(t->texts) + 1);
}

static const char *add_text(struct inventory_of *t, const char *text)
{
	const char *at = offset_of(t);

	if (!text)
		return NULL;
	(void)fwrite(text, 1, strlen(text) + 1, t->texts);
	return at;
}

static const char *add_way(struct inventory_of *t, const struct held_view *v, uint32_t node)
{
	const char *at = offset_of(t);

	held_words_way(t->texts, v, node);
	(void)putc('\0', t->texts);
	return at;
}

static void settle(const struct inventory_of *t, const char **text)
{
	if (*text)
		*text = t->text + (uintptr_t)*text - 1;
}

static struct inventory_sum sum_of(const struct holders_sum *s)
{
	return (struct inventory_sum){.blocks = s->blocks, .bytes = s->bytes};
}

/* ---- holders ---- */

static int by_weight(const void *a, const void *b, void *context)
{
	const struct held_site *sites = context;
	const struct held_site *x = &sites[*(const uint32_t *)a];
	const struct held_site *y = &sites[*(const uint32_t *)b];

	if (x->retained.bytes != y->retained.bytes)
		return x->retained.bytes > y->retained.bytes ? -1 : 1;
	return (*(const uint32_t *)a > *(const uint32_t *)b) -
	    (*(const uint32_t *)a < *(const uint32_t *)b);
}

BY(by_id, struct inventory_site, UP(id))

static int add_sites(struct inventory_of *t, const struct held_view *v)
{
	struct inventory *to = &t->inventory;
	uint32_t *order = calloc(v->site_count + 1, sizeof(*order));
	struct held_way *best = NULL;
	size_t n = 0;
	int err = order ? held_best_ways(v->held, &best) : -ENOMEM;

	for (uint32_t i = 0; i < v->site_count && err == 0; i++)
		if (v->held->sites[i].own.blocks > 0)
			order[n++] = i;
	if (err == 0)
		qsort_r(order, n, sizeof(*order), by_weight, v->held->sites);
	if (n > INVENTORY_SITES_MAX) {
		n = INVENTORY_SITES_MAX;
		to->is_short = true;
	}
	to->sites = calloc(n + 1, sizeof(*to->sites));
	if (!to->sites)
		err = -ENOMEM;
	for (size_t i = 0; i < n && err == 0; i++) {
		const struct held_site *x = &v->held->sites[order[i]];
		const struct held_view_site *s = &v->sites[order[i]];
		const struct held_way *w = &best[order[i]];

		to->sites[to->site_count++] = (struct inventory_site){.id = s->site ? s->id : 0,
		    .function = add_text(t, v->labels[v->class_of[order[i]]]),
		    .held = w->sum.blocks ? add_way(t, v, w->node) : NULL,
		    .live = sum_of(&x->own),
		    .retained = sum_of(&x->retained)};
	}
	if (err == 0)
		qsort(to->sites, to->site_count, sizeof(*to->sites), by_id);
	free(order);
	free(best);
	return err;
}

static int add_holders(struct inventory_of *t, const struct held_view *v)
{
	struct inventory *to = &t->inventory;
	uint32_t *nodes;
	size_t count;
	int err = held_suspects(v->held, v->held->all.bytes / PER_MILLE, &nodes, &count);

	if (err < 0)
		return err;
	if (count > INVENTORY_HOLDERS_MAX) {
		count = INVENTORY_HOLDERS_MAX;
		to->is_short = true;
	}
	to->holders = calloc(count + 1, sizeof(*to->holders));
	for (size_t i = 0; i < count && to->holders; i++)
		to->holders[to->holder_count++] = (struct inventory_holder){
		    .retained = sum_of(&v->held->holders.nodes[nodes[i]].retained),
		    .way = add_way(t, v, held_words_follow(v, nodes[i]))};
	free(nodes);
	return to->holders ? 0 : -ENOMEM;
}

int inventory_of_held(struct inventory_of *t, const struct held_view *v)
{
	struct inventory *to = &t->inventory;
	int err;

	to->has_holders = true;
	to->is_partial |= v->is_partial;
	to->all = sum_of(&v->held->all);
	to->unheld = sum_of(&v->held->unheld);
	err = add_sites(t, v);
	return err < 0 ? err : add_holders(t, v);
}

/* ---- types ---- */

int inventory_of_types(struct inventory_of *t, const struct by_type *types, bool is_partial)
{
	struct inventory *to = &t->inventory;
	size_t count = types->count;

	to->has_types = true;
	to->is_partial |= is_partial;
	to->counted = (struct inventory_sum){types->all.blocks, types->all.bytes};
	to->untyped = (struct inventory_sum){types->none.blocks, types->none.bytes};
	if (count > INVENTORY_TYPES_MAX) {
		count = INVENTORY_TYPES_MAX;
		to->is_short = true;
	}
	to->types = calloc(count + 1, sizeof(*to->types));
	for (size_t i = 0; i < count && to->types; i++) {
		const struct by_type_row *x = &types->rows[i];

		to->types[to->type_count++] = (struct inventory_type){.name = add_text(t, x->name),
		    .container = add_text(t, x->container),
		    .basis = (uint32_t)x->basis,
		    .live = {.blocks = x->blocks, .bytes = x->bytes}};
	}
	return to->types ? 0 : -ENOMEM;
}

/* ---- all of it ---- */

int inventory_of_begin(struct inventory_of *t)
{
	*t = (struct inventory_of){.inventory.taken_ns = clock_ns(CLOCK_REALTIME)};
	t->texts = open_memstream(&t->text, &t->len);
	return t->texts ? 0 : -ENOMEM;
}

static void settle_all(struct inventory_of *t)
{
	struct inventory *v = &t->inventory;

	for (size_t i = 0; i < v->site_count; i++) {
		settle(t, &v->sites[i].function);
		settle(t, &v->sites[i].held);
	}
	for (size_t i = 0; i < v->holder_count; i++)
		settle(t, &v->holders[i].way);
	for (size_t i = 0; i < v->type_count; i++) {
		settle(t, &v->types[i].name);
		settle(t, &v->types[i].container);
	}
}

int inventory_of_end(struct inventory_of *t, int err, struct inventory *ret)
{
	if (t->texts && fclose(t->texts) != 0)
		err = -ENOMEM;
	t->inventory.text = t->text;
	settle_all(t);
	if (err < 0)
		inventory_release(&t->inventory);
	else
		*ret = t->inventory;
	return err;
}
