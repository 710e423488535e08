/* diff_json.h - two inputs compared, as JSON; keys are only ever added. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_DIFF_JSON_H
#define SEEP_DIFF_JSON_H

#include "findings/diff.h"
#include "kit/json/json_put.h"

/* One JSON object. Errors as of compare_text_diff(). */
int diff_json_write(FILE *out, const struct diff_side *old, const struct diff_side *new,
    struct names *names, const struct view_options *options, const char *version);

/* Writes ,"changes":{...},"sites":[...] for a view that compares. -ENOMEM. */
int diff_json_sites(struct json *out, const struct view *v, int metric);

#endif
