/* leaks_show.h - prints verdicts: of a look just made, or stored ones. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_LEAKS_SHOW_H
#define SEEP_LEAKS_SHOW_H

#include "findings/leaks_growth.h"
#include "command/shell/output.h"
#include "names/find/names.h"
#include "view/sites/view.h"

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

#endif
