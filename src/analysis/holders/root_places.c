/* root_places.c - what the roots are: variables, stacks, mappings. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/holders/root_notes.h"

#include "kit/data/dict.h"
#include "kit/data/room.h"
#include "kit/data/sorted.h"

enum { PLACES_MAX = 1 << 18 }; /* names are asked for each of them */

unsigned root_places_layer(enum root_kind kind)
{
	/*
	 * Variables first. What has no name comes after them. Stacks, registers
	 * and the kernel hold things for a while, and mostly things that others
	 * hold, too.
	 */
	static const unsigned char layers[ROOT_KINDS] = {[ROOT_DATA] = 0,
	    [ROOT_TLS] = 0,
	    [ROOT_THREAD] = 1,
	    [ROOT_MAPPING] = 1,
	    [ROOT_SHARED] = 1,
	    [ROOT_BETWEEN] = 2,
	    [ROOT_ELSEWHERE] = 2,
	    [ROOT_KEPT] = 3,
	    [ROOT_KERNEL] = 3,
	    [ROOT_STACK] = 4,
	    [ROOT_REGISTER] = 5,
	    [ROOT_NEW] = 6,
	    [ROOT_LOST] = 7,
	    [ROOT_WEAK] = 8};

	return layers[kind];
}

/* Modules by address, those that are loaded. */
struct modules {
	uint32_t *at; /* numbers */
	size_t count;
	const struct process *p;
};

static int by_start(const void *a, const void *b, void *context)
{
	const struct process *p = context;
	uint64_t x = p->modules[*(const uint32_t *)a].start;
	uint64_t y = p->modules[*(const uint32_t *)b].start;

	return (x > y) - (x < y);
}

static int sort_modules(const struct process *p, struct modules *ret)
{
	*ret = (struct modules){.p = p};
	ret->at = calloc(p->module_count + 1, sizeof(*ret->at));
	if (!ret->at)
		return -ENOMEM;
	for (size_t i = 1; i < p->module_count; i++)
		if (!p->modules[i].is_gone && p->modules[i].end)
			ret->at[ret->count++] = (uint32_t)i;
	qsort_r(ret->at, ret->count, sizeof(*ret->at), by_start, (void *)(uintptr_t)p);
	return 0;
}

/* The number of the module that has an address; 0: none. */
static uint32_t module_at(const struct modules *m, uint64_t address)
{
	size_t low = sorted_first(m->at, m->count, item, m->p->modules[*item].start <= address);
	const struct process_module *x;

	if (low == 0)
		return 0;
	x = &m->p->modules[m->at[low - 1]];
	return address < x->end ? m->at[low - 1] : 0;
}

static void set_thread(struct root_place *to, const struct root_thread *t)
{
	to->tid = t->tid;
	memcpy(to->thread, t->name, sizeof(to->thread));
}

/* Near the control block of a thread: its storage, itself, or its stack. */
static struct root_place place_of_thread(
    const struct root_thread *t, const struct roots_area *a, uint64_t address, pid_t pid)
{
	const struct root_tls *tls = root_threads_tls(t, address);
	struct root_place r = {.kind = ROOT_THREAD};

	if (tls)
		r = (struct root_place){
		    .kind = ROOT_TLS, .module = tls->module, .address = address - tls->start};
	else if (address < t->low && t->tid == pid) /* the loader's, beside the first thread's */
		return (struct root_place){
		    .kind = ROOT_MAPPING, .address = a->start, .bytes = a->end - a->start};
	else if (address < t->low)
		r.kind = ROOT_STACK;
	if (!tls && !t->tid)
		r.address = t->tcb;
	set_thread(&r, t);
	return r;
}

static struct root_place place_of_area(const struct root_notes *n, const struct modules *m,
    const struct roots_area *a, uint64_t address, pid_t pid)
{
	struct root_place r = {.kind = ROOT_MAPPING, .bytes = a->end - a->start};
	const struct root_thread *t;

	if (a->kind == ROOTS_STACK) {
		r = (struct root_place){.kind = ROOT_STACK, .tid = pid};
		for (size_t i = 0; i < n->thread_count; i++)
			if (n->threads[i].tid == pid)
				set_thread(&r, &n->threads[i]);
		return r;
	}
	r.module = module_at(m, address);
	if (r.module) {
		r.kind = ROOT_DATA;
		r.bytes = 0;
		r.address = address - m->p->modules[r.module].base;
		return r;
	}
	t = a->kind == ROOTS_MEMORY ? root_threads_at(n, a, address) : NULL;
	if (t)
		return place_of_thread(t, a, address, pid);
	if (a->kind == ROOTS_HEAP)
		r.kind = ROOT_BETWEEN;
	else if (a->kind == ROOTS_SHARED)
		r.kind = ROOT_SHARED;
	return r;
}

static struct root_place place_of_note(
    const struct root_notes *n, const struct modules *m, const struct root_note *note, pid_t pid)
{
	const struct roots_area *a;

	switch ((int32_t)note->area) {
	case ROOT_NOTES_REGISTER:
		return (struct root_place){.kind = ROOT_REGISTER};
	case ROOT_NOTES_KERNEL:
		return (struct root_place){.kind = ROOT_KERNEL};
	case ROOT_NOTES_IGNORED:
		return (struct root_place){.kind = ROOT_KEPT};
	case ROOT_NOTES_NEW:
		return (struct root_place){.kind = ROOT_NEW};
	default:
		break;
	}
	if (note->area >= n->areas.count)
		return (struct root_place){.kind = ROOT_ELSEWHERE};
	a = &n->areas.at[note->area];
	return place_of_area(n, m, a, a->start + (uint64_t)note->word * 8, pid);
}

bool root_places_is_same(const struct root_place *a, const struct root_place *b)
{
	return a->kind == b->kind && a->module == b->module && a->address == b->address &&
	    a->tid == b->tid && a->bytes == b->bytes && strcmp(a->thread, b->thread) == 0;
}

uint64_t root_places_hash(const struct root_place *p)
{
	return dict_hash(dict_hash(p->address, p->bytes, p->kind),
	    (uint64_t)p->module << 32 | (uint32_t)p->tid, dict_hash_text(p->thread));
}

static bool is_same(const void *items, uint32_t item, const void *key)
{
	return root_places_is_same(&((const struct root_place *)items)[item], key);
}

int root_places_make(
    const struct root_notes *n, const struct process *p, pid_t pid, struct root_places *ret)
{
	struct dict find = {0};
	struct modules m = {0};
	int err = sort_modules(p, &m);

	*ret = (struct root_places){0};
	ret->of = calloc(n->count + 1, sizeof(*ret->of));
	if (!ret->of)
		err = -ENOMEM;
	for (size_t i = 0; i < n->count && err == 0; i++) {
		struct root_place key = place_of_note(n, &m, &n->at[i], pid);
		uint32_t fresh = (uint32_t)ret->count;

		/* of a table with very many pointers only the module is said */
		if (ret->count >= PLACES_MAX)
			key.address = 0;
		err = room_make(&ret->at, &ret->room, ret->count, sizeof(*ret->at));
		if (err == 0)
			err = dict_find(&find, root_places_hash(&key), is_same, ret->at, &key,
			    fresh, &ret->of[i]);
		if (err == 0 && ret->of[i] == fresh)
			ret->at[ret->count++] = key;
	}
	free(m.at);
	dict_release(&find);
	if (err < 0)
		root_places_release(ret);
	return err;
}

void root_places_release(struct root_places *r)
{
	free(r->at);
	free(r->of);
	*r = (struct root_places){0};
}
