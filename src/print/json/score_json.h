/* score_json.h - how fast a process grows, and until when, as JSON. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_SCORE_JSON_H
#define SEEP_SCORE_JSON_H

#include "kit/json/json_put.h"
#include "session/load/session.h"

/*
 * Writes ,"growth":{...} of a process; nothing if it has no scores, because it
 * was seen for less than 10 minutes or the ages of its blocks are not known.
 */
void score_json_process(struct json *out, const struct session *s, const struct process *p);

#endif
