/* leaks_json.h - what seep leaks knows as JSON; keys are only ever added. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_LEAKS_JSON_H
#define SEEP_LEAKS_JSON_H

#include "base/std.h"
#include "findings/by_type.h"
#include "findings/held_view.h"
#include "findings/score_list.h"
#include "kit/json/json_put.h"
#include "recording/parts/inventory.h"
#include "session/load/session.h"

/* A process that was looked at, or should have been. */
struct leaks_json_one {
	const struct process *process;
	struct verdict_list list;
	struct score_list scores;
};

struct leaks_json {
	const char *version;
	int exit_status;
	const struct session *session;
	struct leaks_json_one *list;
	size_t count;
};

/* Writes one object and a newline. -ENOMEM; -EIO if ferror(out). */
int leaks_json_write(FILE *out, const struct leaks_json *j);

/* ---- held_json: who holds what, as JSON; keys are only ever added ---- */

/*
 * Writes one object and a newline. `id`: with the ways to this site; 0: none.
 * `retained`: with the largest holders and all sites. -ENOMEM; -EIO if
 * ferror(out).
 */
int held_json_write(FILE *out, const struct held_view *v, uint32_t id, bool retained);

/* ---- inventory_json: who held how much at the last look, from a recording, as JSON ---- */

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

/* ---- census_json: types of live blocks, and what could be given back, as JSON ---- */

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
