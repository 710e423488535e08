/* load.h - reads a recording: processes, points, marks and notes. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_LOAD_H
#define SEEP_LOAD_H

#include "session/load/session.h"

/*
 * Adds the contents of the file to the session. A file that is cut off or
 * damaged is used as far as possible: then is_truncated is set, and notes say
 * what is missing. is_given: the user gave the path; otherwise its last part
 * was found in a directory. Errors as of session_load().
 */
int load_into_session(
    struct session *s, const char *path, const char *name, bool is_given, struct fault *where);

/* The number of a line "key=NUMBER" in an entry of text; 0: there is none. */
uint64_t load_text_number(const char *text, size_t len, const char *key);

#endif
