/* events_out_heaptrack.c - the events of a process as heaptrack's file. */
/* SPDX-License-Identifier: Apache-2.0 */

#include "print/export/events_out.h"
#include "print/export/export_forms.h"
#include "print/export/texts.h"
#include "kit/data/room.h"

/*
 * Version 3 of the file, whose lines heaptrack.c describes. What an allocation
 * refers to, a stack and a pair of stack and size, is written before the first
 * one that needs it. Pairs may be written again, so that few are remembered.
 */
enum {
	PAIRS_MAX = 1 << 20, /* in memory */
	PAGE = 4096,
};

struct pair {
	uint64_t size;
	uint32_t trace;
};

struct writer {
	struct heaptrack_stacks stacks;
	uint32_t *traces; /* by site of the view; 0: not written */
	uint32_t nowhere; /* the stack of a site that is not known; 0: same */
	struct pair *pairs;
	size_t count, room;
	uint32_t before; /* pairs that were written and are not in memory */
	struct dict index;
};

static int begin(struct events_out *o)
{
	struct writer *w = calloc(1, sizeof(*w));

	if (!w)
		return -ENOMEM;
	o->more = w;
	w->traces = calloc(o->view->site_count + 1, sizeof(*w->traces));
	if (!w->traces || heaptrack_stacks_init(&w->stacks, o->out, o->view) < 0)
		return -ENOMEM;
	(void)fputs("v 10400 3\nX ", o->out);
	texts_command(o->out, o->process);
	(void)fprintf(o->out, " [written by seep %s from its event log]\nI %x 0\nc 0\n", o->version,
	    (unsigned)PAGE);
	o->ms = 0;
	return 0;
}

static void release(struct events_out *o)
{
	struct writer *w = o->more;

	if (!w)
		return;
	heaptrack_stacks_release(&w->stacks);
	dict_release(&w->index);
	free(w->pairs);
	free(w->traces);
	free(w);
	o->more = NULL;
}

static int at(struct events_out *o, uint64_t ms)
{
	(void)fprintf(o->out, "c %" PRIx64 "\n", ms);
	return 0;
}

/* The number of a site's stack, which is written if it is new. 0: -ENOMEM. */
static uint32_t trace_of(struct events_out *o, uint32_t site)
{
	static uint32_t none[1];
	static const struct view_site unknown = {.frames = none};
	struct writer *w = o->more;
	uint32_t *trace = site == EVENTS_OUT_NOWHERE ? &w->nowhere : &w->traces[site];

	if (*trace == 0)
		*trace = heaptrack_stacks_put(
		    &w->stacks, site == EVENTS_OUT_NOWHERE ? &unknown : &o->view->sites[site]);
	return *trace;
}

static bool same_pair(const void *items, uint32_t item, const void *key)
{
	const struct pair *a = (const struct pair *)items + item;
	const struct pair *b = key;

	return a->size == b->size && a->trace == b->trace;
}

/* The number of the pair of a block, which is written if it is new. */
static int find_pair(struct events_out *o, const struct events_out_block *b, uint32_t *ret)
{
	struct writer *w = o->more;
	struct pair key = {.size = b->size, .trace = trace_of(o, b->site)};
	uint32_t at_pair;

	if (key.trace == 0)
		return -ENOMEM;
	if (w->count == PAIRS_MAX) {
		dict_release(&w->index);
		w->before += (uint32_t)w->count;
		w->count = 0;
	}
	if (room_make(&w->pairs, &w->room, w->count, sizeof(*w->pairs)) < 0 ||
	    dict_find(&w->index, dict_hash(key.size, key.trace, 3), same_pair, w->pairs, &key,
	        (uint32_t)w->count, &at_pair) < 0)
		return -ENOMEM;
	if (at_pair == w->count) {
		w->pairs[w->count++] = key;
		(void)fprintf(o->out, "a %" PRIx64 " %" PRIx32 "\n", key.size, key.trace);
	}
	*ret = w->before + at_pair;
	return 0;
}

static int put(struct events_out *o, const struct events_out_block *b, char sign)
{
	uint32_t pair;
	int err = find_pair(o, b, &pair);

	if (err == 0)
		(void)fprintf(o->out, "%c %" PRIx32 "\n", sign, pair);
	return err;
}

static int come(struct events_out *o, const struct events_out_block *b)
{
	return put(o, b, '+');
}

static int go(struct events_out *o, const struct events_out_block *b)
{
	return put(o, b, '-');
}

const struct events_out_writer events_out_heaptrack = {
    .begin = begin,
    .at = at,
    .come = come,
    .go = go,
    .release = release,
};
