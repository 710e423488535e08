/* whole.h - all that the command makes of a session, into nothing. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_FUZZ_WHOLE_H
#define SEEP_FUZZ_WHOLE_H

#include <stdint.h>
#include <stdio.h>

#include "session/load/session.h"

/* Where all output goes; opened once, ends the program if it cannot be. */
FILE *whole_nowhere(void);

enum whole_part {
	WHOLE_REPORTS = 1, /* text: every metric, as tree and table; growth */
	WHOLE_JSON = 2,
	WHOLE_DIFF = 4, /* with itself, and as moments in a row */
	WHOLE_CHECK = 8,
	WHOLE_EXPORTS = 16,
	WHOLE_ALL = 31,
};

#define WHOLE_EVERY SIZE_MAX

/*
 * Runs these parts. Of metrics, shapes and formats it is a third, which one
 * `turn` says, or all: WHOLE_EVERY. `named`: with the names that a recording brings along; no
 * file that the input names is opened for more of them but to see its
 * build-id, for no process is started: see __wrap_fork().
 */
void whole_session(struct session *s, unsigned parts, size_t turn, bool named);

/* A file's worth of bytes, as a path for session_load(); see whole_close(). */
struct whole_file {
	int fd;
	char path[40];
};

/* Ends the program if it cannot be made: the test's own trouble. */
void whole_open(struct whole_file *f, const uint8_t *bytes, size_t len);
void whole_close(struct whole_file *f);

#endif
