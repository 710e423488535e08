/* texts.c - the text of each frame in a format, made once. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "print/export/texts.h"

#include "kit/data/room.h"
#include "kit/words/text.h"
#include "names/find/program.h"
#include "view/sites/enum_words.h"

struct text {
	char *bytes; /* NULL: not made yet */
	size_t len;
};

struct texts {
	const struct view *view;
	void (*write)(FILE *out, const struct frame *f);
	struct text *list; /* by frame */
};

int texts_new(
    const struct view *v, void (*write)(FILE *out, const struct frame *f), struct texts **ret)
{
	struct texts *t = calloc(1, sizeof(*t));

	if (!t)
		return -ENOMEM;
	*t = (struct texts){
	    .view = v, .write = write, .list = calloc(v->frame_count + 1, sizeof(*t->list))};
	if (!t->list) {
		free(t);
		return -ENOMEM;
	}
	*ret = t;
	return 0;
}

void texts_free(struct texts *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->view->frame_count; i++)
		free(t->list[i].bytes);
	free(t->list);
	free(t);
}

void texts_put(struct texts *t, uint32_t number, FILE *out)
{
	const struct frame *f = &t->view->frames[number];
	struct text *x = &t->list[number];
	FILE *memory;

	if (!x->bytes) {
		memory = open_memstream(&x->bytes, &x->len);
		if (memory) {
			t->write(memory, f);
			if (fclose(memory) != 0) {
				free(x->bytes);
				x->bytes = NULL;
			}
		}
	}
	if (x->bytes)
		(void)fwrite_unlocked(x->bytes, 1, x->len, out);
	else
		t->write(out, f); /* out of memory */
}

void texts_name(FILE *out, const struct frame *f)
{
	const char *module = text_base(f->module);

	if (f->brief && *f->brief) {
		text_print(out, f->brief);
		return;
	}
	if (module && *module) {
		text_print(out, module);
		(void)putc('+', out);
	}
	(void)fprintf(out, "0x%" PRIx64, f->offset);
}

void texts_process(FILE *out, const struct process *p)
{
	text_print(out, program_name(&p->header));
	(void)fprintf(out, " (pid %" PRIu32 ")", p->header.pid);
}

static void put_word(FILE *out, const char *word)
{
	const char *quote = *word && !strpbrk(word, " \t\"") ? "" : "\"";

	(void)fputs(quote, out);
	text_print(out, word);
	(void)fputs(quote, out);
}

void texts_command(FILE *out, const struct process *p)
{
	const char *at = p->header.command;
	const char *end = at + sizeof(p->header.command);
	const char *space = "";

	/* An empty argument is not the end if another one follows. */
	while (at < end && (*at || (at + 1 < end && at[1]))) {
		(void)fputs(space, out);
		put_word(out, at);
		at += strnlen(at, (size_t)(end - at)) + 1;
		space = " ";
	}
	if (!*space) {
		const char *exe = p->header.exe;

		text_print(out, *exe ? exe : "(no name)");
	}
	if (p->header.command_truncated)
		(void)fputs(" ...", out);
}

static char *closed(FILE *memory, char **text)
{
	if (fclose(memory) != 0) {
		free(*text);
		return NULL;
	}
	return *text;
}

char *texts_name_of(const struct frame *f)
{
	char *text = NULL;
	size_t len = 0;
	FILE *memory = open_memstream(&text, &len);

	if (!memory)
		return NULL;
	texts_name(memory, f);
	return closed(memory, &text);
}

char *texts_shown(const char *from)
{
	char *text = NULL;
	size_t len = 0;
	FILE *memory = open_memstream(&text, &len);

	if (!memory)
		return NULL;
	text_print(memory, from);
	return closed(memory, &text);
}

char *texts_process_of(const struct process *p)
{
	char *text = NULL;
	size_t len = 0;
	FILE *memory = open_memstream(&text, &len);

	if (!memory)
		return NULL;
	texts_process(memory, p);
	return closed(memory, &text);
}

/* ---- strings: texts kept once and numbered ---- */

int strings_find(struct strings *s, const char *text, uint32_t *ret)
{
	uint32_t at;
	int err;

	if (room_make(&s->list, &s->room, s->count, sizeof(char *)) < 0)
		return -ENOMEM;
	err = dict_find(&s->index, dict_hash_text(text), dict_same_text, s->list, text,
	    (uint32_t)s->count, &at);
	if (err < 0)
		return err;
	if (at == s->count) {
		s->list[at] = strdup(text);
		if (!s->list[at])
			return -ENOMEM;
		s->count++;
	}
	*ret = at;
	return 0;
}

void strings_release(struct strings *s)
{
	for (size_t i = 0; i < s->count; i++)
		free(s->list[i]);
	free(s->list);
	dict_release(&s->index);
	*s = (struct strings){0};
}

/* ---- locations: code addresses of stacks, with what is inlined there ---- */

static bool same_location(const void *items, uint32_t item, const void *key)
{
	const struct location *a = (const struct location *)items + item;
	const struct location *b = key;

	return a->count == b->count &&
	    (a->count == 0 || memcmp(a->frames, b->frames, a->count * sizeof(*a->frames)) == 0);
}

int locations_next(struct locations *l, const struct view *v, const struct view_site *s,
    uint32_t *at, uint32_t *ret)
{
	struct location fresh = {.frames = s->frames + *at};
	uint64_t h = 0;
	int err;

	while (*at < s->frame_count) {
		uint32_t number = s->frames[(*at)++];

		h = dict_hash(h, number, fresh.count++);
		if (!v->frames[number].inlined)
			break;
	}
	err = room_make(&l->list, &l->room, l->count, sizeof(*l->list));
	if (err == 0)
		err = dict_find(
		    &l->index, h, same_location, l->list, &fresh, (uint32_t)l->count, ret);
	if (err == 0 && *ret == l->count)
		l->list[l->count++] = fresh;
	return err;
}

void locations_release(struct locations *l)
{
	free(l->list);
	dict_release(&l->index);
	*l = (struct locations){0};
}

/* ---- modules: the modules of the frames of a view, numbered ---- */

/*
 * A frame's path is that of the module it was first seen in: the text itself,
 * not only an equal one. So its address leads back to the module.
 */
struct modules_known {
	const char *path;
	const struct process_module *module;
	uint32_t number; /* in the list + 1; 0: not yet */
};

static int by_address(const void *a, const void *b)
{
	const struct modules_known *x = a, *y = b;

	return ((uintptr_t)x->path > (uintptr_t)y->path) -
	    ((uintptr_t)x->path < (uintptr_t)y->path);
}

int modules_init(struct modules *m, const struct session *s)
{
	size_t all = 0;

	*m = (struct modules){0};
	for (size_t i = 0; i < s->count; i++)
		all += s->processes[i]->module_count;
	m->known = calloc(all + 1, sizeof(*m->known));
	if (!m->known)
		return -ENOMEM;
	for (size_t i = 0; i < s->count; i++) {
		const struct process *p = s->processes[i];

		for (size_t k = 1; k < p->module_count; k++)
			if (p->modules[k].path)
				m->known[m->known_count++] = (struct modules_known){
				    .path = p->modules[k].path, .module = &p->modules[k]};
	}
	qsort(m->known, m->known_count, sizeof(*m->known), by_address);
	return 0;
}

void modules_release(struct modules *m)
{
	free(m->list);
	free(m->known);
	*m = (struct modules){0};
}

static struct modules_known *look_up(const struct modules *m, const char *path)
{
	const struct modules_known key = {.path = path};

	return bsearch(&key, m->known, m->known_count, sizeof(*m->known), by_address);
}

static int add(struct modules *m, const struct modules_item *item)
{
	if (room_make(&m->list, &m->room, m->count, sizeof(*m->list)) < 0)
		return -ENOMEM;
	m->list[m->count++] = *item;
	return 0;
}

int modules_find(struct modules *m, const char *path, uint32_t *ret)
{
	struct modules_known *known = look_up(m, path);
	struct modules_item item = {.path = path, .module = known ? known->module : NULL};
	int err = 0;

	if (known && known->number > 0) {
		*ret = known->number - 1;
		return 0;
	}
	/* of the session before: there are few of them */
	for (size_t i = 0; !known && i < m->count; i++) {
		if (!m->list[i].module && strcmp(m->list[i].path, path) == 0) {
			*ret = (uint32_t)i;
			return 0;
		}
	}
	err = add(m, &item);
	if (err < 0)
		return err;
	*ret = (uint32_t)m->count - 1;
	if (known)
		known->number = (uint32_t)m->count;
	return 0;
}

uint64_t modules_address(const struct modules *m, const struct frame *f)
{
	const struct modules_known *known = f->module ? look_up(m, f->module) : NULL;

	return f->offset + (known ? known->module->base : 0);
}

void modules_put_frame(
    FILE *out, const struct modules *m, const struct frame *f, const char *unknown)
{
	(void)fprintf(out, "0x%" PRIX64 ": ", f->is_missing ? 0 : modules_address(m, f));
	texts_name(out, f);
	if (f->file) {
		(void)fputs(" (", out);
		text_print(out, text_base(f->file));
		(void)fprintf(out, ":%" PRIu32 ")", f->line);
	} else {
		(void)fputs(" (in ", out);
		text_print(out, f->module ? f->module : unknown);
		(void)putc(')', out);
	}
}
