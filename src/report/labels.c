/* labels.c - frames of a process as numbered texts; equal texts are one. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "report/labels.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reader/index.h"
#include "report/words.h"

/* A frame and what is inlined there: a stretch of the list of labels. */
struct frame_labels {
	uint64_t frame;
	size_t first, count;
};

struct labels {
	const struct process *process;
	struct names *names;
	char **texts;
	size_t text_count, text_room;
	struct index text_index;
	struct frame_labels *frames;
	size_t frame_count, frame_room;
	uint32_t *list;
	size_t list_count, list_room;
	struct index frame_index;
	uint64_t stack_frames[STACKS_MAX_FRAMES];
	uint32_t stack[STACKS_MAX_FRAMES + 1];
};

int
labels_new(const struct process *p, struct names *names, struct labels **ret)
{
	struct labels *l = calloc(1, sizeof(*l));

	if (!l)
		return -ENOMEM;
	l->process = p;
	l->names = names;
	*ret = l;
	return 0;
}

void
labels_free(struct labels *l)
{
	if (!l)
		return;
	for (size_t i = 0; i < l->text_count; i++)
		free(l->texts[i]);
	free(l->texts);
	free(l->frames);
	free(l->list);
	index_release(&l->text_index);
	index_release(&l->frame_index);
	free(l);
}

static bool
same_text(const void *items, uint32_t item, const void *key)
{
	return strcmp(((char *const *)items)[item], key) == 0;
}

static bool
same_frame(const void *items, uint32_t item, const void *key)
{
	return ((const struct frame_labels *)items)[item].frame ==
	    *(const uint64_t *)key;
}

static uint64_t
hash_text(const char *text)
{
	uint64_t h = 0;

	for (; *text; text++)
		h = index_hash(h, (unsigned char)*text, 0);
	return h;
}

/* Takes text over, also on failure. */
static int
add_text(struct labels *l, char *text, uint32_t *ret)
{
	uint32_t at, n = (uint32_t)l->text_count;
	int err = -ENOMEM;

	if (!text)
		return -ENOMEM;
	if (l->text_count == l->text_room) {
		size_t room = l->text_room ? l->text_room * 2 : 256;
		char **bigger = reallocarray(l->texts, room, sizeof(char *));

		if (!bigger)
			goto out;
		l->texts = bigger;
		l->text_room = room;
	}
	err = index_find(
	    &l->text_index, hash_text(text), same_text, l->texts, text, n, &at);
	if (err < 0)
		goto out;
	*ret = at;
	if (at == n) {
		l->texts[l->text_count++] = text;
		text = NULL;
	}
out:
	free(text);
	return err;
}

/* NULL: out of memory. */
static char *
text_of(struct labels *l, uint64_t frame, const struct names_frame *named)
{
	const struct process_module *m = process_module(l->process, frame);
	const char *module = m && m->path ? m->path : NULL, *slash;
	uint64_t offset = SEG_FRAME_PC(frame) - (m ? m->base : 0);
	char *text;
	int n;

	slash = module ? strrchr(module, '/') : NULL;
	if (slash)
		module = slash + 1;
	if (named->function && module)
		n = asprintf(&text, "%s [%s]", named->function, module);
	else if (named->function)
		n = asprintf(&text, "%s", named->function);
	else if (m)
		n = asprintf(&text, "%s+0x%" PRIx64,
		    module ? module : "(unnamed module)", offset);
	else
		n = asprintf(&text, "0x%" PRIx64, offset);
	return n < 0 ? NULL : text;
}

/* Adds the labels of a frame's chain to the list. */
static int
label_chain(struct labels *l, struct frame_labels *f)
{
	const struct names_frame *chain;
	size_t n = names_chain(l->names, l->process, f->frame, &chain);
	int err;

	f->first = l->list_count;
	if (l->list_room - l->list_count < n) {
		size_t room = l->list_room * 2 + n + 256;
		uint32_t *bigger = reallocarray(l->list, room, sizeof(*bigger));

		if (!bigger)
			return -ENOMEM;
		l->list = bigger;
		l->list_room = room;
	}
	for (size_t i = 0; i < n; i++) {
		err = add_text(l, text_of(l, f->frame, &chain[i]),
		    &l->list[l->list_count]);
		if (err < 0)
			return err;
		l->list_count++;
		f->count++;
	}
	return 0;
}

static int
labels_of(struct labels *l, uint64_t frame, const uint32_t **ret, size_t *count)
{
	uint32_t at, n = (uint32_t)l->frame_count;
	int err;

	if (l->frame_count == l->frame_room) {
		size_t room = l->frame_room ? l->frame_room * 2 : 256;
		struct frame_labels *bigger =
		    reallocarray(l->frames, room, sizeof(*bigger));

		if (!bigger)
			return -ENOMEM;
		l->frames = bigger;
		l->frame_room = room;
	}
	err = index_find(&l->frame_index, index_hash(frame, 7, 8), same_frame,
	    l->frames, &frame, n, &at);
	if (err < 0)
		return err;
	if (at == n) {
		struct frame_labels fresh = {.frame = frame};

		err = label_chain(l, &fresh);
		/* entered in the index, so it must exist in any case */
		l->frames[l->frame_count++] = fresh;
		if (err < 0)
			return err;
	}
	*ret = l->list + l->frames[at].first;
	*count = l->frames[at].count;
	return 0;
}

int
labels_stack(struct labels *l, const struct process_site *site, size_t max,
    const uint32_t **ret_stack, size_t *ret_count, uint8_t *ret_api)
{
	size_t n, skip, entries, chain_count, count = 0;
	const uint32_t *chain;
	const char *missing;
	uint32_t flags;
	int err;

	n = stacks_frames(l->process->stacks, site->stack, l->stack_frames,
	    STACKS_MAX_FRAMES, &flags);
	*ret_api = site->api;
	skip = names_skip_operators(
	    l->names, l->process, l->stack_frames, n, ret_api, &entries);
	missing = words_no_frame(flags);
	if (max == 0 || max > STACKS_MAX_FRAMES)
		max = STACKS_MAX_FRAMES;
	for (size_t i = skip; i < n && count <= max; i++, entries = 0) {
		err = labels_of(l, l->stack_frames[i], &chain, &chain_count);
		if (err < 0)
			return err;
		for (size_t k = entries; k < chain_count && count <= max; k++)
			l->stack[count++] = chain[k];
	}
	if (count > max) { /* one too many: it tells that there are more */
		count = max;
		missing = "(callers beyond --depth)";
	}
	if (missing) {
		err = add_text(l, strdup(missing), &l->stack[count++]);
		if (err < 0)
			return err;
	}
	*ret_stack = l->stack;
	*ret_count = count;
	return 0;
}

const char *
labels_text(const struct labels *l, uint32_t label)
{
	return label < l->text_count ? l->texts[label] : "(unknown)";
}

void
labels_print(FILE *out, const struct labels *l, const uint32_t *stack,
    size_t count, unsigned depth, const char *between)
{
	for (size_t i = 0; i < count; i++) {
		if (i > 0)
			(void)fputs(between, out);
		if (depth > 0 && i == depth) {
			(void)fputs("...", out);
			break;
		}
		words_print(out, labels_text(l, stack[i]));
	}
}
