/* inventory_json.h - who held how much at the last look, from a recording, as JSON. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_INVENTORY_JSON_H
#define SEEP_INVENTORY_JSON_H

#include "kit/json/json_put.h"
#include "session/load/session.h"
#include "recording/parts/inventory.h"

/*
 * The answer of seep leaks --retained, and --held with an id, of a recording: all
 * processes that have an inventory. -ENOMEM; -EIO if ferror(out).
 */
struct inventory_json {
	const char *version;
	const struct session *session;
	uint32_t id;   /* 0: no site was asked for */
	bool retained; /* with the largest holders and all sites */
};
int inventory_json_write(FILE *out, const struct inventory_json *j);

/* "held":{...} and "census":{...} of p as a page has them. -ENOMEM. */
int inventory_json_page(struct json *out, const struct process *p, const struct inventory *v);

/*
 * ,"retained_blocks" and what else is known of a site of p in its last look;
 * nothing if that is nothing. p may be NULL.
 */
void inventory_json_site(struct json *out, const struct process *p, uint32_t id);

/* Positions of the sites, the one that retains most first; for free(). */
int inventory_json_order(const struct inventory *v, uint32_t **ret);

#endif
