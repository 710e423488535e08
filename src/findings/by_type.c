/* by_type.c - live blocks by C++ type. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "findings/by_type.h"

#include "base/std.h"
#include "view/stacks/fingerprint.h"
#include "kit/data/capped.h"
#include "kit/data/room.h"
#include "kit/words/text.h"
#include "kit/data/sorted.h"

enum { FRAMES = 24 }; /* innermost ones that are asked for a type */

static const char *const bases[] = {
    [BY_TYPE_VTABLE] = "vtable", [BY_TYPE_SHARED] = "shared_ptr", [BY_TYPE_FRAMES] = "frames"};

enum { BASES = sizeof(bases) / sizeof(bases[0]) };

const char *by_type_basis_key(int basis)
{
	return bases[basis];
}

int by_type_basis_of(const char *key)
{
	for (int i = 0; i < (int)BASES; i++)
		if (strcmp(bases[i], key) == 0)
			return i;
	return -1;
}

/* ---- rows ---- */

struct key {
	const char *name, *container;
	size_t len;
	int basis;
};

static bool is_row(const void *items, uint32_t item, const void *key)
{
	const struct by_type_row *x = items;
	const struct key *k = key;

	x += item;
	return x->basis == k->basis && strlen(x->name) == k->len &&
	    memcmp(x->name, k->name, k->len) == 0 && text_same(x->container, k->container);
}

/* The row for these, which is made if there is none. NULL: no memory. */
static struct by_type_row *row_of(struct by_type *t, const struct key *k)
{
	uint64_t hash = dict_hash(
	    dict_hash_bytes(k->name, k->len), (uint64_t)k->basis, dict_hash_text(k->container));
	uint32_t fresh = (uint32_t)t->count, i;
	char *name;

	if (dict_seek(&t->find, hash, is_row, t->rows, k, &i))
		return &t->rows[i];
	name = strndup(k->name, k->len);
	if (!name || room_make(&t->rows, &t->room, t->count, sizeof(*t->rows)) < 0 ||
	    dict_find(&t->find, hash, is_row, t->rows, k, fresh, &i) < 0) {
		free(name);
		return NULL;
	}
	t->rows[t->count++] =
	    (struct by_type_row){.name = name, .container = k->container, .basis = k->basis};
	return &t->rows[i];
}

static void add(struct by_type_sum *to, const struct census_type *x)
{
	to->blocks += x->blocks;
	to->bytes += x->bytes;
}

/* Where in which module the vtable is. */
static void set_place(struct by_type_row *row, const struct process *p, uint64_t vtable)
{
	bool is_first = row->blocks == 0;
	uint64_t offset = 0;
	const char *module = NULL;

	for (size_t i = 0; i < p->module_count; i++) {
		const struct process_module *m = &p->modules[i];

		if (vtable >= m->start && vtable < m->end && !m->is_gone) {
			module = m->path;
			offset = vtable - m->base;
		}
	}
	if (is_first) {
		row->module = module;
		row->offset = offset;
	} else if (row->offset != offset || !text_same(row->module, module)) {
		row->module = NULL;
	}
}

/* From the functions of a stack. false: they do not say. */
static bool by_frames(const struct view *v, const struct view_site *s, struct element *ret)
{
	const char *functions[FRAMES];
	bool lines[FRAMES];
	size_t n = 0;

	for (size_t i = 0; i < s->frame_count && n < FRAMES; i++) {
		const struct frame *x = &v->frames[s->frames[i]];

		if (n == 0 && x->api)
			continue; /* operator new */
		functions[n] = x->is_missing || (x->folded && !x->line) ? NULL : x->function;
		lines[n++] = x->line > 0;
	}
	return element_find(functions, lines, n, ret);
}

/* A name that our demangler has left as it was: "St4pairI...", "ZN3app...". */
static bool is_mangled(const char *name)
{
	name += strspn(name, "NZLK");
	if (name[0] == 'S' && name[1] == 't')
		name += 2;
	return name[0] >= '0' && name[0] <= '9';
}

/* Memory and functions say what the type is: each is a check of the other. */
static void compare(struct by_type *t, const struct census_type *x, const struct element *e)
{
	bool is_same = strlen(x->name) == e->len && memcmp(x->name, e->type, e->len) == 0;

	/* debug information writes lambdas in another way */
	if (is_mangled(x->name) || strstr(x->name, "{lambda"))
		return;
	*(is_same ? &t->both_agree : &t->both_differ) += x->blocks;
}

static int add_type(struct by_type *t, const struct process *p, const struct census_view *v,
    const struct by_type_find *f, const struct census_type *x)
{
	const struct view *view = NULL;
	const struct view_site *site = f ? NULL : census_view_find(v, x->site, &view);
	struct by_type_row *row;
	struct element element;
	bool has_element;
	struct key k;

	if (!f && !site && v->is_filtered) {
		add(&t->filtered, x);
		return 0;
	}
	add(&t->all, x);
	has_element =
	    f ? by_type_find_site(f, x->site, &element) : site && by_frames(view, site, &element);
	if (x->basis == CENSUS_NONE && !has_element) {
		add(&t->none, x);
		return 0;
	}
	if (x->basis != CENSUS_NONE && has_element && !element.is_scalar)
		compare(t, x, &element);
	/*
	 * Numbers and pointers are no objects: a vtable before them is left of
	 * an object that was there before.
	 */
	if (x->basis == CENSUS_NONE || (has_element && element.is_scalar))
		k = (struct key){element.type, element.container, element.len, BY_TYPE_FRAMES};
	else
		k = (struct key){x->name, NULL, strlen(x->name),
		    x->basis == CENSUS_SHARED ? BY_TYPE_SHARED : BY_TYPE_VTABLE};
	row = row_of(t, &k);
	if (!row)
		return -ENOMEM;
	if (k.basis == BY_TYPE_VTABLE)
		set_place(row, p, x->vtable);
	row->blocks += x->blocks;
	row->bytes += x->bytes;
	return 0;
}

/* ---- order ---- */

static int by_name(const struct by_type_row *x, const struct by_type_row *y)
{
	int n = strcmp(x->name, y->name);

	return n ? n : (x->basis > y->basis) - (x->basis < y->basis);
}

BY(by_bytes, struct by_type_row, DOWN(bytes) ?: DOWN(blocks) ?: by_name(x, y))

static int by_growth(const void *a, const void *b)
{
	const struct by_type_row *x = a, *y = b;
	int64_t more = (int64_t)(x->bytes - x->old_bytes);
	int64_t than = (int64_t)(y->bytes - y->old_bytes);

	return more != than ? (more > than ? -1 : 1) : by_bytes(a, b);
}

int by_type_add_inventory(struct by_type *t, const struct inventory *v, bool is_old)
{
	int (*const put)(struct by_type * t, const char *name, const char *container, int basis,
	    uint64_t blocks, uint64_t bytes) = is_old ? by_type_add_old : by_type_add;
	int err = 0;

	for (size_t i = 0; i < v->type_count && err == 0; i++) {
		const struct inventory_type *x = &v->types[i];

		err = put(t, x->name, x->container, (int)x->basis, x->live.blocks, x->live.bytes);
	}
	*(is_old ? &t->old_all : &t->all) =
	    (struct by_type_sum){v->counted.blocks, v->counted.bytes};
	*(is_old ? &t->old_none : &t->none) =
	    (struct by_type_sum){v->untyped.blocks, v->untyped.bytes};
	*(is_old ? &t->old_taken_ns : &t->taken_ns) = v->taken_ns;
	t->is_compared |= is_old;
	return err;
}

void by_type_settle(struct by_type *t)
{
	if (t->count > 0)
		qsort(t->rows, t->count, sizeof(*t->rows), t->is_compared ? by_growth : by_bytes);
	dict_release(&t->find); /* rows have moved */
}

int by_type_make(const struct process *p, const struct census *c, const struct census_view *v,
    const struct by_type_find *f, struct by_type *ret)
{
	int err = 0;

	*ret = (struct by_type){.taken_ns = c->taken_ns};
	for (size_t i = 0; i < c->type_count && err == 0; i++)
		err = add_type(ret, p, v, f, &c->types[i]);
	if (err < 0)
		by_type_release(ret);
	return err;
}

void by_type_release(struct by_type *t)
{
	for (size_t i = 0; i < t->count; i++)
		free(t->rows[i].name);
	free(t->rows);
	dict_release(&t->find);
	*t = (struct by_type){0};
}

static struct by_type_row *stored_row(
    struct by_type *t, const char *name, const char *container, int basis)
{
	const struct key k = {name, element_container(container), strlen(name), basis};

	return row_of(t, &k);
}

int by_type_add(struct by_type *t, const char *name, const char *container, int basis,
    uint64_t blocks, uint64_t bytes)
{
	struct by_type_row *row = stored_row(t, name, container, basis);

	if (!row)
		return -ENOMEM;
	row->blocks = capped_sum(row->blocks, blocks);
	row->bytes = capped_sum(row->bytes, bytes);
	return 0;
}

int by_type_add_old(struct by_type *t, const char *name, const char *container, int basis,
    uint64_t blocks, uint64_t bytes)
{
	struct by_type_row *row = stored_row(t, name, container, basis);

	if (!row)
		return -ENOMEM;
	t->is_compared = true;
	row->old_blocks = capped_sum(row->old_blocks, blocks);
	row->old_bytes = capped_sum(row->old_bytes, bytes);
	return 0;
}
