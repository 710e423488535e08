/* dump_last.h - seep dump --last: the last events of each thread. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_DUMP_LAST_H
#define SEEP_DUMP_LAST_H

#include "names/find/names.h"
#include "print/text/event_lines.h"

struct dump_last {
	const char *input; /* NULL: the default */
	struct event_lines_options lines;
	const char *path; /* of the output */
	uint64_t max_bytes;
	const struct names_options *naming;
};

/* Returns the exit status, or ends the program. */
int dump_last(const struct dump_last *o);

#endif
