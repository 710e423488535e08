/* export_opts.h - the options of export, and which formats support them. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_EXPORT_OPTS_H
#define SEEP_EXPORT_OPTS_H

#include "command/options/opts.h"
#include "command/options/view_opts.h"
#include "print/export/export.h"
#include "names/find/names.h"

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
