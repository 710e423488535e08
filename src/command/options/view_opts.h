/* view_opts.h - options that choose what is shown, for several commands. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_VIEW_OPTS_H
#define SEEP_VIEW_OPTS_H

#include "base/std.h"
#include "command/options/opts.h"
#include "kit/words/words.h"
#include "names/find/names.h"
#include "print/text/body.h"
#include "session/load/session.h"
#include "view/sites/older.h"

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

/* ---- name_opts: the options of all commands that print names of functions ---- */

/* They fill a struct names_options. */
extern const struct opts_option name_opts_rows[];

/* Exits with 2 if a directory of --debug-dir (NULL: none) does not exist. */
void name_opts_check(const char *command, const char *debug_dirs);

/*
 * For names_free(), never NULL. If a directory or memory is missing, the
 * program ends.
 */
struct names *name_opts_open(const char *command, const struct names_options *o);

/* Looks up the frames of all its processes together, at the first question. */
void name_opts_gather(struct names *names, const struct session *s);

/* ---- moment_opts: FROM..TO of --growth, and what it means for an input ---- */

/* Of the help of --growth. */
#define MOMENT_OPTS_FORMS \
	"(10..60 in seconds, 30%..90%, -2h.., -3d..-1d before now, " \
	"2026-11-15T12:00..now; default: from the first third to the end)"

struct moment_opts {
	const char *text; /* as it was given; NULL: the option was not */
	struct moment from, to;
};

/* A text that means nothing ends the program, with its place and exit 2. */
void moment_opts_parse(const char *command, struct moment_opts *m);

/*
 * The same in microseconds after the start of the time line. If it has none,
 * the program ends with exit 3; if the moments are not in it, with exit 2.
 */
void moment_opts_resolve(const char *command, const struct moment_opts *m, const struct session *s,
    uint64_t *ret_from_us, uint64_t *ret_to_us);

/*
 * Reads the input once for each of the two moments, each session as it was
 * then. They are for session_free(), and so are the titles for free().
 */
struct moment_opts_pair {
	struct session *old, *new;
	char *old_title, *new_title;
};
void moment_opts_load(const char *command, const struct moment_opts *m, const char *input,
    struct moment_opts_pair *ret);

/*
 * For options that need other figures than those of a reading: if one of the
 * inputs is an INPUT@MOMENT, the program ends with exit 2.
 */
void moment_opts_refuse(const char *command, int count, char *const *inputs, bool is_other);

/* ---- older_opts: --older-than TIME: blocks by age ---- */

#define OLDER_OPTS_MEANING \
	"show live blocks older than TIME (30s, 10m, 2h): to a tenth of a " \
	"second while the process runs; in steps that double, from 1.6s on, " \
	"once it has exited"

/*
 * For older_free(); NULL if age_ns is 0, which means not wanted. Mistakes end
 * the program: one line, exit 2.
 */
struct older *older_opts_find(const char *command, const struct session *s, uint64_t age_ns);

/* Prints on stderr how exact the ages are, if there is something to say. */
void older_opts_warn(const char *command, const struct older *o);

#endif
