/* units.h - sizes and times as users write them: 1.5MiB, 10m. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_UNITS_H
#define SEEP_UNITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * "4096", "512k", "1.5MiB", "10MB" (1e7), in any case of letters. False: the
 * first len bytes are none, or it is beyond 2^63.
 */
bool units_size(const char *text, size_t len, uint64_t *ret);

/* "20ms", "1.5s", "10m", "10min", "2h", "3d", "1w", "0"; in nanoseconds. */
bool units_time(const char *text, size_t len, uint64_t *ret_ns);

/* The nanoseconds of a unit alone: "ms", "min"; 0: there is no such unit. */
double units_of_time(const char *name, size_t len);

#endif
