/* leaks_census.h - seep leaks --types and --insight: takes a census and shows it. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_LEAKS_CENSUS_H
#define SEEP_LEAKS_CENSUS_H

#include "command/shell/output.h"
#include "names/find/names.h"
#include "view/sites/view.h"
#include "kit/os/fault.h"

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

#endif
