/* json_frames.c - the stacks of a view as JSON. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "report/json_frames.h"

#include <errno.h>
#include <stdlib.h>

#include "report/json_put.h"

struct cached {
	char *text; /* NULL: not made yet */
	size_t len;
};

struct json_frames {
	const struct view *view;
	size_t count;
	struct cached cache[];
};

int
json_frames_new(const struct view *v, struct json_frames **ret)
{
	struct json_frames *j =
	    calloc(1, sizeof(*j) + v->frame_count * sizeof(j->cache[0]));

	if (!j)
		return -ENOMEM;
	j->view = v;
	j->count = v->frame_count;
	*ret = j;
	return 0;
}

void
json_frames_free(struct json_frames *j)
{
	if (!j)
		return;
	for (size_t i = 0; i < j->count; i++)
		free(j->cache[i].text);
	free(j);
}

static void
write_frame(FILE *out, const struct frame *x)
{
	(void)fputs("{\"function\":", out);
	json_string(out, x->function);
	json_text(out, "file", x->file);
	if (x->line > 0)
		json_number(out, "line", x->line);
	else
		(void)fputs(",\"line\":null", out);
	json_text(out, "module", x->module);
	if (x->is_missing)
		(void)fputs(",\"offset\":null", out);
	else
		json_number(out, "offset", x->offset);
	json_boolean(out, "inlined", x->inlined);
	(void)putc('}', out);
}

static void
put_frame(FILE *out, const struct frame *x, struct cached *c)
{
	FILE *memory;

	if (!c->text) {
		memory = open_memstream(&c->text, &c->len);
		if (memory) {
			write_frame(memory, x);
			if (fclose(memory) != 0) {
				free(c->text);
				c->text = NULL;
			}
		}
	}
	if (c->text)
		(void)fwrite_unlocked(c->text, 1, c->len, out);
	else
		write_frame(out, x); /* out of memory */
}

void
json_frames_put(FILE *out, struct json_frames *j, const struct view_site *s)
{
	(void)fputs(",\"frames\":[", out);
	for (uint32_t i = 0; i < s->frame_count; i++) {
		uint32_t n = s->frames[i];

		if (i > 0)
			(void)putc(',', out);
		put_frame(out, &j->view->frames[n], &j->cache[n]);
	}
	(void)putc(']', out);
	json_key(out, "recursion");
	if (!s->repeats) {
		(void)fputs("null", out);
		return;
	}
	for (uint32_t i = 0; i < s->frame_count; i++)
		(void)fprintf(out, "%c%u", i ? ',' : '[', s->repeats[i]);
	(void)putc(']', out);
}
