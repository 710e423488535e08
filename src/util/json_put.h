/* json_put.h - pieces of JSON, written as they come. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_UTIL_JSON_PUT_H
#define SEEP_UTIL_JSON_PUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/*
 * A string in quotes; NULL gives null. Characters of text_is_odd() are escaped
 * in the way of JSON, so a decoder gets the text unchanged. Each byte that is
 * not UTF-8 becomes U+FFFD.
 */
void json_string(FILE *out, const char *text);

/*
 * The same for a text that a page will show: the value itself is escaped as by
 * text_next().
 */
void json_shown(FILE *out, const char *text);

/* All others begin with a comma: ,"name": and the value. */
void json_key(FILE *out, const char *name);
void json_number(FILE *out, const char *name, uint64_t value);
void json_text(FILE *out, const char *name, const char *value);
void json_boolean(FILE *out, const char *name, bool value);
void json_list(
    FILE *out, const char *name, const uint64_t *values, size_t count);

/* Bytes as hexadecimal digits; null where all are zero. */
void json_hex(FILE *out, const char *name, const uint8_t *bytes, size_t len);

/* "2026-01-02T03:04:05.678Z"; null for 0. */
void json_time(FILE *out, const char *name, uint64_t realtime_ns);

#endif
