/* words.h - counts, sizes, durations and moments as people write them. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_WORDS_H
#define SEEP_WORDS_H

#include "base/std.h"

enum { WORDS_MAX = 32, WORDS_COUNTED_MAX = 2 * WORDS_MAX };

/* "1,234,567" */
const char *words_count(char buffer[WORDS_MAX], uint64_t n);

/* The ending that makes a noun plural: "s" or "es", or "" if n is 1. */
const char *words_ending(uint64_t n, const char *noun);

/* "1 block", "1,234 blocks", "2 processes"; give the noun in the singular. */
const char *words_counted(char buffer[WORDS_COUNTED_MAX], uint64_t n, const char *noun);

/*
 * "was" or "were", "is" or "are", "has" or "have": the verb that fits n things.
 */
const char *words_was(uint64_t n);
const char *words_is(uint64_t n);
const char *words_has(uint64_t n);

/* "1.2 MiB", "512 bytes": for sentences */
const char *words_bytes(char buffer[WORDS_MAX], uint64_t n);

/* "12 ms", "3.4 s", "5 min 3 s", "2 h 5 min" */
const char *words_time(char buffer[WORDS_MAX], uint64_t ns);

/*
 * The same with a buffer of their own, which lives until the end of the block: for arguments of
 * printf() and the like. What is kept needs a buffer with a name.
 */
#define WORDS_COUNT(n)         words_count((char[WORDS_MAX]){0}, n)
#define WORDS_COUNTED(n, noun) words_counted((char[WORDS_COUNTED_MAX]){0}, n, noun)
#define WORDS_BYTES(n)         words_bytes((char[WORDS_MAX]){0}, n)
#define WORDS_TIME(ns)         words_time((char[WORDS_MAX]){0}, ns)

/* ---- units: sizes and times as users write them: 1.5MiB, 10m ---- */

/*
 * "4096", "512k", "1.5MiB", "10MB" (1e7), in any case of letters. False: the
 * first len bytes are none, or it is beyond 2^63.
 */
bool units_size(const char *text, size_t len, uint64_t *ret);

/* "20ms", "1.5s", "10m", "10min", "2h", "3d", "1w", "0"; in nanoseconds. */
bool units_time(const char *text, size_t len, uint64_t *ret_ns);

/* The nanoseconds of a unit alone: "ms", "min"; 0: there is no such unit. */
double units_of_time(const char *name, size_t len);

/* ---- moment: moments that a user names: seconds, shares, ages, dates ---- */

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

/* ---- program_filename: makes a safe part of a file name from a program's name ---- */

/*
 * Takes the last part of an untrusted path, and makes it a name that stays in
 * its directory and is no option. Letters, digits, "._+-" and visible
 * characters above ASCII are kept; all others become '_', and so does a first
 * '.' or '-'. "unknown" if nothing is left. Cut to fit into `bytes`. All names
 * of programs in file names come from here.
 */
void program_filename(const char *path, char *to, size_t bytes);

#endif
