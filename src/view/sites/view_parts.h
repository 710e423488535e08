/* view_parts.h - what the files of a view share. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_VIEW_PARTS_H
#define SEEP_VIEW_PARTS_H

#include "kit/data/dict.h"
#include "view/sites/verdict.h"
#include "view/sites/view.h"

enum {
	VIEW_FRAMES_MAX = 2 * STACKS_MAX_FRAMES, /* the inlined too */
};

/* The result of a filter for a frame; computed once. */
enum verdict {
	VERDICT_KNOWN = 1,
	VERDICT_INCLUDE = 2,
	VERDICT_EXCLUDE = 4,
	VERDICT_MODULE = 8,
	VERDICT_EXCLUDE_MODULE = 16,
	VERDICT_WRAPPER = 32,
};

/* Memory for stacks; freed as a whole with the view. */
struct view_chunk {
	struct view_chunk *next;
	size_t used, room;
	char bytes[];
};

/* A view in the making. */
struct view_builder {
	struct view *view;
	const struct view_options *options;
	struct view_side side; /* the side whose sites are being added */
	bool is_before;        /* that side is the one to compare with */
	uint8_t *verdicts;     /* by frame */
	size_t verdict_room;
	size_t site_room;
	struct dict index;           /* of sites, where they are grouped */
	struct verdict_index judged; /* of the process that is looked at */
	uint64_t words[STACKS_MAX_FRAMES];
	bool guessed[STACKS_MAX_FRAMES];
	uint32_t numbers[VIEW_FRAMES_MAX + 2]; /* a sentence and an api more */
	uint16_t repeats[VIEW_FRAMES_MAX + 2];
	struct suppress_frame texts[VIEW_FRAMES_MAX + 1];
};

/*
 * Names the whole stack of a site as numbers; sets flags and api. Returns how
 * many frames, or -ENOMEM.
 */
int view_name_stack(
    struct view_builder *b, const struct process *p, uint32_t stack, struct view_site *site);

/* The results of the filters for a frame; 0: out of memory. */
uint8_t view_verdict(struct view_builder *b, uint32_t number);

/* The number of the suppression that matches, as suppress_match(). */
int64_t view_suppression(struct view_builder *b, const struct view_site *site, size_t count);

/*
 * Shapes the stack for display: site->frames and repeats point into b. -ENOMEM.
 */
int view_shape_stack(struct view_builder *b, struct view_site *site, size_t count);

/* The figures of a site of one process, on the current side. */
struct view_figures view_figures_of(const struct view_builder *b, size_t process, size_t site);

/* A copy that is valid as long as the view; NULL: out of memory. */
void *view_keep(struct view *v, const void *bytes, size_t len);

/*
 * Adds a site, or adds it to one that looks the same if sites are grouped.
 * Copies its stack out of b. -ENOMEM.
 */
int view_add_site(struct view_builder *b, struct view_site *site);

#endif
