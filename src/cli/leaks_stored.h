/* leaks_stored.h - seep leaks --held, --retained and --types of a recording. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_CLI_LEAKS_STORED_H
#define SEEP_CLI_LEAKS_STORED_H

#include "cli/output.h"
#include "names/names.h"
#include "report/view.h"

struct leaks_stored {
	const char *command; /* for messages */
	const char *input;
	const struct session *session;
	const struct view_options *view;
	uint32_t id;   /* of a site: --held; 0: none */
	bool retained; /* --retained */
	bool types;    /* --types */
	const char
	    *before;      /* of --types: compared with this; NULL: with none */
	unsigned top;     /* 0: all */
	int format;       /* enum leaks_census_format */
	const char *path; /* NULL: stdout */
	const struct output_view *output;
};

/*
 * Prints what the last looks have stored (trace/inventory.h). Returns the exit
 * status. Failures end the program: also if nothing is stored.
 */
int leaks_stored(const struct leaks_stored *o, struct names *names);

#endif
