/* leaks_stored.h - seep leaks --held, --retained and --types of a recording. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_LEAKS_STORED_H
#define SEEP_LEAKS_STORED_H

#include "command/shell/output.h"
#include "names/find/names.h"
#include "view/sites/view.h"

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

#endif
