/* stack_sums.c - what a service has allocated, by call stack, until a server has it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "follow/push/stack_sums.h"

#include "view/sites/view.h"
#include "kit/data/capped.h"
#include "kit/data/room.h"
#include "kit/words/text.h"
#include "kit/data/sorted.h"

#define OTHER "(other)"

enum {
	/* of an item in a table, beside the item */
	ENTRY_BYTES = 2 * sizeof(struct index_slot) + 16,
	FRAMES_MAX = 512, /* of a stack; outer ones are cut */
};

/* ---- amounts ---- */

static void add(struct stack_sums_pair *to, struct stack_sums_pair more)
{
	to->blocks = capped_sum(to->blocks, more.blocks);
	to->bytes = capped_sum(to->bytes, more.bytes);
}

static bool is_empty(const struct stack_sums_pair *a)
{
	return a->blocks == 0 && a->bytes == 0;
}

void stack_sums_clear_live(struct stack_sums *b)
{
	for (size_t i = 0; i < b->stack_count; i++)
		b->stacks[i].live = (struct stack_sums_pair){0};
}

void stack_sums_add_live(struct stack_sums *b, uint32_t stack, struct stack_sums_pair more)
{
	add(&b->stacks[stack].live, more);
}

void stack_sums_add_allocated(struct stack_sums *b, uint32_t stack, struct stack_sums_pair more)
{
	add(&b->stacks[stack].waiting, more);
}

void stack_sums_send(struct stack_sums *b)
{
	for (size_t i = 0; i < b->stack_count; i++) {
		struct stack_sums_stack *s = &b->stacks[i];

		add(&s->sending, s->waiting);
		s->waiting = (struct stack_sums_pair){0};
	}
}

void stack_sums_accepted(struct stack_sums *b)
{
	for (size_t i = 0; i < b->stack_count; i++)
		b->stacks[i].sending = (struct stack_sums_pair){0};
}

void stack_sums_refused(struct stack_sums *b)
{
	for (size_t i = 0; i < b->stack_count; i++) {
		struct stack_sums_stack *s = &b->stacks[i];

		add(&s->waiting, s->sending);
		s->sending = (struct stack_sums_pair){0};
	}
}

struct stack_sums_total stack_sums_total(const struct stack_sums *b)
{
	struct stack_sums_total sums = {0};

	for (size_t i = 0; i < b->stack_count; i++) {
		add(&sums.live, b->stacks[i].live);
		add(&sums.waiting, b->stacks[i].waiting);
		add(&sums.sending, b->stacks[i].sending);
	}
	return sums;
}

/* ---- frames ---- */

/* The text as ours; NULL for NULL. */
static int keep_text(struct stack_sums *b, const char *text, const char **ret)
{
	size_t before = b->strings.count;
	uint32_t number;
	int err;

	*ret = NULL;
	if (!text)
		return 0;
	err = strings_find(&b->strings, text, &number);
	if (err < 0)
		return err;
	*ret = b->strings.list[number];
	if (b->strings.count > before)
		b->bytes += strlen(text) + 1 + ENTRY_BYTES;
	return 0;
}

/* Texts of both are ours, so that their addresses are enough. */
static bool same_frame(const void *items, uint32_t item, const void *key)
{
	const struct frame *a = (const struct frame *)items + item, *x = key;

	return a->function == x->function && a->module == x->module && a->file == x->file &&
	    a->line == x->line && a->inlined == x->inlined && a->symbol == x->symbol &&
	    a->is_missing == x->is_missing && (a->function || a->offset == x->offset);
}

static bool same_label(const void *items, uint32_t item, const void *key)
{
	const struct frame *a = (const struct frame *)items + item, *x = key;

	return a->function == x->function && a->module == x->module &&
	    a->is_missing == x->is_missing && (a->function || a->offset == x->offset);
}

static uint64_t label_hash(const struct frame *f)
{
	return dict_hash((uintptr_t)f->function, (uintptr_t)f->module, f->function ? 0 : f->offset);
}

static int keep_frame(struct stack_sums *b, const struct frame *theirs, uint32_t *ret)
{
	struct frame f = *theirs;
	uint32_t fresh = (uint32_t)b->frame_count, at;
	int err = keep_text(b, theirs->function, &f.function);

	if (err == 0)
		err = keep_text(b, theirs->brief, &f.brief);
	if (err == 0)
		err = keep_text(b, theirs->symbol, &f.symbol);
	if (err == 0)
		err = keep_text(b, theirs->file, &f.file);
	if (err == 0)
		err = keep_text(b, theirs->module, &f.module);
	if (err == 0)
		err = room_make(&b->frames, &b->frame_room, b->frame_count, sizeof(f));
	if (err == 0)
		err =
		    dict_find(&b->frame_index, dict_hash(label_hash(&f), (uintptr_t)f.file, f.line),
		        same_frame, b->frames, &f, fresh, &at);
	if (err < 0)
		return err;
	*ret = at;
	if (at < fresh)
		return 0;
	b->frames[b->frame_count++] = f;
	b->bytes += sizeof(f) + (size_t)2 * ENTRY_BYTES;
	/* a frame without its label is a label of its own: no harm is done */
	err = dict_find(&b->label_index, label_hash(&f), same_label, b->frames, &f, fresh, &at);
	b->frames[fresh].label = err == 0 ? at : fresh;
	b->frames[fresh].place = fresh;
	return err;
}

/* The build-id of a frame's module, for readers that look up names. */
static int keep_module(
    struct stack_sums *b, const struct process *p, const char *theirs, const char *ours)
{
	struct process_module *m;
	int err;

	for (size_t i = 1; i < b->module_count; i++)
		if (b->modules[i].path == ours)
			return 0;
	err = room_make(&b->modules, &b->module_room, b->module_count, sizeof(*m));
	if (err < 0)
		return err;
	m = &b->modules[b->module_count++];
	*m = (struct process_module){0};
	memcpy(&m->path, &ours, sizeof(m->path)); /* it stays the strings' */
	b->bytes += sizeof(*m);
	for (size_t i = 1; p && i < p->module_count; i++) {
		const struct process_module *x = &p->modules[i];

		if (x->path != theirs)
			continue;
		memcpy(m->build_id, x->build_id, sizeof(m->build_id));
		m->build_id_bytes =
		    x->build_id_bytes <= sizeof(m->build_id) ? x->build_id_bytes : 0;
		m->is_main = x->is_main;
		break;
	}
	return 0;
}

/* ---- stacks ---- */

struct wanted {
	const struct stack_sums *sums;
	const uint32_t *frames;
	uint32_t count;
};

static bool same_stack(const void *items, uint32_t item, const void *key)
{
	const struct stack_sums_stack *s = (const struct stack_sums_stack *)items + item;
	const struct wanted *w = key;

	return s->frame_count == w->count &&
	    memcmp(s->frames, w->frames, w->count * sizeof(*w->frames)) == 0;
}

static int keep_stack(struct stack_sums *b, const uint32_t *frames, uint32_t count, uint32_t *ret)
{
	const struct wanted w = {b, frames, count};
	uint32_t fresh = (uint32_t)b->stack_count, at;
	struct stack_sums_stack s = {.frame_count = count};
	int err = room_make(&b->stacks, &b->stack_room, b->stack_count, sizeof(s));
	uint64_t hash = dict_hash_bytes(frames, count * sizeof(*frames));

	if (err < 0)
		return err;
	if (dict_seek(&b->stack_index, hash, same_stack, b->stacks, &w, ret))
		return 0;
	if (b->stack_count >= STACK_SUMS_MOST) {
		*ret = STACK_SUMS_OTHER;
		return 0;
	}
	s.frames = malloc((count + 1) * sizeof(*s.frames));
	if (!s.frames)
		return -ENOMEM;
	memcpy(s.frames, frames, count * sizeof(*frames));
	err = dict_find(&b->stack_index, hash, same_stack, b->stacks, &w, fresh, &at);
	if (err < 0) {
		free(s.frames);
		return err;
	}
	b->stacks[b->stack_count++] = s;
	b->bytes += sizeof(s) + count * sizeof(*frames) + ENTRY_BYTES;
	*ret = fresh;
	return 0;
}

static bool same_key(const void *items, uint32_t item, const void *key)
{
	const struct stack_sums_known *k = (const struct stack_sums_known *)items + item;
	const struct stack_sums_key *x = key;

	return k->key.a == x->a && k->key.b == x->b;
}

bool stack_sums_find(const struct stack_sums *b, const struct stack_sums_key *key, uint32_t *ret)
{
	uint32_t at;

	if (b->known_count == 0 ||
	    !dict_seek(&b->known_index, key->a, same_key, b->known, key, &at))
		return false;
	*ret = b->known[at].stack;
	return true;
}

static int keep_key(struct stack_sums *b, const struct stack_sums_key *key, uint32_t stack)
{
	uint32_t at = 0;
	int err = room_make(&b->known, &b->known_room, b->known_count, sizeof(*b->known));

	if (err == 0)
		err = dict_find(&b->known_index, key->a, same_key, b->known, key,
		    (uint32_t)b->known_count, &at);
	if (err < 0 || at < b->known_count)
		return err;
	b->known[b->known_count++] = (struct stack_sums_known){*key, stack};
	b->bytes += sizeof(*b->known) + ENTRY_BYTES;
	return 0;
}

int stack_sums_add(struct stack_sums *b, const struct stack_sums_key *key, const struct process *p,
    const struct view *v, const struct view_site *s)
{
	uint32_t frames[FRAMES_MAX], count = 0, stack = 0;
	int err = 0;

	while (count < s->frame_count && count < FRAMES_MAX && err == 0) {
		const struct frame *theirs = &v->frames[s->frames[count]];

		err = keep_frame(b, theirs, &frames[count]);
		if (err == 0 && theirs->module)
			err = keep_module(b, p, theirs->module, b->frames[frames[count]].module);
		count++;
	}
	if (err == 0)
		err = keep_stack(b, frames, count, &stack);
	return err < 0 ? err : keep_key(b, key, stack);
}

/* ---- the whole ---- */

int stack_sums_init(struct stack_sums *b)
{
	const struct frame other = {.function = OTHER, .brief = OTHER, .is_missing = true};
	uint32_t frame, stack;
	int err;

	*b = (struct stack_sums){.bytes = sizeof(*b)};
	b->modules = calloc(1, sizeof(*b->modules));
	if (!b->modules)
		return -ENOMEM;
	b->module_count = b->module_room = 1;
	err = keep_frame(b, &other, &frame);
	if (err == 0)
		err = keep_stack(b, &frame, 1, &stack);
	if (err < 0)
		stack_sums_release(b);
	return err;
}

void stack_sums_release(struct stack_sums *b)
{
	for (size_t i = 0; i < b->stack_count; i++)
		free(b->stacks[i].frames);
	free(b->stacks);
	free(b->frames);
	free(b->known);
	free(b->modules);
	dict_release(&b->stack_index);
	dict_release(&b->frame_index);
	dict_release(&b->label_index);
	dict_release(&b->known_index);
	strings_release(&b->strings);
	*b = (struct stack_sums){0};
}

/* ---- by size ---- */

struct ranked {
	double weight;
	uint32_t stack;
};

BY(heavier_first, struct ranked, DOWN(weight) ?: UP(stack))

/* Its shares of all live bytes and of all allocated ones. */
static double weight(const struct stack_sums_stack *s, const struct stack_sums_total *all)
{
	double live = (double)s->live.bytes / ((double)all->live.bytes + 1);
	double new = ((double)s->waiting.bytes + (double)s->sending.bytes) /
	    ((double)all->waiting.bytes + (double)all->sending.bytes + 1);
	bool is_used = !is_empty(&s->live) || !is_empty(&s->waiting) || !is_empty(&s->sending);

	/* blocks of 0 bytes are something, too */
	return live + new + (is_used ? 1e-18 : 0);
}

static struct ranked *rank(const struct stack_sums *b)
{
	struct ranked *list = calloc(b->stack_count + 1, sizeof(*list));
	const struct stack_sums_total all = stack_sums_total(b);

	if (!list)
		return NULL;
	for (size_t i = 1; i < b->stack_count; i++)
		list[i - 1] = (struct ranked){weight(&b->stacks[i], &all), (uint32_t)i};
	qsort(list, b->stack_count - 1, sizeof(*list), heavier_first);
	return list;
}

uint32_t *stack_sums_by_size(const struct stack_sums *b)
{
	struct ranked *list = rank(b);
	uint32_t *numbers = list ? calloc(b->stack_count + 1, sizeof(*numbers)) : NULL;

	for (size_t i = 0; numbers && i + 1 < b->stack_count; i++)
		numbers[i] = list[i].stack;
	free(list);
	return numbers;
}

static void add_stack(struct stack_sums_stack *to, const struct stack_sums_stack *from)
{
	add(&to->live, from->live);
	add(&to->waiting, from->waiting);
	add(&to->sending, from->sending);
}

/* Copies a stack with its amounts into a new table. */
static int copy_stack(
    struct stack_sums *to, const struct stack_sums *from, uint32_t stack, uint32_t *ret)
{
	const struct stack_sums_stack *s = &from->stacks[stack];
	uint32_t frames[FRAMES_MAX];
	int err = 0;

	for (uint32_t i = 0; i < s->frame_count && err == 0; i++) {
		const struct frame *f = &from->frames[s->frames[i]];

		err = keep_frame(to, f, &frames[i]);
		for (size_t k = 1; err == 0 && f->module && k < from->module_count; k++) {
			const struct process source = {
			    .modules = from->modules, .module_count = from->module_count};

			if (from->modules[k].path == f->module) {
				err = keep_module(
				    to, &source, f->module, to->frames[frames[i]].module);
				break;
			}
		}
	}
	if (err == 0)
		err = keep_stack(to, frames, s->frame_count, ret);
	if (err == 0)
		add_stack(&to->stacks[*ret], s);
	return err;
}

int stack_sums_thin(struct stack_sums *b, size_t keep, size_t *ret_merged)
{
	struct ranked *list = rank(b);
	uint32_t *moved = list ? calloc(b->stack_count + 1, sizeof(*moved)) : NULL;
	size_t merged = 0;
	struct stack_sums to;
	int err = moved ? stack_sums_init(&to) : -ENOMEM;

	if (err < 0)
		goto out;
	to.period_bytes = b->period_bytes;
	add_stack(&to.stacks[STACK_SUMS_OTHER], &b->stacks[STACK_SUMS_OTHER]);
	for (size_t i = 0; i + 1 < b->stack_count && err == 0; i++) {
		uint32_t stack = list[i].stack;

		if (i < keep && list[i].weight > 0) {
			err = copy_stack(&to, b, stack, &moved[stack]);
		} else {
			add_stack(&to.stacks[STACK_SUMS_OTHER], &b->stacks[stack]);
			merged += list[i].weight > 0;
		}
	}
	for (size_t i = 0; i < b->known_count && err == 0; i++)
		if (moved[b->known[i].stack])
			err = keep_key(&to, &b->known[i].key, moved[b->known[i].stack]);
	if (err < 0) {
		stack_sums_release(&to);
	} else {
		stack_sums_release(b);
		*b = to;
		*ret_merged = merged;
	}
out:
	free(moved);
	free(list);
	return err;
}
