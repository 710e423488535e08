/* brief.h - figures in a few columns, for tables that are read at a glance. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_BRIEF_H
#define SEEP_BRIEF_H

#include <stdint.h>

enum { BRIEF_MAX = 16 };

/*
 * "0", "999", "1.21K", "12.1M", "121G": three digits and a unit of 1,024 each,
 * so 5 columns at most.
 */
const char *brief_bytes(char buffer[BRIEF_MAX], uint64_t n);

/* The same with a sign: "+12.1M", "-3", "0". */
const char *brief_change(char buffer[BRIEF_MAX], int64_t n);

/* The same in units of 1,000, for what is counted: "12.1k". */
const char *brief_count(char buffer[BRIEF_MAX], uint64_t n);

/* A rate of 10 or more as brief_count(), below "0.3"; 0 is "0". */
const char *brief_rate(char buffer[BRIEF_MAX], double n);

/* "12s", "3m04", "5h12", "12d": 5 columns at most. */
const char *brief_age(char buffer[BRIEF_MAX], uint64_t ns);

/* "0.0%", "12.3%", "100%", ">999%": part of whole; "-" if that is 0. */
const char *brief_share(char buffer[BRIEF_MAX], uint64_t part, uint64_t whole);

#endif
