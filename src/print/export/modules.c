/* modules.c - the modules of the frames of a view, numbered. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "print/export/texts.h"

#include "kit/data/room.h"
#include "kit/words/text.h"

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
