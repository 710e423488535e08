/* moment_opts.h - FROM..TO of --growth, and what it means for an input. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_MOMENT_OPTS_H
#define SEEP_MOMENT_OPTS_H

#include <stdbool.h>
#include <stdint.h>

#include "session/load/session.h"
#include "kit/words/moment.h"

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

#endif
