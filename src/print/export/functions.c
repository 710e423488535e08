/* functions.c - the functions of a view's frames, numbered. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "print/export/functions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "print/export/strings.h"
#include "kit/data/room.h"
#include "kit/words/text.h"

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
