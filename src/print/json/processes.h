/* processes.h - one process as JSON, with its totals, modules and sites. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_PROCESSES_H
#define SEEP_PROCESSES_H

#include "kit/json/json_put.h"
#include "print/json/sites_json.h"

/* Writes an object with all sites that the options select. -ENOMEM. */
int json_processes_put(struct json *out, const struct session *s, const struct process *p,
    struct names *names, const struct view_options *options, struct json_writer *w);

/* Writes ,"command":[...], its arguments. */
void json_processes_command(struct json *out, const struct seg_header *h);

/* Writes ,"name":{...}: the counters of one class of enum losses_class. */
void json_processes_counts(
    struct json *out, const char *name, const struct seg_header *h, int class);

/* "place_refused", if SEEP_DIR or SEEP_BASE is unfit; else nothing. */
void json_processes_place(struct json *out, const struct seg_header *h);

#endif
