/* cmd_parts.h - parts of commands that have a file of their own. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_CMD_PARTS_H
#define SEEP_CMD_PARTS_H

#include "base/std.h"
#include "analysis/leaks/judge.h"
#include "command/shell/output.h"
#include "findings/by_type.h"
#include "findings/held_view.h"
#include "findings/ls_row.h"
#include "kit/os/fault.h"
#include "names/find/names.h"
#include "print/text/event_lines.h"
#include "session/load/session.h"
#include "view/sites/view.h"

/* ---- leaks_show: prints verdicts: of a look just made, or stored ones ---- */

struct leaks_show {
	const char *command; /* for messages */
	const struct session *session;
	const struct process *only; /* NULL: all that have verdicts */
	const struct view_options *view;
	/* how to find out who holds what grows, in one that runs */
	struct leaks_growth growth;
	unsigned top; /* places of a process in the text; 0: all */
	bool as_json;
	bool full_names;
	const char *path; /* NULL: stdout */
	const struct output_view *output;
};

/*
 * Returns the exit status: CMD_YES if something is lost, CMD_INPUT if no
 * process is judged, else CMD_OK. Failures end the program.
 */
int leaks_show(const struct leaks_show *o, struct names *names);

/* Does a process of the session have verdicts, or should it? */
bool leaks_show_has(const struct session *s);

/* ---- leaks_held: seep leaks --held and --retained: who holds what ---- */

struct leaks_held {
	const char *command; /* for messages */
	const struct session *session;
	const struct process *process;
	pid_t pid;
	uint32_t id;   /* of a site: --held; 0: none */
	bool retained; /* --retained */
	const struct view_options *view;
	unsigned top;
	bool as_json;
	const char *title; /* of the page with --format html; NULL: no page */
	const char *path;  /* NULL: stdout */
	const struct output_view *output;
	bool was_stopped;
	/* of one look; the notes are borrowed */
	struct judge *judge;
	const struct root_notes *notes;
	bool may_repeat; /* another look is possible */
	uint64_t vague;  /* of the look before, held_view_vague(); 0: none */
};

/*
 * Returns the exit status, or LEAKS_HELD_AGAIN: much seems to be held by nothing,
 * and another look may know better; o->vague is set for it. Failures end the
 * program.
 */
enum { LEAKS_HELD_AGAIN = -1 };
int leaks_held(struct leaks_held *o, struct names *names);

/* ---- leaks_census: seep leaks --types and --insight: takes a census and shows it ---- */

enum leaks_census_format {
	LEAKS_CENSUS_TEXT,
	LEAKS_CENSUS_JSON,
	LEAKS_CENSUS_HTML,
};

struct leaks_census {
	const struct session *session;
	const struct process *process;
	const struct view_options *view;
	uint64_t max_memory; /* 0: the default */
	bool with_types, with_spare;
	const char *before; /* file with an earlier census; NULL: none */
	const char *title;  /* what the user called the process */
	unsigned top;       /* lines of the text; 0: all */
	int format;         /* enum leaks_census_format */
	const char *path;   /* NULL: stdout */
	const struct output_view *output;
};

/*
 * Of a process that runs as `pid`. 0, or what survey_take() says, with words in
 * *why; other failures end the program.
 */
int leaks_census(const struct leaks_census *o, pid_t pid, struct names *names, struct fault *why);

/* ---- leaks_page: the page of a process with tables of `seep leaks` ---- */

struct leaks_page {
	const struct session *session;
	const struct process *process;
	const struct view_options *view;
	const char *title;
	const char *tables; /* JSON: html_options.census */
};

/* Negative errno. */
int leaks_page_write(FILE *out, const struct leaks_page *o, struct names *names);

/* ---- leaks_before: seep leaks --types --before: an earlier moment to compare with ---- */

/*
 * Adds the types in the file to t, as those of the other moment: a census that
 * `--types --format json` has written, or a recording that was made with
 * `record --types`, of which the process counts that runs the program of p and
 * had most bytes. Ends the program if the file has none.
 */
void leaks_before(const char *path, const struct process *p, struct by_type *t);

/* ---- leaks_stored: seep leaks --held, --retained and --types of a recording ---- */

struct leaks_stored {
	const char *command; /* for messages */
	const char *input;
	const struct session *session;
	const struct view_options *view;
	uint32_t id;        /* of a site: --held; 0: none */
	bool retained;      /* --retained */
	bool types;         /* --types */
	const char *before; /* of --types: compared with this; NULL: with none */
	unsigned top;       /* 0: all */
	int format;         /* enum leaks_census_format */
	const char *path;   /* NULL: stdout */
	const struct output_view *output;
};

/*
 * Prints what the last looks have stored (recording/parts/inventory.h). Returns the exit
 * status. Failures end the program: also if nothing is stored.
 */
int leaks_stored(const struct leaks_stored *o, struct names *names);

/* ---- dump_last: seep dump --last: the last events of each thread ---- */

struct dump_last {
	const char *input; /* NULL: the default */
	struct event_lines_options lines;
	const char *path; /* of the output */
	uint64_t max_bytes;
	const struct names_options *naming;
};

/* Returns the exit status, or ends the program. */
int dump_last(const struct dump_last *o);

/* ---- ls_history: seep ls: what seep watch has written down ---- */

typedef void ls_history_show(void *context, const struct ls_row *r);

/*
 * Shows the processes of a history, or, if the path is NULL, of the default
 * ones. Returns how many chapters there was no time for. A history that cannot
 * be read ends the program with one line and exit 3, unless it is a default one
 * that is missing.
 */
uint64_t ls_history_list(const char *path, uint64_t until_ns, ls_history_show *show, void *context);

/* Below a list of segments: prints that there is a default history, if so. */
void ls_history_hint(void);

#endif
