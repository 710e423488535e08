/* census_json.h - types of live blocks, and what could be given back, as JSON. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_CENSUS_JSON_H
#define SEEP_CENSUS_JSON_H

#include <stdio.h>

#include "findings/by_type.h"
#include "findings/spare.h"

struct census_json {
	const char *version;
	const struct session *session;
	const struct process *process;
	const struct census *census;
	const struct by_type *types; /* NULL: not asked for */
	const struct spare *spare;   /* NULL: not asked for */
};

/* docs/JSON.md describes it. -ENOMEM, -EIO. */
int census_json_write(FILE *out, const struct census_json *j);

/* "census":{...} with sums, types and places, as a page has it. -ENOMEM. */
int census_json_page(
    FILE *out, const struct census *c, const struct by_type *t, const struct spare *s);

/*
 * The types in a text that census_json_write() has made, for a comparison: they
 * are added to t as those of the other moment. -EBADMSG: it is none, or has no
 * types; -ENOMEM.
 */
int census_json_read(const char *text, size_t len, struct by_type *t);

#endif
