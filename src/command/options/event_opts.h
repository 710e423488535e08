/* event_opts.h - options about events and formats. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_EVENT_OPTS_H
#define SEEP_EVENT_OPTS_H

#include "base/std.h"
#include "command/options/opts.h"
#include "command/options/view_opts.h"
#include "kit/words/words.h"
#include "names/find/names.h"
#include "print/export/export.h"
#include "session/load/session.h"
#include "view/sites/ages.h"

/* Of the help of --at. */
#define EVENT_OPTS_AT \
	"(12.34 or 340ms after the first process started, 50%, -2h before " \
	"now, 2026-11-15T12:00), exact to 10 ms; needs an event log"

/*
 * All of these end the program if something is wrong: a moment that means
 * nothing, or an input without an event log, with exit 2; a log that cannot be
 * read with exit 3.
 */
void event_opts_parse(const char *command, const char *text, struct moment *ret);

/*
 * The session of INPUT becomes what it was at that moment. Returns the moment in
 * ms after the start of the first process. *ret_damaged is set if the log has
 * damage, which was said.
 */
uint64_t event_opts_set_back(const char *command, const char *input, struct session *s,
    const char *text, const struct moment *m, bool *ret_damaged);

/* For lifetimes_free(). */
struct lifetimes *event_opts_lifetimes(const char *command, const char *option, const char *input,
    struct session *s, uint32_t within, bool *ret_damaged);

/* ---- export_opts: the options of export, and which formats support them ---- */

struct export_opts {
	const char *format, *path, *since;
	bool force, list, full, full_names, rss;
	uint64_t max_bytes;
	unsigned top;
	uint64_t older_ns; /* 0: not asked for */
	struct view_opts sites;
	struct names_options naming;
};

extern const struct opts_group export_opts_groups[];

/*
 * The selected format. Ends the program if the format does not support the
 * options.
 */
const struct export_format *export_opts_format(const struct export_opts *o);

#endif
