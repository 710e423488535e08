/* leaks_json.h - the answer of seep leaks as JSON; keys are only ever added. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_LEAKS_JSON_H
#define SEEP_LEAKS_JSON_H

#include "findings/score_list.h"
#include "findings/verdict_list.h"

/* A process that was looked at, or should have been. */
struct leaks_json_one {
	const struct process *process;
	struct verdict_list list;
	struct score_list scores;
};

struct leaks_json {
	const char *version;
	int exit_status;
	const struct session *session;
	struct leaks_json_one *list;
	size_t count;
};

/* Writes one object and a newline. -ENOMEM; -EIO if ferror(out). */
int leaks_json_write(FILE *out, const struct leaks_json *j);

#endif
