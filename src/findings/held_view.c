/* held_view.c - who holds what in a process, with names. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "findings/held_view.h"

#include "view/sites/verdict.h"
#include "kit/data/dict.h"
#include "kit/data/room.h"
#include "kit/words/text.h"
#include "analysis/leaks/judge.h"

/* ---- sites: from the number that a block has to a function ---------------- */

/* Sites of one process: those of ids from first_id on. */
struct owner {
	const struct process *process;
	uint32_t below; /* ids */
	uint32_t base;  /* number of its first site */
};

struct owners {
	struct owner *at; /* the process, its parent, ... */
	size_t count;
};

/* Number 0 is for what is not known. */
static uint32_t site_of(void *context, uint32_t site)
{
	const struct owners *o = context;

	for (size_t i = 0; i < o->count; i++) {
		const struct process *p = o->at[i].process;
		const struct process_id *id;

		if (site < p->header.first_id || site >= o->at[i].below)
			continue;
		id = process_find_id(p, site);
		return id ? o->at[i].base + id->site : 0;
	}
	return 0;
}

static int find_owners(const struct held_view_input *in, struct held_view *v, struct owners *o)
{
	uint32_t below = UINT32_MAX;

	o->at = calloc(in->session->count + 1, sizeof(*o->at));
	if (!o->at)
		return -ENOMEM;
	v->site_count = 1;
	while (o->count < in->session->count && below > 0) {
		const struct process *p = verdict_owner(in->session, in->process, below - 1);

		if (!p)
			break;
		o->at[o->count++] =
		    (struct owner){.process = p, .below = below, .base = (uint32_t)v->site_count};
		v->site_count += p->site_count;
		below = p->header.first_id < below ? p->header.first_id : 0;
	}
	v->sites = calloc(v->site_count, sizeof(*v->sites));
	v->class_of = calloc(v->site_count, sizeof(*v->class_of));
	return v->sites && v->class_of ? 0 : -ENOMEM;
}

static char *label_of(const struct view *view, const struct view_site *s)
{
	const struct frame *x;
	const char *base;
	char *text;

	if (s->frame_count == 0)
		return strdup("(no frames)");
	x = &view->frames[s->frames[s->own]];
	base = text_base(x->module);
	if (x->brief || x->function)
		return strdup(x->brief ? x->brief : x->function);
	if (asprintf(&text, "%s+0x%llx", base ? base : "", (unsigned long long)x->offset) < 0)
		return NULL;
	return text;
}

struct labels {
	struct held_view *v;
	struct dict find;
};

/* The class of a text, which is taken. */
static int class_of(struct labels *l, char *text, uint32_t *ret)
{
	struct held_view *v = l->v;
	uint32_t fresh = (uint32_t)v->label_count;
	int err = text ? room_make(&v->labels, &v->label_room, v->label_count, sizeof(*v->labels))
	               : -ENOMEM;

	if (err == 0)
		err = dict_find(
		    &l->find, dict_hash_text(text), dict_same_text, v->labels, text, fresh, ret);
	if (err == 0 && *ret == fresh)
		v->labels[v->label_count++] = text;
	else
		free(text);
	return err;
}

static int add_view(const struct held_view_input *in, struct labels *l, const struct owner *o)
{
	const struct view_options options = {.metric = VIEW_ALL,
	    .only = o->process,
	    .skip_wrappers = in->view->skip_wrappers,
	    .wrapper = in->view->wrapper,
	    .trim = true,
	    .fold = true,
	    .brief_names = true};
	struct held_view *v = l->v;
	struct view *view;
	int err = view_new(in->session, in->names, &options, &view);

	if (err < 0)
		return err;
	v->views[v->view_count++] = view;
	for (size_t i = 0; i < view->site_count && err == 0; i++) {
		const struct view_site *s = &view->sites[i];
		uint32_t n = o->base + s->site;

		if (s->site >= o->process->site_count)
			continue;
		v->sites[n] = (struct held_view_site){.id = s->id, .view = view, .site = s};
		err = class_of(l, label_of(view, s), &v->class_of[n]);
	}
	return err;
}

static int name_sites(const struct held_view_input *in, struct held_view *v, const struct owners *o)
{
	struct labels l = {.v = v};
	uint32_t unknown;
	int err = 0;

	v->views = calloc(o->count + 1, sizeof(struct view *));
	if (!v->views)
		return -ENOMEM;
	/* class 0 is what all sites have that no view has */
	err = class_of(&l, strdup("(unknown)"), &unknown);
	for (size_t i = 0; i < o->count && err == 0; i++)
		err = add_view(in, &l, &o->at[i]);
	dict_release(&l.find);
	return err;
}

/* ---- roots ---------------------------------------------------------------- */

static struct names_place place_of(const struct root_place *p)
{
	return (struct names_place){
	    .module = p->module, .is_tls = p->kind == ROOT_TLS, .address = p->address};
}

static bool is_variable(const struct root_place *p)
{
	return p->kind == ROOT_DATA || p->kind == ROOT_TLS;
}

static int gather(const struct held_view_input *in, const struct root_places *places)
{
	int err = names_gather(in->names, in->process);

	for (size_t i = 0; i < places->count && err == 0; i++) {
		struct names_place x = place_of(&places->at[i]);

		if (is_variable(&places->at[i]))
			err = names_gather_variables(in->names, in->process, &x, 1);
	}
	if (err == 0)
		names_resolve(in->names);
	return err;
}

/*
 * Words of one variable are one root; without symbols, all words of one module
 * are.
 */
struct root_key {
	struct root_place place;
	const char *name; /* equal texts are one, of the names' table */
	uint64_t start;   /* two static variables may have one name */
};

struct roots {
	struct root_key *keys;
	size_t key_room;
	struct dict find;
	struct held_view *v;
};

static bool same_key(const void *items, uint32_t item, const void *key)
{
	const struct root_key *a = &((const struct root_key *)items)[item];
	const struct root_key *b = key;

	return a->name == b->name && a->start == b->start &&
	    root_places_is_same(&a->place, &b->place);
}

static const char *module_path(const struct process *p, uint32_t module)
{
	return module > 0 && module < p->module_count ? p->modules[module].path : NULL;
}

static int add_root(
    struct roots *r, const struct root_key *key, const struct held_view_root *root, uint32_t *ret)
{
	struct held_view *v = r->v;
	uint32_t fresh = (uint32_t)v->root_count;
	int err = room_make(&v->roots, &v->root_room, v->root_count, sizeof(*v->roots));

	if (err == 0)
		err = room_make(&r->keys, &r->key_room, v->root_count, sizeof(*r->keys));
	if (err == 0)
		err = dict_find(&r->find,
		    dict_hash(
		        root_places_hash(&key->place), (uint64_t)(uintptr_t)key->name, key->start),
		    same_key, r->keys, key, fresh, ret);
	if (err == 0 && *ret == fresh) {
		r->keys[fresh] = *key;
		v->roots[v->root_count++] = *root;
	}
	return err;
}

/* The root of a place; *ret_offset: of the word in it. */
static int root_of(struct roots *r, const struct held_view_input *in, const struct root_place *p,
    uint32_t *ret, uint64_t *ret_offset)
{
	struct held_view_root root = {.place = *p, .module = module_path(in->process, p->module)};
	struct names_place x = place_of(p);
	struct names_variable var;
	struct root_key key = {.place = *p};

	key.place.address = 0; /* that of the variable is in `start` */
	*ret_offset = p->address;
	if (is_variable(p) && names_variable(in->names, in->process, &x, &var)) {
		root.name = var.name;
		root.file = var.file;
		root.is_static = var.is_static;
		*ret_offset = var.offset;
		key.name = var.name;
		key.start = p->address - var.offset;
	} else if (!is_variable(p)) {
		key.start = p->address;
	}
	root.place.address = key.start;
	return add_root(r, &key, &root, ret);
}

/* Roots with equal texts are one class: threads of one name, for example. */
static bool alike(const struct held_view_root *a, const struct held_view_root *b)
{
	if (a->place.kind != b->place.kind)
		return false;
	switch (a->place.kind) {
	case ROOT_DATA:
	case ROOT_TLS:
		return a->name == b->name && a->module == b->module &&
		    a->place.address == b->place.address;
	case ROOT_THREAD:
	case ROOT_STACK:
		return strcmp(a->place.thread, b->place.thread) == 0;
	case ROOT_MAPPING:
	case ROOT_SHARED:
		return false;
	default:
		return true;
	}
}

static void class_roots(struct held_view *v)
{
	uint32_t next = (uint32_t)v->label_count;
	enum { NEAR = 4096 }; /* threads are few, and come one after another */

	for (size_t i = 0; i < v->root_count; i++) {
		struct held_view_root *r = &v->roots[i];

		r->class = UINT32_MAX;
		for (size_t k = i; k-- > 0 && i - k < NEAR;)
			if (r->place.kind != ROOT_DATA && alike(r, &v->roots[k])) {
				r->class = v->roots[k].class;
				break;
			}
		if (r->class == UINT32_MAX)
			r->class = next++;
	}
}

/* ---- all of it ------------------------------------------------------------ */

struct pointers {
	struct heap_graph_root *at;
	uint64_t *offsets; /* by place */
	size_t count;
};

static int name_roots(const struct held_view_input *in, struct held_view *v,
    const struct root_places *places, struct pointers *ret)
{
	struct roots r = {.v = v};
	uint32_t *root = calloc(places->count + 1, sizeof(*root));
	int err = root ? 0 : -ENOMEM;

	ret->offsets = calloc(places->count + 1, sizeof(*ret->offsets));
	ret->at = calloc(in->notes->count + 1, sizeof(*ret->at));
	if (!ret->offsets || !ret->at)
		err = -ENOMEM;
	for (size_t i = 0; i < places->count && err == 0; i++)
		err = root_of(&r, in, &places->at[i], &root[i], &ret->offsets[i]);
	for (size_t i = 0; i < in->notes->count && err == 0; i++)
		ret->at[ret->count++] = (struct heap_graph_root){
		    .root = root[places->of[i]], .target = in->notes->at[i].target};
	free(root);
	free(r.keys);
	dict_release(&r.find);
	return err;
}

static int add_last_root(struct held_view *v, enum root_kind kind, bool may_move)
{
	int err = room_make(&v->roots, &v->root_room, v->root_count, sizeof(*v->roots));

	if (err == 0)
		v->roots[v->root_count++] =
		    (struct held_view_root){.place = {.kind = kind}, .may_move = may_move};
	return err;
}

static int make_held(const struct held_view_input *in, struct held_view *v, struct owners *o,
    const struct pointers *p, struct heap *heap)
{
	struct held_root *roots = calloc(v->root_count + 1, sizeof(*roots));
	const struct held_input input = {.heap = heap,
	    .max_bytes = in->max_bytes,
	    .roots = roots,
	    .root_count = (uint32_t)v->root_count,
	    .lost = (uint32_t)v->root_count - 2,
	    .weak = (uint32_t)v->root_count - 1,
	    .pointers = p->at,
	    .pointer_count = p->count,
	    .grown = &in->notes->grown,
	    .site_of = site_of,
	    .context = o,
	    .class_of = v->class_of,
	    .site_count = (uint32_t)v->site_count};
	int err;

	if (!roots) {
		heap_free(heap);
		return -ENOMEM;
	}
	for (size_t i = 0; i < v->root_count; i++)
		roots[i] = (struct held_root){.layer = root_places_layer(v->roots[i].place.kind),
		    .class = v->roots[i].class,
		    .is_named = v->roots[i].name != NULL};
	err = held_new(&input, &v->held, &v->needed_bytes);
	free(roots);
	return err;
}

/* Which word of a variable points to a node's blocks, if it is one. */
static int find_entries(const struct held_view_input *in, struct held_view *v,
    const struct root_places *places, const struct pointers *p)
{
	v->entries = calloc(v->held->holders.count, sizeof(*v->entries));
	if (!v->entries)
		return -ENOMEM;
	for (size_t i = 0; i < p->count; i++) {
		uint32_t place = places->of[i], root = p->at[i].root, node;
		struct held_view_entry *e;
		bool alone;

		if (!is_variable(&places->at[place]))
			continue;
		node = held_direct(v->held, root, in->notes->at[i].target, &alone);
		e = &v->entries[node];
		if (node == 0 || (e->words && e->root != root))
			continue;
		e->root = root;
		if (e->words == 0)
			e->offset = p->offsets[place];
		if (e->words == 0 || e->offset != p->offsets[place])
			e->words++;
	}
	return 0;
}

int held_view_make(const struct held_view_input *in, struct held_view *ret)
{
	struct held_view v = {.session = in->session,
	    .process = in->process,
	    .was_stopped = in->was_stopped,
	    .is_partial = judge_lacks_blocks(&in->process->header)};
	struct root_places places = {0};
	struct pointers pointers = {0};
	struct heap *heap = in->heap;
	struct owners owners = {0};
	int err = root_places_make(in->notes, in->process, in->pid, &places);

	if (err == 0)
		err = gather(in, &places);
	if (err == 0)
		err = find_owners(in, &v, &owners);
	if (err == 0)
		err = name_sites(in, &v, &owners);
	if (err == 0)
		err = name_roots(in, &v, &places, &pointers);
	if (err == 0)
		err = add_last_root(&v, ROOT_LOST, !in->was_stopped);
	if (err == 0)
		err = add_last_root(&v, ROOT_WEAK, false);
	if (err == 0) {
		class_roots(&v);
		err = make_held(in, &v, &owners, &pointers, heap);
		heap = NULL;
	}
	if (err == 0)
		err = find_entries(in, &v, &places, &pointers);
	heap_free(heap);
	root_places_release(&places);
	free(pointers.at);
	free(pointers.offsets);
	free(owners.at);
	*ret = v;
	if (err < 0) {
		uint64_t needed = v.needed_bytes;

		held_view_release(ret);
		ret->needed_bytes = needed;
	}
	return err;
}

bool held_view_is_vague(const struct held_view *v, uint32_t root)
{
	switch (v->roots[root].place.kind) {
	case ROOT_BETWEEN:
	case ROOT_NEW:
	case ROOT_ELSEWHERE:
	case ROOT_LOST:
		return true;
	default:
		return false;
	}
}

/* A thread that changes a list has a part of it in hand for a moment. */
static bool is_passing(const struct held_view *v, uint32_t root)
{
	return v->roots[root].place.kind == ROOT_STACK ||
	    v->roots[root].place.kind == ROOT_REGISTER;
}

uint64_t held_view_vague(const struct held_view *v)
{
	const struct holders *h = &v->held->holders;
	uint64_t bytes = 0;
	uint32_t root;

	for (uint32_t i = 1; i < h->count; i++)
		if (h->nodes[i].parent == 0 && held_is_root(v->held, i, &root) &&
		    (held_view_is_vague(v, root) || is_passing(v, root)))
			bytes += h->nodes[i].retained.bytes;
	return bytes;
}

void held_view_release(struct held_view *v)
{
	held_free(v->held);
	for (size_t i = 0; i < v->label_count; i++)
		free(v->labels[i]);
	for (size_t i = 0; i < v->view_count; i++)
		view_free(v->views[i]);
	free(v->labels);
	free(v->views);
	free(v->roots);
	free(v->sites);
	free(v->class_of);
	free(v->entries);
	*v = (struct held_view){0};
}

int64_t held_view_find(const struct held_view *v, uint32_t id)
{
	for (size_t i = 1; i < v->site_count; i++)
		if (v->sites[i].site && v->sites[i].id == id)
			return (int64_t)i;
	return -1;
}
