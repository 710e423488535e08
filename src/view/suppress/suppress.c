/* suppress.c - finds the suppression that matches a stack. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "view/suppress/suppress.h"

#include "view/suppress/suppress_parts.h"
#include "kit/data/capped.h"
#include "kit/data/room.h"

enum { ROLES = 3 }; /* memos of one frame: function, module, file */

int suppress_new(struct suppress **ret)
{
	*ret = calloc(1, sizeof(**ret));
	return *ret ? 0 : -ENOMEM;
}

void suppress_forget_memos(struct suppress *s)
{
	for (size_t i = 0; i < s->memo_count; i++)
		free(s->memos[i].hits);
	s->memo_count = 0;
	dict_release(&s->memo_index);
}

void suppress_free(struct suppress *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->pattern_count; i++) {
		free(s->patterns[i].glob);
		free(s->patterns[i].demangled);
		free(s->patterns[i].leads);
	}
	for (size_t i = 0; i < s->rule_count; i++) {
		free(s->rules[i].name);
		free(s->rules[i].steps);
	}
	for (size_t i = 0; i < s->file_count; i++)
		free(s->files[i]);
	free(s->patterns);
	free(s->rules);
	free(s->bare);
	suppress_forget_memos(s);
	free(s->memos);
	free(s->row);
	free(s->files);
	dict_release(&s->pattern_index);
	free(s);
}

int suppress_rule(struct suppress *s, struct suppress_rule *r)
{
	uint32_t number = (uint32_t)s->rule_count;
	struct suppress_pattern *lead;

	if (!r->name || room_make(&s->rules, &s->rule_room, s->rule_count, sizeof(*s->rules)))
		goto no_memory;
	if (r->step_count == 0) {
		if (room_make(&s->bare, &s->bare_room, s->bare_count, sizeof(*s->bare)))
			goto no_memory;
		s->bare[s->bare_count++] = number;
	} else {
		lead = &s->patterns[r->steps[0]];
		if (room_make(
		        &lead->leads, &lead->lead_room, lead->lead_count, sizeof(*lead->leads)))
			goto no_memory;
		lead->leads[lead->lead_count++] = number;
	}
	r->entry.name = r->name;
	s->rules[s->rule_count++] = *r;
	return 0;
no_memory:
	free(r->name);
	free(r->steps);
	return -ENOMEM;
}

/* ---- which patterns match a text, remembered ---- */

static bool same_memo(const void *items, uint32_t item, const void *key)
{
	const struct suppress_memo *a = (const struct suppress_memo *)items + item;
	const struct suppress_memo *b = key;

	return a->text == b->text && a->symbol == b->symbol && a->role == b->role;
}

/* "f(int)" and "f" are the same function; compilers write either. */
static bool same_function(const char *mangled, const char *function)
{
	size_t n = strlen(function);

	return strncmp(mangled, function, n) == 0 && (mangled[n] == '\0' || mangled[n] == '(');
}

static bool fits(const struct suppress_pattern *p, const struct suppress_memo *m)
{
	const char *slash;

	if (!(p->roles & m->role))
		return false;
	if (m->text && suppress_glob(p->glob, m->text, p->question))
		return true;
	if (m->symbol && suppress_glob(p->glob, m->symbol, p->question))
		return true;
	if (m->role == SUPPRESS_FUN)
		return p->demangled && m->text && same_function(p->demangled, m->text);
	slash = m->role == SUPPRESS_SRC && m->text ? strrchr(m->text, '/') : NULL;
	return slash && suppress_glob(p->glob, slash + 1, p->question);
}

static int fill_memo(const struct suppress *s, struct suppress_memo *m)
{
	uint32_t *hits = NULL;
	size_t room = 0;

	for (size_t i = 0; i < s->pattern_count; i++) {
		if (!fits(&s->patterns[i], m))
			continue;
		if (room_make(&hits, &room, m->hit_count, sizeof(*hits))) {
			free(hits);
			return -ENOMEM;
		}
		hits[m->hit_count++] = (uint32_t)i;
	}
	m->hits = hits;
	return 0;
}

/* ret is a number, because the array may move. */
static int find_memo(
    struct suppress *s, uint8_t role, const char *text, const char *symbol, uint32_t *ret)
{
	struct suppress_memo m = {.text = text, .symbol = symbol, .role = role};
	uint32_t fresh = (uint32_t)s->memo_count;
	int err;

	if (room_make(&s->memos, &s->memo_room, s->memo_count, sizeof(*s->memos)))
		return -ENOMEM;
	err = dict_find(&s->memo_index, dict_hash((uintptr_t)text, (uintptr_t)symbol, role),
	    same_memo, s->memos, &m, fresh, ret);
	if (err < 0 || *ret != fresh)
		return err;
	err = fill_memo(s, &m);
	/* it is already in the index, so it must exist in any case */
	s->memos[s->memo_count++] = m;
	return err;
}

/* The memos of all frames of a stack, ROLES each, into s->row. */
static int fill_row(struct suppress *s, const struct suppress_stack *stack)
{
	if (stack->count * ROLES > s->row_room) {
		uint32_t *row = reallocarray(s->row, stack->count, ROLES * sizeof(*row));

		if (!row)
			return -ENOMEM;
		s->row = row;
		s->row_room = stack->count * ROLES;
	}
	for (size_t i = 0; i < stack->count; i++) {
		const struct suppress_frame *f = &stack->frames[i];
		uint32_t *to = s->row + i * ROLES;
		int err;

		err = find_memo(s, SUPPRESS_FUN, f->function, f->symbol, &to[0]);
		if (err == 0)
			err = find_memo(s, SUPPRESS_OBJ, f->module, NULL, &to[1]);
		if (err == 0)
			err = find_memo(s, SUPPRESS_SRC, f->file, NULL, &to[2]);
		if (err < 0)
			return err;
	}
	return 0;
}

/* ---- matching ---- */

static bool frame_fits(
    const struct suppress *s, const struct suppress_stack *stack, size_t frame, uint32_t pattern)
{
	uint32_t line = s->patterns[pattern].line;

	if (line != 0 && stack->frames[frame].line != line)
		return false;
	for (int role = 0; role < ROLES; role++) {
		const struct suppress_memo *m = &s->memos[s->row[frame * ROLES + role]];

		for (size_t i = 0; i < m->hit_count; i++)
			if (m->hits[i] == pattern)
				return true;
	}
	return false;
}

/*
 * Do the steps match the frames from `frame` on? Callers beyond do not matter.
 */
static bool steps_fit(const struct suppress *s, const struct suppress_stack *stack,
    const struct suppress_rule *r, size_t frame)
{
	size_t step = 0, after_dots = 0, again = 0;
	bool dots = false;

	while (step < r->step_count) {
		if (r->steps[step] == SUPPRESS_DOTS) {
			after_dots = ++step;
			again = frame;
			dots = true;
		} else if (frame < stack->count && frame_fits(s, stack, frame, r->steps[step])) {
			step++;
			frame++;
		} else if (dots && again < stack->count) {
			step = after_dots; /* "..." takes one more frame */
			frame = ++again;
		} else {
			return false;
		}
	}
	return true;
}

static bool rule_applies(const struct suppress_rule *r, const struct suppress_stack *stack)
{
	if (r->apis && stack->api && !(r->apis >> stack->api & 1))
		return false;
	if (r->max_blocks && stack->blocks > r->max_blocks)
		return false;
	return stack->kind ? r->kinds & stack->kind : r->kinds != 0;
}

/* The first rule before `best` whose first pattern matches this frame. */
static uint32_t match_at(const struct suppress *s, const struct suppress_stack *stack, size_t frame,
    const struct suppress_memo *m, uint32_t best)
{
	for (size_t i = 0; i < m->hit_count; i++) {
		const struct suppress_pattern *p = &s->patterns[m->hits[i]];

		for (size_t k = 0; k < p->lead_count; k++) {
			uint32_t n = p->leads[k];
			const struct suppress_rule *r = &s->rules[n];

			if (n >= best)
				break;
			if ((frame == 0 || r->floats) && rule_applies(r, stack) &&
			    steps_fit(s, stack, r, frame)) {
				best = n;
				break;
			}
		}
	}
	return best;
}

int64_t suppress_match(struct suppress *s, const struct suppress_stack *stack)
{
	uint32_t best = UINT32_MAX;
	int err;

	if (s->rule_count == 0)
		return SUPPRESS_NONE;
	err = fill_row(s, stack);
	if (err < 0)
		return err;
	for (size_t i = 0; i < s->bare_count && best == UINT32_MAX; i++)
		if (rule_applies(&s->rules[s->bare[i]], stack))
			best = s->bare[i];
	for (size_t i = 0; i < stack->count * ROLES; i++)
		best = match_at(s, stack, i / ROLES, &s->memos[s->row[i]], best);
	return best == UINT32_MAX ? SUPPRESS_NONE : (int64_t)best;
}

void suppress_add_match(struct suppress *s, int64_t entry, uint64_t blocks, uint64_t bytes)
{
	struct suppress_entry *e;

	if (entry < 0 || (size_t)entry >= s->rule_count)
		return;
	e = &s->rules[entry].entry;
	e->sites++;
	e->blocks = capped_sum(e->blocks, blocks);
	e->bytes = capped_sum(e->bytes, bytes);
}

size_t suppress_count(const struct suppress *s)
{
	return s->rule_count;
}

const struct suppress_entry *suppress_entry(const struct suppress *s, size_t number)
{
	return &s->rules[number].entry;
}

size_t suppress_skipped(const struct suppress *s)
{
	return s->skipped;
}
