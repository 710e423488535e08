/* report_json.h - reports as JSON; keys are only ever added. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_REPORT_JSON_H
#define SEEP_REPORT_JSON_H

#include "base/std.h"
#include "findings/growth.h"
#include "findings/ls_row.h"
#include "kit/json/json_put.h"
#include "view/sites/view.h"

/*
 * Writes one object and a newline. Keys are always present, with null if
 * nothing is known; integers are exact to 64 bits; text is valid UTF-8. The
 * object has all sites and all figures, whatever metric the options have; their
 * filters apply, and suppressions are only named. `options` may be NULL. 0,
 * -ENOMEM, or -EIO if ferror(out).
 */
int report_json_write(FILE *out, const struct session *s, struct names *names,
    const struct view_options *options, const char *version);

/* How frames are written, and how many bytes were written. */
struct json_form {
	bool shared;    /* frames once in a table; sites without zeros */
	uint64_t bytes; /* result: bytes of the sites in full, estimated */
};

/* The same as report_json_write(), in that form. */
int report_json_write_form(FILE *out, const struct session *s, struct names *names,
    const struct view_options *options, const char *version, struct json_form *form);

/* Writes ,"marks":[...]: the events in a recording, with their times. */
void report_json_marks(struct json *out, const struct session *s);

/* ---- diff_json: two inputs compared, as JSON; keys are only ever added ---- */

/* One JSON object. Errors as of compare_text_diff(). */
int diff_json_write(FILE *out, const struct diff_side *old, const struct diff_side *new,
    struct names *names, const struct view_options *options, const char *version);

/* Writes ,"changes":{...},"sites":[...] for a view that compares. -ENOMEM. */
int diff_json_sites(struct json *out, const struct view *v, int metric);

/* ---- growth_json: what grew between two moments of a recording, as JSON ---- */

/* One JSON object. Errors as of compare_text_growth(). */
int growth_json_write(FILE *out, const struct session *s, struct names *names,
    const struct view_options *options, const struct growth_moment *from,
    const struct growth_moment *to, const char *version);

/* ---- moments_table: one process at several moments, as JSON ---- */

/* One JSON object. Errors as of compare_text_snapshots(). */
int moments_table_write(
    FILE *out, struct session *const *sessions, size_t count, uint32_t pid, const char *version);

/* ---- json_size: estimates the size of JSON before it is written ---- */

/*
 * About the bytes that report_json_write() would write with frames in full. In a
 * segment stacks share their frames, so a few MiB of it can become GiB of text.
 * A result below a quarter of `enough` is a rough upper bound, found without
 * names. -ENOMEM.
 */
int json_size(const struct session *s, struct names *names, const struct view_options *options,
    uint64_t enough, uint64_t *ret);

/* ---- ls_json: the list of seep ls as JSON ---- */

/* The beginning of the object, up to the list of processes. */
void ls_json_begin(void);

/* One process, on stdout. */
void ls_json_process(const struct ls_row *r);

struct ls_json_end {
	uint64_t unread_files, unread_children;
	bool pruned; /* --prune: the two below are given */
	size_t removed, freed;
};
void ls_json_end(const struct ls_json_end *e);

#endif
