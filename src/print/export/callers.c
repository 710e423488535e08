/* callers.c - sums up the sites of a process by allocating code addresses. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "print/export/callers.h"

#include "kit/data/dict.h"
#include "kit/data/room.h"
#include "kit/words/text.h"
#include "names/find/program.h"
#include "print/export/texts.h"
#include "view/sites/enum_words.h"

/* Frames of the first `depth` addresses: each ends with one not inlined. */
static uint32_t frames_of(const struct view *v, const struct view_site *s, unsigned depth)
{
	uint32_t n = 0;

	while (n < s->frame_count && depth > 0)
		depth -= !v->frames[s->frames[n++]].inlined;
	return n;
}

/* The index passes no context, so the key contains it. */
struct key {
	const struct view *view;
	const struct callers_row *row;
};

static bool same_code(const struct frame *a, const struct frame *b)
{
	return a->offset == b->offset && a->inlined == b->inlined &&
	    text_same(a->module, b->module);
}

static bool same_row(const void *items, uint32_t item, const void *key)
{
	const struct callers_row *a = (const struct callers_row *)items + item;
	const struct key *k = key;
	const struct frame *frames = k->view->frames;

	if (a->frame_count != k->row->frame_count)
		return false;
	for (uint32_t i = 0; i < a->frame_count; i++)
		if (!same_code(&frames[a->site->frames[i]], &frames[k->row->site->frames[i]]))
			return false;
	return true;
}

static uint64_t hash_row(const struct view *v, const struct callers_row *row)
{
	uint64_t h = row->frame_count;

	for (uint32_t i = 0; i < row->frame_count; i++)
		h = dict_hash(h, v->frames[row->site->frames[i]].offset, i);
	return h;
}

static void add(struct callers_row *to, const struct view_site *s)
{
	bool knows = to->size_max > 0;

	view_add(&to->figures, &s->figures);
	if (s->size_max == 0)
		return;
	if (!knows || s->size_min < to->size_min)
		to->size_min = s->size_min;
	if (s->size_max > to->size_max)
		to->size_max = s->size_max;
}

static int heavier(const void *a, const void *b)
{
	const struct callers_row *x = a, *y = b;
	uint64_t v = x->figures.all.live_bytes, w = y->figures.all.live_bytes;

	if (v != w)
		return v > w ? -1 : 1;
	v = x->figures.all.allocated_bytes;
	w = y->figures.all.allocated_bytes;
	if (v != w)
		return v > w ? -1 : 1;
	return (x->site->id > y->site->id) - (x->site->id < y->site->id);
}

int callers_init(struct callers *c, const struct view *v, uint32_t process, unsigned depth)
{
	struct dict index = {0};
	int err = 0;

	*c = (struct callers){0};
	c->rows = calloc(v->site_count + 1, sizeof(*c->rows));
	if (!c->rows)
		return -ENOMEM;
	for (size_t i = 0; i < v->site_count && err == 0; i++) {
		const struct view_site *s = &v->sites[i];
		struct callers_row fresh = {.site = s, .frame_count = frames_of(v, s, depth)};
		const struct key key = {.view = v, .row = &fresh};
		uint32_t at;

		if (s->process != process)
			continue;
		err = dict_find(
		    &index, hash_row(v, &fresh), same_row, c->rows, &key, (uint32_t)c->count, &at);
		if (err < 0)
			break;
		if (at == c->count)
			c->rows[c->count++] = fresh;
		add(&c->rows[at], s);
	}
	dict_release(&index);
	qsort(c->rows, c->count, sizeof(*c->rows), heavier);
	if (err < 0)
		callers_release(c);
	return err;
}

void callers_release(struct callers *c)
{
	free(c->rows);
	*c = (struct callers){0};
}

static const struct frame *first_frame(const struct view *v, const struct callers_row *row)
{
	return row->frame_count ? &v->frames[row->site->frames[0]] : NULL;
}

void callers_address(FILE *out, const struct view *v, const struct callers_row *row)
{
	const struct frame *f = first_frame(v, row);

	if (!f || f->is_missing) {
		(void)fputs("??", out);
	} else if (f->module) {
		text_print(out, text_base(f->module));
		(void)fprintf(out, "+%" PRIx64, f->offset);
	} else {
		(void)fprintf(out, "0x%" PRIx64, f->offset);
	}
}

uint64_t callers_absolute(const struct view *v, const struct callers_row *row, uint32_t process)
{
	const struct process *p = v->session->processes[process];
	uint64_t words[STACKS_MAX_FRAMES];
	const struct frame *f = first_frame(v, row);
	uint32_t flags;
	size_t n;

	n = stacks_frames(
	    p->stacks, p->sites[row->site->site].stack, words, STACKS_MAX_FRAMES, &flags);
	/* The view leaves out operator new, so find the frame by its offset. */
	for (size_t i = 0; f && i < n; i++) {
		const struct process_module *m = process_module(p, words[i]);

		if (SEG_FRAME_PC(words[i]) - (m ? m->base : 0) == f->offset &&
		    text_same(m ? m->path : NULL, f->module))
			return SEG_FRAME_PC(words[i]);
	}
	return 0;
}

void callers_location(FILE *out, const struct view *v, const struct callers_row *row)
{
	for (uint32_t i = 0; i < row->frame_count; i++) {
		const struct frame *f = &v->frames[row->site->frames[i]];
		const struct frame *before = i ? &v->frames[row->site->frames[i - 1]] : NULL;

		if (before)
			(void)fputs(before->inlined ? " (inlined by) " : " <- ", out);
		text_print(out, f->brief ? f->brief : "??");
		if (f->is_missing)
			continue;
		(void)fputs(" at ", out);
		text_print(out, f->file ? f->file : "??");
		if (f->line > 0)
			(void)fprintf(out, ":%" PRIu32, f->line);
		else
			(void)fputs(":?", out);
	}
	if (row->frame_count == 0)
		(void)fputs("?? at ??:?", out);
}

bool callers_has(const struct view *v, uint32_t process)
{
	for (size_t i = 0; i < v->site_count; i++)
		if (v->sites[i].process == process)
			return true;
	return false;
}

void callers_heading(FILE *out, const struct view *v, uint32_t process)
{
	const struct process *p = v->session->processes[process];

	if (v->session->count < 2)
		return;
	(void)fputs("# ", out);
	text_print(out, program_name(&p->header));
	(void)fprintf(out, " (pid %u)\n", p->header.pid);
}

/* ---- functions: the functions of a view's frames, numbered ---- */

struct functions {
	const struct view *view;
	uint32_t *of_frame; /* number + 1, 0: not asked for yet */
	const struct frame **list;
	size_t count, room;
	struct dict index;
};

int functions_new(const struct view *v, struct functions **ret)
{
	struct functions *f = calloc(1, sizeof(*f));

	if (!f)
		return -ENOMEM;
	f->view = v;
	f->of_frame = calloc(v->frame_count + 1, sizeof(*f->of_frame));
	if (!f->of_frame) {
		free(f);
		return -ENOMEM;
	}
	*ret = f;
	return 0;
}

void functions_free(struct functions *f)
{
	if (!f)
		return;
	dict_release(&f->index);
	free(f->of_frame);
	free(f->list);
	free(f);
}

static bool same_function(const void *items, uint32_t item, const void *key)
{
	const struct frame *a = ((const struct frame *const *)items)[item];
	const struct frame *b = key;

	return a->label == b->label && text_same(a->file, b->file);
}

int functions_find(struct functions *f, uint32_t frame, uint32_t *ret)
{
	const struct frame *x = &f->view->frames[frame];
	uint32_t at;
	int err;

	if (f->of_frame[frame] == 0) {
		err = room_make(&f->list, &f->room, f->count, sizeof(const struct frame *));
		if (err == 0)
			err = dict_find(&f->index, dict_hash(x->label, dict_hash_text(x->file), 2),
			    same_function, f->list, x, (uint32_t)f->count, &at);
		if (err < 0)
			return err;
		if (at == f->count)
			f->list[f->count++] = x;
		f->of_frame[frame] = at + 1;
	}
	*ret = f->of_frame[frame] - 1;
	return 0;
}

size_t functions_count(const struct functions *f)
{
	return f->count;
}

const struct frame *functions_frame(const struct functions *f, uint32_t number)
{
	return f->list[number];
}
