/* html_parts.h - a page while it is written; shared by the files html_*.c. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_HTML_PARTS_H
#define SEEP_HTML_PARTS_H

#include "print/page/html.h"
#include "print/page/html_blob.h"
#include "kit/data/dict.h"

/*
 * Values in the place of a row's number: HTML_NO_ROW, or HTML_OTHERS plus the
 * number of one of the group's others.
 */
#define HTML_NO_ROW UINT32_MAX
#define HTML_OTHERS UINT32_C(0x80000000)

enum html_frame_flags {
	HTML_INLINED = 1,
	HTML_MISSING = 2, /* function is a remark about missing frames */
	HTML_MAIN = 4,    /* of the executable */
	HTML_LIBRARY = 8, /* not the user's own: of a standard library, */
	HTML_SYSTEM = 16, /* or of libc and the loader */
};

/* A place in the code; texts are numbers of strings, 0: not known. */
struct html_frame {
	uint32_t function, file, module, line;
	uint64_t offset; /* 0 where there is a function */
	uint32_t flags;
	uint32_t brief; /* the function without its arguments */
};

/* Texts are borrowed, except short names. Equal texts have one number. */
struct html_frames {
	const char **strings; /* [0] is none */
	size_t string_count, string_room;
	struct dict string_index;
	struct html_frame *frames;
	size_t frame_count, frame_room;
	struct dict frame_index;
	char **briefs;
	size_t brief_count, brief_room;
};

/* Several small sites as one; its frames are those that they share. */
struct html_other {
	struct view_site site;
	uint32_t row;
};

struct html_row {
	const struct view_site *site;
	uint32_t group, stack;
	uint32_t other; /* it is this one of the group's others, + 1; 0: a site */
};

/* One process of one input. */
struct html_group {
	uint32_t input;
	const struct process *process;
	size_t first, count;     /* rows */
	size_t points;           /* written */
	uint32_t *row_of;        /* by site of the process; HTML_NO_ROW */
	struct view_figures all; /* of its sites in the view */
	struct html_other *others;
	size_t other_count, other_room;
	uint64_t merged; /* sites in them */
};

/* The moments at which an input with a time line has changes of sites. */
struct html_moments {
	uint64_t width_us;
	size_t count, changes;
};

struct html {
	const struct html_input *inputs;
	size_t input_count;
	const struct html_options *options;
	struct html_group *groups;
	size_t group_count;
	struct html_row *rows; /* by group, then stack */
	size_t row_count;
	struct html_moments *moments; /* by input */
	struct html_frames frames;
	double threshold; /* sites of a smaller share are merged; 0: none */
	struct html_blob blob;
};

/* ---- html_frames.c ---- */

/* The number of a text; 0 for NULL. -ENOMEM. */
int html_frames_string(struct html_frames *f, const char *text, uint32_t *ret);

/* The number of a frame of a view. -ENOMEM. */
int html_frames_frame(struct html_frames *f, const struct frame *x, uint32_t *ret);

void html_frames_put(const struct html_frames *f, struct html_blob *b);
void html_frames_release(struct html_frames *f);

/* ---- html_rows.c: groups and rows of all inputs. -ENOMEM ---- */

int html_rows_choose(struct html *h);

/* Is their share of any figure of the group at least `share`? */
bool html_rows_matter(const struct view_figures *f, const struct html_group *g, double share);

/* ---- html_others.c: sites of an input below their callers. -ENOMEM ---- */

/* Sorts the list; the groups get their others, row_of of these sites is set. */
int html_others_merge(struct html *h, uint32_t input, struct html_row *small, size_t count);

/* ---- html_stacks.c: numbers of stacks, rows sorted by them. -ENOMEM ---- */

int html_stacks_put(struct html *h);

/* ---- html_sites.c: the figures of rows. -ENOMEM ---- */

int html_sites_put(struct html *h);

/* ---- html_timeline.c: points of processes, changes of sites. -ENOMEM, -EIO */

int html_timeline_put(struct html *h);

/* ---- html_verdicts.c: what looks found, as JSON. -ENOMEM ---- */

/* ,"leaks":{...},"verdict":"sentence" of a group; nothing: nobody looked */
int html_verdict_group(struct json *out, const struct html *h, size_t group);

/* ,"verdicts":[...] of rows, and the words of their notes; or nothing */
void html_verdict_rows(struct json *out, const struct html *h);

/* ---- html_head.c: everything else, as JSON; for free(). -ENOMEM ---- */

int html_head_write(struct html *h, char **ret, size_t *ret_len);

#endif
