/* view_opts.h - the options of all commands that select and shape sites. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_VIEW_OPTS_H
#define SEEP_VIEW_OPTS_H

#include "command/options/opts.h"
#include "print/text/body.h"

/* As the user typed them; start with view_opts_default. */
struct view_opts {
	struct opts_regexp include, exclude, module, exclude_module, pool;
	struct opts_regexp wrapper;
	uint64_t min_size, max_size;
	struct opts_list suppress; /* files */
	bool no_suppress, skip_wrappers, all_frames, no_fold, merge;
	unsigned pid;
	unsigned depth; /* UINT_MAX: not given */
	int metric;     /* enum view_metric */
	int shape;      /* enum body_shape */
	int order;      /* enum amount_order; -1: not given */
	bool top_down, by_line, by_api, full_names;
	unsigned top;
	double threshold;
};

extern const struct view_opts view_opts_default;

/* They fill a struct view_opts. */
extern const struct opts_option view_opts_metrics[];
extern const struct opts_option view_opts_shapes[];
extern const struct opts_option view_opts_filters[];

/*
 * An option that shapes text alone, if one was given. NULL: none. Formats that
 * programs read, and pages, have everything: view_opts_warn_text() says so of
 * "json" or "the page".
 */
const char *view_opts_for_text(const struct view_opts *v);
void view_opts_warn_text(const char *command, const struct view_opts *v, const char *format);

/*
 * Converts them for a report. Mistakes end the program: one line, exit 2, or 3
 * if a file cannot be read. Memory is kept until the end.
 */
void view_opts_finish(const char *command, const struct view_opts *v, struct body_options *ret);

/*
 * The same for formats that programs read: every site by itself, with its whole
 * stack.
 */
void view_opts_finish_exact(
    const char *command, const struct view_opts *v, struct view_options *ret);

#endif
