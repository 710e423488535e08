/* report_report_json.h - a session as JSON, whole and stable: keys are only ever added. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_REPORT_JSON_H
#define SEEP_REPORT_JSON_H

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

#endif
