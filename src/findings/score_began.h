/* score_began.h - when growth began, and which mark or snapshot was near. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_SCORE_BEGAN_H
#define SEEP_SCORE_BEGAN_H

#include <stdio.h>

#include "session/load/session.h"
#include "analysis/score/score.h"

enum { SCORE_BEGAN_LABEL = SEG_SNAPSHOT_LABEL_BYTES };

struct score_began {
	uint64_t time_ns; /* since 1970; 0: not known */
	bool is_long_ago; /* more than 20 h before the last that is known */
	double at_s;      /* since the start of the process */
	/* "mark" or "snapshot", and its label or number; NULL: none was near */
	const char *near_kind;
	char near_label[SCORE_BEGAN_LABEL]; /* untrusted */
	double after_s;                     /* it began so long after that; negative: before */
};

/*
 * `process` is its number in s. False: it began with the process, the site
 * neither leaks nor grows, or it is one of several processes. Near is within a
 * sixteenth of the life of the process.
 */
bool score_began(
    const struct session *s, uint32_t process, const struct score *x, struct score_began *ret);

/* "growth began about 14:20, 3 min after mark `deploy-7`", and a newline. */
void score_began_print(FILE *out, const struct score *x, const struct score_began *b);

#endif
