/* fmt.h - numbers and strings into a given buffer; signal-safe, no libc. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_FMT_H
#define SEEP_FMT_H

#include <stddef.h>
#include <stdint.h>

/*
 * A text being built. `ok` turns false when it did not fit; the text is NUL
 * terminated at every moment and never longer than the buffer.
 */
struct fmt {
	char *at;
	char *end;
	int ok;
};

void fmt_init(struct fmt *f, char *buffer, size_t bytes);
void fmt_string(struct fmt *f, const char *s);
void fmt_decimal(struct fmt *f, uint64_t v);
void fmt_hex(struct fmt *f, uint64_t v, int digits);

/* Reads digits; stops at the first other byte. Returns the byte after them. */
const char *fmt_scan_decimal(const char *s, const char *end, uint64_t *ret_v);

/* The bytes of s up to `max`, NUL excluded. */
size_t fmt_length(const char *s, size_t max);
int fmt_same(const char *a, const char *b);

/* Copies at most bytes - 1, always terminates. Returns 0 if it was cut. */
int fmt_copy(char *to, size_t bytes, const char *from);

#endif
