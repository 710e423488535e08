/* verdict_json.h - verdicts as JSON; keys are only ever added. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_JSON_VERDICT_JSON_H
#define SEEP_JSON_VERDICT_JSON_H

#include <stdio.h>

#include "report/verdict_list.h"

/* {"class":...}: one verdict on one place. */
void verdict_json_site(
    FILE *out, const struct verdicts *v, const struct verdict_entry *e);

/* {"looks":...}: how a process was looked at, and the sums of what was found. */
void verdict_json_process(FILE *out, const struct verdicts *v);

/* The answer of `seep leaks --format json`. -ENOMEM, -EIO. */
struct verdict_json_options {
	const char *version;
	int exit_status;
	uint64_t pause_ns;
};
int verdict_json_write(FILE *out, const struct verdict_list *l,
    const struct verdict_json_options *o);

#endif
