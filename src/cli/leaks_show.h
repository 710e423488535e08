/* leaks_show.h - prints verdicts: of one process just looked at, or stored. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_CLI_LEAKS_SHOW_H
#define SEEP_CLI_LEAKS_SHOW_H

#include "cli/output.h"
#include "names/names.h"
#include "report/view.h"

struct leaks_show {
	const char *command; /* for messages */
	const struct session *session;
	const struct process *only; /* NULL: all that have verdicts */
	const struct view_options *view;
	unsigned top; /* places of a process in the text; 0: all */
	bool as_json;
	bool full_names;
	const char *path; /* NULL: stdout */
	const struct output_view *output;
};

/*
 * What the command exits with: CMD_YES where something is lost, CMD_INPUT where
 * no process is judged, else CMD_OK. Failures end the program.
 */
int leaks_show(const struct leaks_show *o, struct names *names);

/* Has some process of the session verdicts, or should it have? */
bool leaks_show_has(const struct session *s);

#endif
