/* verdict_json.h - verdicts as JSON. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_VERDICT_JSON_H
#define SEEP_VERDICT_JSON_H

#include "kit/json/json_put.h"
#include "findings/verdict_list.h"
#include "view/sites/view.h"

/*
 * Writes the object of a site, or null: the object of class LEAK if there is
 * one, with the other class under its key "also". Nothing is written before it.
 */
void verdict_json_site(struct json *out, const struct view *v, const struct view_site *s);

/* The same for one class; v and s may be NULL if the stack is not known. */
void verdict_json_part(struct json *out, const struct view *v, const struct view_site *s,
    uint32_t class, const struct verdict_part *p);

/* "rate", "rate_low", "rate_high" */
void verdict_json_rate(struct json *out, bool is_known, double bytes, double low, double high);

/* By ages alone: s->score, and who holds the blocks; NULL: not known. */
void verdict_json_score(
    struct json *out, const struct view *v, const struct view_site *s, const char *held_by);

/* Writes ,"leaks":{...} of a process; nothing if no look was wanted. */
void verdict_json_process(struct json *out, const struct session *s, const struct process *p);

#endif
