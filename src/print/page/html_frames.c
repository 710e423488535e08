/* html_frames.c - texts and frames of a page, each once, with numbers. */
/* SPDX-License-Identifier: Apache-2.0 */

#include "print/page/html_parts.h"

#include "base/std.h"
#include "kit/data/room.h"
#include "view/stacks/blame.h"

int html_frames_string(struct html_frames *f, const char *text, uint32_t *ret)
{
	int err;

	if (!text) {
		*ret = 0;
		return 0;
	}
	err = room_make(&f->strings, &f->string_room, f->string_count + 1, sizeof(const char *));
	if (err < 0)
		return err;
	if (f->string_count == 0)
		f->strings[f->string_count++] = "";
	err = dict_find(&f->string_index, dict_hash_text(text), dict_same_text, f->strings, text,
	    (uint32_t)f->string_count, ret);
	if (err < 0)
		return err;
	if (*ret == f->string_count)
		f->strings[f->string_count++] = text;
	return 0;
}

static bool same_frame(const void *items, uint32_t item, const void *key)
{
	const struct html_frame *a = (const struct html_frame *)items + item;
	const struct html_frame *b = key;

	return a->function == b->function && a->file == b->file && a->module == b->module &&
	    a->line == b->line && a->offset == b->offset && a->flags == b->flags;
}

static unsigned weight_of(const struct frame *x)
{
	return x->weight == BLAME_LIBRARY ? HTML_LIBRARY
	    : x->weight == BLAME_SYSTEM   ? HTML_SYSTEM
	                                  : 0U;
}

/* The number of its short name. -ENOMEM. */
static int add_brief(struct html_frames *f, const struct frame *x, uint32_t *ret)
{
	size_t known = f->string_count;
	char *brief;
	int err;

	if (!x->function || x->is_missing)
		return html_frames_string(f, x->function, ret);
	err = room_make(&f->briefs, &f->brief_room, f->brief_count, sizeof(char *));
	brief = err == 0 ? shorten_name(x->function) : NULL;
	if (!brief)
		return -ENOMEM;
	err = html_frames_string(f, brief, ret);
	if (err == 0 && f->string_count > known)
		f->briefs[f->brief_count++] = brief; /* it is in use now */
	else
		free(brief);
	return err;
}

int html_frames_frame(struct html_frames *f, const struct frame *x, uint32_t *ret)
{
	struct html_frame frame = {.line = x->line,
	    .offset = x->function ? 0 : x->offset,
	    .flags = (x->inlined ? HTML_INLINED : 0U) | (x->is_missing ? HTML_MISSING : 0U) |
	        (x->is_main ? HTML_MAIN : 0U) | weight_of(x)};
	uint64_t hash;
	int err;

	err = html_frames_string(f, x->function, &frame.function);
	if (err == 0)
		err = html_frames_string(f, x->file, &frame.file);
	if (err == 0)
		err = html_frames_string(f, x->module, &frame.module);
	if (err == 0)
		err = room_make(&f->frames, &f->frame_room, f->frame_count, sizeof(*f->frames));
	if (err < 0)
		return err;
	hash = dict_hash((uint64_t)frame.function << 32 | frame.file,
	    (uint64_t)frame.module << 32 | frame.line, frame.offset ^ (uint64_t)frame.flags << 56);
	err = dict_find(
	    &f->frame_index, hash, same_frame, f->frames, &frame, (uint32_t)f->frame_count, ret);
	if (err < 0)
		return err;
	if (*ret < f->frame_count)
		return 0;
	f->frames[f->frame_count++] = frame;
	return add_brief(f, x, &f->frames[*ret].brief);
}

void html_frames_put(const struct html_frames *f, struct html_blob *b)
{
	for (size_t i = 0; i < f->frame_count; i++) {
		const struct html_frame *x = &f->frames[i];

		html_blob_put(b, HTML_FRAME_FUNCTION, x->function);
		html_blob_put(b, HTML_FRAME_FILE, x->file);
		html_blob_put(b, HTML_FRAME_LINE, x->line);
		html_blob_put(b, HTML_FRAME_MODULE, x->module);
		html_blob_put(b, HTML_FRAME_OFFSET, x->offset);
		html_blob_put(b, HTML_FRAME_FLAGS, x->flags);
		html_blob_put(b, HTML_FRAME_BRIEF, x->brief);
	}
}

void html_frames_release(struct html_frames *f)
{
	for (size_t i = 0; i < f->brief_count; i++)
		free(f->briefs[i]);
	free(f->briefs);
	free(f->strings);
	free(f->frames);
	dict_release(&f->string_index);
	dict_release(&f->frame_index);
}
