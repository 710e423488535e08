/* top_print.h - top without a terminal: a table or an object for each look. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_TOP_PRINT_H
#define SEEP_TOP_PRINT_H

#include "base/std.h"
#include "follow/engine/engine.h"
#include "follow/top/fields.h"

struct pages_plan {
	FILE *out;
	uint64_t interval_ns;
	uint64_t count; /* looks that are printed; 0: until all have ended */
	bool is_json;
	bool is_named; /* processes were named: their sites are printed, too */
	struct fields_order order;
	struct namer_filter filter;
	const struct names_options *naming;
	const char *version;
	unsigned columns; /* 0: as wide as the tables are */
	unsigned top;     /* sites of a process in a table; 0: all */
	bool utf8;
};

/*
 * Makes a first look, and prints each one that follows. Ends also if processes
 * were named and none is listed any more, or if nobody reads. -ENOMEM, -EIO.
 */
int top_print_run(struct engine *l, const struct pages_plan *plan);

/*
 * One object and a newline (docs/JSON.md): all processes; `focus` has those
 * whose sites are known.
 */
int top_print_json(struct engine *l, const struct pages_plan *plan, struct focus *const *focus,
    size_t count, uint64_t look);

/* ---- top_print_parts: what the files of top_print.h share ---- */

enum { PAGES_PID = 7 }; /* columns of a pid: tables below each other are equal */

#endif
