/* json.h - a session as JSON, whole and stable: keys are only ever added. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_REPORT_JSON_H
#define SEEP_REPORT_JSON_H

#include <stdio.h>

#include "names/names.h"
#include "reader/session.h"

enum { JSON_SCHEMA = 1 };

/*
 * One object and a newline. Keys are always present, null where nothing is
 * known; integers are exact to 64 bits; text that is not UTF-8 has U+FFFD in
 * place of each bad byte. Returns 0, or -EIO as ferror(out) tells.
 */
int json_write(FILE *out, const struct session *s, struct names *names,
    const char *version);

/* A string in quotes, escaped; NULL gives null. */
void json_string(FILE *out, const char *text);

#endif
