/* moment.h - moments that a user names: seconds, shares, ages, dates. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_MOMENT_H
#define SEEP_MOMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum moment_kind {
	MOMENT_PERCENT, /* 30%: so much of the whole, which has 100 */
	MOMENT_SINCE,   /* 12.5, 12.5s, 10m: after the start */
	MOMENT_AGO,     /* -2h, now: before the present */
	MOMENT_DATE,    /* 2026-11-15T12:00: of the calendar */
};

struct moment {
	enum moment_kind kind;
	double percent;
	uint64_t ns; /* SINCE, AGO; since 1970: DATE */
};

/* What is wrong, and where: the first character has the number 1. */
struct moment_fault {
	size_t column;
	const char *words;
};

/*
 * "FROM..TO". Either may be missing, and is then left as it was. A date is
 * YYYY-MM-DD, with THH:MM, :SS and .FFF behind it if wanted, and Z or +HH:MM;
 * without these it is local time. An age is a minus, a number and one of ms,
 * s, m, h, d, w; a number alone is in seconds. If the text means nothing, false
 * and *ret_fault.
 */
bool moment_range(
    const char *text, struct moment *from, struct moment *to, struct moment_fault *ret_fault);

/* One of them. False and *ret_fault if the text means nothing. */
bool moment_parse(const char *text, struct moment *ret, struct moment_fault *ret_fault);

/* What a moment is a moment of. */
struct moment_line {
	uint64_t start_ns; /* since 1970; 0: not known */
	uint64_t until_us; /* its length */
	uint64_t now_ns;   /* since 1970 */
};

/*
 * Microseconds after the start; negative: before it. Not limited to the length.
 * False: the line has no known start, and the moment needs one.
 */
bool moment_resolve(const struct moment *m, const struct moment_line *line, int64_t *ret_us);

#endif
