/* growth_json.h - what grew between two moments of a recording, as JSON. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_GROWTH_JSON_H
#define SEEP_GROWTH_JSON_H

#include "findings/growth.h"

/* One JSON object. Errors as of compare_text_growth(). */
int growth_json_write(FILE *out, const struct session *s, struct names *names,
    const struct view_options *options, const struct growth_moment *from,
    const struct growth_moment *to, const char *version);

#endif
