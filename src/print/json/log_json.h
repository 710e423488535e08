/* log_json.h - what only an event log knows, as JSON. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_LOG_JSON_H
#define SEEP_LOG_JSON_H

#include "kit/json/json_put.h"
#include "view/sites/lifetimes.h"
#include "view/sites/view.h"

/* Both begin with a comma, and write nothing if no log was read. */

/* Of a process: "log", an object. */
void log_json_process(struct json *out, const struct process *p);

/* Of a site of one process: "lifetimes", an object. */
void log_json_site(struct json *out, const struct view *v, const struct view_site *s);

#endif
