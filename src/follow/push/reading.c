/* reading.c - reads the counters of a process into the sums of its service. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "follow/push/sender.h"

#include "session/load/session.h"
#include "view/sites/view.h"
#include "format/frame.h"
#include "kit/data/capped.h"

/* One reading of one process. */
struct reading {
	struct stack_sums *sums;
	const struct process *process;
	const struct names_options *naming;
	uint64_t *module_hashes; /* by number */
	/* by site */
	struct stack_sums_pair *before; /* at the last reading */
	struct stack_sums_key *keys;
	uint32_t *stacks;
	/* sites with stacks that the sums do not have yet, the largest first */
	uint32_t *fresh;
	size_t fresh_count;
	size_t merged;
};

void reading_release(struct reading_past *past)
{
	free(past->sites);
	*past = (struct reading_past){0};
}

/* ---- the past ---- */

/*
 * Two threads may have given one stack two ids; the one that is seen later may
 * be the lower one, and then names the site. So the past is added up by what an
 * id belongs to now.
 */
static void find_before(
    const struct process *p, const struct reading_past *past, struct stack_sums_pair *before)
{
	for (size_t i = 0; i < past->count; i++) {
		const struct reading_site *old = &past->sites[i];
		const struct process_id *id = process_find_id(p, old->id);

		if (!id || id->site >= p->site_count)
			continue;
		before[id->site].blocks =
		    capped_sum(before[id->site].blocks, old->allocated.blocks);
		before[id->site].bytes = capped_sum(before[id->site].bytes, old->allocated.bytes);
	}
}

static bool is_heap(const struct process_site *s)
{
	return seg_is_heap(s->kind);
}

static struct stack_sums_pair allocated(const struct process_site *s)
{
	return (struct stack_sums_pair){s->figures.allocations, s->figures.allocated_bytes};
}

static int remember(struct reading_past *past, const struct process *p)
{
	struct reading_site *sites = calloc(p->site_count + 1, sizeof(*sites));
	size_t n = 0;

	if (!sites)
		return -ENOMEM;
	for (size_t i = 0; i < p->site_count; i++)
		if (is_heap(&p->sites[i]))
			sites[n++] = (struct reading_site){p->sites[i].id, allocated(&p->sites[i])};
	free(past->sites);
	past->sites = sites;
	past->count = n;
	return 0;
}

int reading_begin(struct reading_past *past, const struct segfile *f, int slot, pid_t pid)
{
	struct session *s;
	int err = session_load_slot(f, slot, pid, false, &s, NULL);

	if (err < 0)
		return err;
	err = s->count == 1 ? remember(past, s->processes[0]) : -ENODATA;
	session_free(s);
	return err;
}

/* ---- keys ---- */

static int hash_modules(struct reading *r)
{
	const struct process *p = r->process;

	r->module_hashes = calloc(p->module_count + 1, sizeof(uint64_t));
	if (!r->module_hashes)
		return -ENOMEM;
	for (size_t i = 0; i < p->module_count; i++) {
		const struct process_module *m = &p->modules[i];
		size_t n = m->build_id_bytes <= sizeof(m->build_id) ? m->build_id_bytes : 0;

		r->module_hashes[i] =
		    dict_hash(dict_hash_text(m->path), dict_hash_bytes(m->build_id, n), m->is_main);
	}
	return 0;
}

/*
 * Code outside of modules is the process's own, and so is a module without a
 * path: their addresses mean something else in the next process.
 */
static struct stack_sums_key key_of(const struct reading *r, uint32_t stack, uint64_t *frames)
{
	const struct process *p = r->process;
	uint32_t flags = 0;
	size_t n = stacks_frames(p->stacks, stack, frames, STACKS_MAX_FRAMES, &flags);
	struct stack_sums_key key = {dict_hash(n, flags, 1), dict_hash(n, flags, 2)};

	for (size_t i = 0; i < n; i++) {
		const struct process_module *m = process_module(p, frames[i]);
		uint64_t code = frame_code(frames[i]), whose;

		if (m && m->path) {
			code -= m->base;
			whose = r->module_hashes[m - p->modules];
		} else {
			whose = dict_hash_bytes(p->header.uuid, sizeof(p->header.uuid));
		}
		key.a = dict_hash(key.a, code, whose);
		key.b = dict_hash(key.b, whose, code);
	}
	return key;
}

static int find_stacks(struct reading *r)
{
	const struct process *p = r->process;
	uint64_t *frames = calloc(STACKS_MAX_FRAMES, sizeof(*frames));

	if (!frames)
		return -ENOMEM;
	for (size_t i = 0; i < p->site_count; i++) {
		if (!is_heap(&p->sites[i]))
			continue;
		r->keys[i] = key_of(r, p->sites[i].stack, frames);
		if (!stack_sums_find(r->sums, &r->keys[i], &r->stacks[i]))
			r->fresh[r->fresh_count++] = (uint32_t)i;
	}
	free(frames);
	return 0;
}

/* ---- names of stacks that are new ---- */

static uint64_t size_of(const struct process_site *s)
{
	return capped_sum(s->figures.live_bytes, s->figures.allocated_bytes);
}

static int larger_first(const void *a, const void *b, void *context)
{
	const struct process *p = context;
	uint64_t x = size_of(&p->sites[*(const uint32_t *)a]);
	uint64_t y = size_of(&p->sites[*(const uint32_t *)b]);

	return (x < y) - (x > y);
}

/* The order that a process's sites have. */
static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static int gather_names(struct names *n, const struct process *p)
{
	uint64_t *frames = calloc(STACKS_MAX_FRAMES, sizeof(*frames));
	int err = frames ? 0 : -ENOMEM;
	uint32_t flags;

	for (size_t i = 0; i < p->site_count && err == 0; i++) {
		size_t count =
		    stacks_frames(p->stacks, p->sites[i].stack, frames, STACKS_MAX_FRAMES, &flags);

		err = names_gather_frames(n, p, frames, count);
	}
	free(frames);
	if (err == 0)
		names_resolve(n);
	return err;
}

/* Enters the new sites, `some` being the process with these alone. */
static int enter(struct reading *r, struct process *some, struct names *names)
{
	const struct view_options options = {.metric = VIEW_ALL, .brief_names = true};
	struct session session = {.processes = &some, .count = 1};
	struct view *v = NULL;
	int err = gather_names(names, some);

	if (err == 0)
		err = view_new(&session, names, &options, &v);
	if (err < 0 || !v)
		return err;
	for (size_t i = 0; i < v->site_count && err == 0; i++) {
		uint32_t site = r->fresh[v->sites[i].site];

		err = stack_sums_add(r->sums, &r->keys[site], some, v, &v->sites[i]);
		if (err == 0 && !stack_sums_find(r->sums, &r->keys[site], &r->stacks[site]))
			r->stacks[site] = STACK_SUMS_OTHER;
	}
	view_free(v);
	return err;
}

static int name_fresh(struct reading *r)
{
	const struct process *p = r->process;
	struct process some = *p;
	struct names *names = NULL;
	size_t room = STACK_SUMS_MOST - r->sums->stack_count;
	int err;

	qsort_r(r->fresh, r->fresh_count, sizeof(*r->fresh), larger_first, (void *)(uintptr_t)p);
	if (r->fresh_count > room) {
		r->merged += r->fresh_count - room;
		r->fresh_count = room; /* the others stay in STACK_SUMS_OTHER */
	}
	if (r->fresh_count == 0)
		return 0;
	qsort(r->fresh, r->fresh_count, sizeof(*r->fresh), by_number);
	some.id_count = 0;
	some.verdicts = NULL;
	some.sites = calloc(r->fresh_count, sizeof(*some.sites));
	if (!some.sites)
		return -ENOMEM;
	some.site_count = r->fresh_count;
	for (size_t i = 0; i < r->fresh_count; i++) {
		some.sites[i] = p->sites[r->fresh[i]];
		some.sites[i].freed_by = NULL;
	}
	err = names_new(r->naming, &names);
	if (err == 0)
		err = enter(r, &some, names);
	names_free(names);
	free(some.sites);
	return err;
}

/* ---- amounts ---- */

static void add_amounts(struct reading *r, bool has_ended)
{
	const struct process *p = r->process;

	for (size_t i = 0; i < p->site_count; i++) {
		const struct process_site *s = &p->sites[i];
		const struct stack_sums_pair now = allocated(s);
		const struct stack_sums_pair more = {
		    capped_difference(now.blocks, r->before[i].blocks),
		    capped_difference(now.bytes, r->before[i].bytes)};

		if (!is_heap(s))
			continue;
		stack_sums_add_allocated(r->sums, r->stacks[i], more);
		if (!has_ended)
			stack_sums_add_live(r->sums, r->stacks[i],
			    (struct stack_sums_pair){
			        s->figures.live_blocks, s->figures.live_bytes});
	}
}

static int take(struct reading *r, struct reading_past *past, bool has_ended)
{
	size_t n = r->process->site_count + 1;
	int err;

	r->before = calloc(n, sizeof(*r->before));
	r->keys = calloc(n, sizeof(*r->keys));
	r->stacks = calloc(n, sizeof(*r->stacks)); /* STACK_SUMS_OTHER */
	r->fresh = calloc(n, sizeof(*r->fresh));
	err = r->before && r->keys && r->stacks && r->fresh ? hash_modules(r) : -ENOMEM;
	if (err == 0)
		err = find_stacks(r);
	if (err == 0 && r->fresh_count > 0)
		err = name_fresh(r);
	if (err == 0) {
		find_before(r->process, past, r->before);
		err = remember(past, r->process);
	}
	if (err == 0)
		add_amounts(r, has_ended);
	free(r->module_hashes);
	free(r->before);
	free(r->keys);
	free(r->stacks);
	free(r->fresh);
	return err;
}

int reading_take(struct stack_sums *b, struct reading_past *past, const struct reading_plan *plan,
    size_t *ret_merged)
{
	struct reading r = {.sums = b, .naming = plan->naming};
	struct session *s;
	int err = session_load_slot(plan->file, plan->slot, plan->pid, false, &s, NULL);

	if (err < 0)
		return err;
	if (s->count != 1 ||
	    (plan->uuid && memcmp(s->processes[0]->header.uuid, plan->uuid, 16) != 0)) {
		session_free(s);
		return -ESTALE;
	}
	r.process = s->processes[0];
	if (r.process->header.sample_bytes > b->period_bytes)
		b->period_bytes = r.process->header.sample_bytes;
	err = take(&r, past, plan->has_ended);
	*ret_merged += r.merged;
	session_free(s);
	return err;
}
