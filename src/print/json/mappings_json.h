/* mappings_json.h - mappings by caller as JSON. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_MAPPINGS_JSON_H
#define SEEP_MAPPINGS_JSON_H

#include "kit/json/json_put.h"
#include "print/json/sites_json.h"

/*
 * Writes ,"mappings":{...} of a process that has recorded them, else nothing.
 * Filters of the options apply. -ENOMEM.
 */
int json_mappings(struct json *out, const struct session *s, const struct process *p,
    struct names *names, const struct view_options *options, struct json_writer *w);

#endif
