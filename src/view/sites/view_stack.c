/* view_stack.c - names, filters and shapes the stack of a site. */
/* SPDX-License-Identifier: Apache-2.0 */

#include "view/stacks/blame.h"
#include "view/sites/view_parts.h"
#include "view/sites/enum_words.h"
#include "kit/words/text.h"

enum {
	DOORS_MAX = 8, /* operator new: the array forms call the plain one */
};

/* ---- frames: the results of filters ---- */

static bool matches(const regex_t *re, const char *text)
{
	return re && text && regexec(re, text, 0, NULL, 0) == 0;
}

static uint8_t judge(const struct view_options *o, const struct frame *x)
{
	uint8_t v = VERDICT_KNOWN;

	if (x->is_missing)
		return v;
	if (matches(o->include, x->function))
		v |= VERDICT_INCLUDE;
	if (matches(o->exclude, x->function))
		v |= VERDICT_EXCLUDE;
	if (matches(o->module, x->module))
		v |= VERDICT_MODULE;
	if (matches(o->exclude_module, x->module))
		v |= VERDICT_EXCLUDE_MODULE;
	if (o->skip_wrappers && x->function &&
	    (wrappers_has(x->function) || matches(o->wrapper, x->function)))
		v |= VERDICT_WRAPPER;
	return v;
}

uint8_t view_verdict(struct view_builder *b, uint32_t number)
{
	const struct view *v = b->view;

	if (number >= b->verdict_room) {
		size_t room = v->frame_count * 2 + 256;
		uint8_t *bigger = realloc(b->verdicts, room);

		if (!bigger)
			return 0;
		memset(bigger + b->verdict_room, 0, room - b->verdict_room);
		b->verdicts = bigger;
		b->verdict_room = room;
	}
	if (b->verdicts[number] == 0)
		b->verdicts[number] = judge(b->options, &v->frames[number]);
	return b->verdicts[number];
}

/* Is it part of the allocation function, and not its caller? */
static bool is_door(const struct view_site *site, const struct frame *x)
{
	static const char api[] = "seep_inline_"; /* of seep.h */

	return x->api != 0 ||
	    (site->kind == SEG_SITE_USER && x->function &&
	        strncmp(x->function, api, sizeof(api) - 1) == 0);
}

int view_name_stack(
    struct view_builder *b, const struct process *p, uint32_t stack, struct view_site *site)
{
	struct view *v = b->view;
	size_t n, count = 0, doors = 0;
	int err;

	n = stacks_frames(p->stacks, stack, b->words, STACKS_MAX_FRAMES, &site->stack_flags);
	if (site->stack_flags & SEG_NODE_GUESSED)
		stacks_guessed(p->stacks, stack, b->guessed, n);
	for (size_t i = 0; i < n; i++) {
		struct frames_span span;

		err = frames_find(v->table, b->words[i],
		    site->stack_flags & SEG_NODE_GUESSED && b->guessed[i], &span);
		v->frames = frames_list(v->table, &v->frame_count);
		if (err < 0)
			return err;
		for (size_t k = 0; k < span.count; k++) {
			const struct frame *x = &v->frames[span.numbers[k]];

			if (count == 0 && doors < DOORS_MAX && is_door(site, x)) {
				site->api = x->api ? x->api : site->api;
				doors++;
			} else if (count < VIEW_FRAMES_MAX) {
				b->numbers[count++] = span.numbers[k];
			}
		}
	}
	if (!b->options->all_frames)
		count = machinery_leave_out(v->frames, b->numbers, count);
	if (enum_words_no_frame(site->stack_flags)) {
		err = frames_missing(
		    v->table, enum_words_no_frame(site->stack_flags), &b->numbers[count++]);
		v->frames = frames_list(v->table, &v->frame_count);
		if (err < 0)
			return err;
	}
	return (int)count;
}

/* Removes wrappers at the front; the last frame stays in any case. */
static int skip_wrappers(struct view_builder *b, size_t *count)
{
	size_t skip = 0;

	while (b->options->skip_wrappers && skip + 1 < *count) {
		uint8_t v = view_verdict(b, b->numbers[skip]);

		if (v == 0)
			return -ENOMEM;
		if (!(v & VERDICT_WRAPPER))
			break;
		skip++;
	}
	*count -= skip;
	memmove(b->numbers, b->numbers + skip, *count * sizeof(*b->numbers));
	return 0;
}

static bool is_libc(const struct frame *x)
{
	const char *base = text_base(x->module);

	return base && (strncmp(base, "libc.so", 7) == 0 || strncmp(base, "libpthread", 10) == 0);
}

/*
 * The frames that call main or the function of a thread; the same in any
 * program.
 */
static bool is_start(const struct frame *x)
{
	static const char *const names[] = {"_start", "__libc_start_main", "__libc_start_main_impl",
	    "__libc_start_call_main", "start_thread", "thread_start", "clone", "__clone", "clone3",
	    "__clone3"};

	if (x->is_missing || (!x->function && !is_libc(x)))
		return false;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!x->function || strcmp(x->function, names[i]) == 0)
			return true;
	return false;
}

/*
 * Rust's runtime calls main, and the function of a thread, through a function
 * made for this purpose. The frames outside of it do not matter.
 */
static size_t trim_rust(const struct frame *frames, const uint32_t *stack, size_t count)
{
	for (size_t n = count; n-- > 1;) {
		const char *name = frames[stack[n]].function, *inner;

		if (!name || !strstr(name, "__rust_begin_short_backtrace"))
			continue;
		inner = frames[stack[n - 1]].function;
		if (n > 1 && inner && strstr(inner, "FnOnce") && strstr(inner, "call_once"))
			n--;
		return n;
	}
	return count;
}

/* std::thread calls its function through these. */
static bool is_thread_start(const struct frame *x)
{
	static const char *const names[] = {"execute_native_thread_routine", "std::thread::_",
	    "std::__invoke<", "std::__invoke_impl<"};

	if (x->is_missing)
		return false;
	if (!x->function) /* the first of these, if its name is not known */
		return strncmp(text_base(x->module ? x->module : ""), "libstdc++.so", 12) == 0;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strstr(x->function, names[i])) /* behind what it returns */
			return true;
	return false;
}

static size_t trim_thread(const struct frame *frames, const uint32_t *stack, size_t count)
{
	bool is_thread = false;
	size_t n = count;

	for (; n > 1 && is_thread_start(&frames[stack[n - 1]]); n--) {
		const char *name = frames[stack[n - 1]].function;

		is_thread |= name && strstr(name, "std::thread::_");
	}
	return is_thread ? n : count;
}

size_t view_without_start(const struct frame *frames, const uint32_t *stack, size_t count)
{
	const struct frame *last;
	size_t n = count;

	if (count == 0)
		return 0;
	last = &frames[stack[count - 1]];
	/* _start of a program without symbols */
	if (n > 2 && last->is_main && !last->function && is_libc(&frames[stack[n - 2]]))
		n--;
	while (n > 1 && is_start(&frames[stack[n - 1]]))
		n--;
	/* libc all the way, so it is no start of a program */
	if (is_start(&frames[stack[n - 1]]))
		return count;
	return trim_rust(frames, stack, trim_thread(frames, stack, n));
}

/* A frame that only calls main is not the user's own, even if it is shown. */
static uint32_t find_own(const struct view *v, const uint32_t *stack, size_t count)
{
	return blame_find(v->frames, stack, (uint32_t)view_without_start(v->frames, stack, count));
}

/* Adds the allocation function as the innermost frame. */
static int put_api(struct view_builder *b, uint8_t api, size_t *count)
{
	struct view *v = b->view;
	int err;

	memmove(b->numbers + 1, b->numbers, *count * sizeof(*b->numbers));
	memmove(b->repeats + 1, b->repeats, *count * sizeof(*b->repeats));
	b->repeats[0] = 1;
	err = frames_missing(v->table, enum_words_api(api), &b->numbers[0]);
	v->frames = frames_list(v->table, &v->frame_count);
	++*count;
	return err;
}

int view_shape_stack(struct view_builder *b, struct view_site *site, size_t count)
{
	const struct view_options *o = b->options;
	struct view *v = b->view;
	size_t depth = o->depth;
	bool recurs = false;
	int err;

	err = skip_wrappers(b, &count);
	if (err < 0)
		return err;
	if (o->trim && count > 0)
		count = view_without_start(v->frames, b->numbers, count);
	if (o->group || o->before)
		for (size_t i = 0; i < count; i++)
			b->numbers[i] = v->frames[b->numbers[i]].place;
	if (o->fold)
		count = fold_stack(v->frames, b->numbers, b->repeats, count);
	if (o->depth > 0 && o->depth_from_own)
		depth += find_own(v, b->numbers, count);
	if (depth > 0 && depth < count && depth < VIEW_FRAMES_MAX) {
		count = depth;
		err = frames_missing(v->table, "(callers beyond --depth)", &b->numbers[count]);
		v->frames = frames_list(v->table, &v->frame_count);
		if (err < 0)
			return err;
		b->repeats[count++] = 1;
	}
	err = o->by_api ? put_api(b, site->api, &count) : 0;
	if (err < 0)
		return err;
	for (size_t i = 0; o->fold && i < count; i++)
		recurs = recurs || b->repeats[i] > 1;
	/*
	 * if sites are grouped by it, a stack is headed by the allocation
	 * function
	 */
	site->own = o->by_api ? 0 : find_own(v, b->numbers, count);
	site->frame_count = (uint32_t)count;
	site->frames = b->numbers;
	site->repeats = recurs ? b->repeats : NULL;
	return 0;
}

int64_t view_suppression(struct view_builder *b, const struct view_site *site, size_t count)
{
	struct suppress_stack stack = {.frames = b->texts,
	    .count = count,
	    .api = site->api,
	    .blocks = site->figures.all.live_blocks};

	for (size_t i = 0; i < count; i++) {
		const struct frame *x = &b->view->frames[b->numbers[i]];

		b->texts[i] = (struct suppress_frame){0};
		if (!x->is_missing)
			b->texts[i] = (struct suppress_frame){.function = x->function,
			    .symbol = x->symbol,
			    .file = x->file,
			    .line = x->line,
			    .module = x->module};
	}
	return suppress_match(b->options->suppress, &stack);
}
