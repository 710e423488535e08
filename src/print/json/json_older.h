/* json_older.h - blocks above some age, as JSON. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_JSON_OLDER_H
#define SEEP_JSON_OLDER_H

#include "kit/json/json_put.h"
#include "view/sites/older.h"

/* Of a process: "older", an object; nothing if `o` is NULL. */
void json_older_process(struct json *out, const struct older *o, const struct process *p);

#endif
