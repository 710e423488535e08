/* callstack.c - the call stack of a site id of one process, as lines or JSON. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "view/stacks/frames.h"

#include "kit/words/text.h"

#define OFFSET_MASK ((UINT64_C(1) << 47) - 1)

static int by_id(const void *key, const void *item)
{
	uint32_t a = *(const uint32_t *)key;
	uint32_t b = ((const struct process_bare *)item)->id;

	return (a > b) - (a < b);
}

_Static_assert(offsetof(struct process_id, id) == 0 && offsetof(struct process_bare, id) == 0,
    "the id is first");

bool callstack_find(const struct process *p, uint32_t id, uint32_t *ret)
{
	const struct process_id *found = p ? process_find_id(p, id) : NULL;
	const struct process_bare *bare;

	if (found) {
		*ret = p->sites[found->site].stack;
		return true;
	}
	bare = !p || p->bare_count == 0
	    ? NULL
	    : bsearch(&id, p->bare, p->bare_count, sizeof(*p->bare), by_id);
	if (bare)
		*ret = bare->stack;
	return bare != NULL;
}

void callstack_each(
    struct names *n, const struct process *p, uint32_t stack, callstack_put *put, void *context)
{
	uint64_t frames[STACKS_MAX_FRAMES];
	uint32_t flags;
	size_t count = stacks_frames(p->stacks, stack, frames, STACKS_MAX_FRAMES, &flags);

	for (size_t i = 0; i < count; i++) {
		const struct names_frame *chain;
		size_t parts = names_chain(n, p, frames[i], &chain);
		const struct process_module *m = process_module(p, frames[i]);
		struct callstack_line l = {
		    .module = m ? m->path : NULL, .offset = frames[i] & OFFSET_MASK};

		if (m)
			l.offset -= m->base;
		for (size_t k = 0; k < parts; k++) {
			l.frame = &chain[k];
			if (!put(context, &l))
				return;
		}
	}
}

void callstack_print_function(FILE *out, const struct callstack_line *l)
{
	const char *base = l->module ? text_base(l->module) : NULL;

	if (l->frame->function) {
		text_print(out, l->frame->function);
	} else if (base) {
		text_print(out, base);
		(void)fprintf(out, "+0x%" PRIx64, l->offset);
	} else {
		(void)fputs("?", out);
	}
}

struct matching {
	bool (*is_match)(void *context, const char *function);
	void *context;
	bool found;
};

static bool match_line(void *context, const struct callstack_line *l)
{
	struct matching *m = context;

	m->found = l->frame->function && m->is_match(m->context, l->frame->function);
	return !m->found;
}

bool callstack_matches(struct names *n, const struct process *p, uint32_t stack,
    bool (*is_match)(void *context, const char *function), void *context)
{
	struct matching m = {is_match, context, false};

	callstack_each(n, p, stack, match_line, &m);
	return m.found;
}

struct first {
	FILE *out;
	const char *name;
};

static bool first_line(void *context, const struct callstack_line *l)
{
	struct first *f = context;

	if (l->frame->api)
		return true;
	callstack_print_function(f->out, l);
	f->name = l->frame->function;
	return false;
}

char *callstack_function(
    struct names *n, const struct process *p, uint32_t stack, const char **ret_name)
{
	struct first first = {0};
	char *text = NULL;
	size_t len = 0;

	first.out = open_memstream(&text, &len);
	if (!first.out)
		return NULL;
	callstack_each(n, p, stack, first_line, &first);
	if (ftell(first.out) <= 0)
		(void)fputs("?", first.out);
	*ret_name = first.name;
	return fclose(first.out) == 0 ? text : NULL;
}

struct printing {
	FILE *out;
	const char *indent;
};

static bool print_line(void *context, const struct callstack_line *l)
{
	struct printing *p = context;

	(void)fputs(p->indent, p->out);
	callstack_print_function(p->out, l);
	if (l->frame->file) {
		(void)fputs(" at ", p->out);
		text_print(p->out, text_base(l->frame->file));
		if (l->frame->line)
			(void)fprintf(p->out, ":%u", l->frame->line);
	}
	(void)putc('\n', p->out);
	return true;
}

void callstack_print(
    FILE *out, const char *indent, struct names *n, const struct process *p, uint32_t stack)
{
	struct printing printing = {out, indent};

	callstack_each(n, p, stack, print_line, &printing);
}

static bool put_line(void *context, const struct callstack_line *l)
{
	struct json *out = context;

	json_object(out, NULL);
	json_text(out, "function", l->frame->function);
	json_text(out, "file", l->frame->file);
	json_number_or_null(out, "line", l->frame->line != 0, l->frame->line);
	json_text(out, "module", l->module);
	json_number(out, "offset", l->offset);
	json_end(out);
	return true;
}

void callstack_json(
    struct json *out, const char *name, struct names *n, const struct process *p, uint32_t stack)
{
	json_list(out, name);
	callstack_each(n, p, stack, put_line, out);
	json_end(out);
}
