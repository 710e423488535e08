/* json_older.h - blocks above some age, as JSON. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_JSON_OLDER_H
#define SEEP_JSON_OLDER_H

#include "kit/json/json_put.h"
#include "view/sites/older.h"

/* Both begin with a comma, and write nothing if `o` is NULL. */

/* Of a process: "older", an object. */
void json_older_process(struct json *out, const struct older *o, const struct process *p);

/* Of a site: four numbers. `brief`: without those that are 0. */
void json_older_site(
    struct json *out, const struct older *o, const struct view_figures *f, bool brief);

#endif
