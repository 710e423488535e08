/* fmt.c - numbers and strings into a given buffer; signal-safe, no libc. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/fmt.h"

void fmt_init(struct fmt *f, char *buffer, size_t bytes)
{
	f->at = buffer;
	f->end = buffer + bytes;
	f->ok = bytes > 0;
	if (bytes)
		*buffer = 0;
}

static void put(struct fmt *f, char c)
{
	if (f->at + 1 >= f->end) {
		f->ok = 0;
		return;
	}
	*f->at++ = c;
	*f->at = 0;
}

void fmt_string(struct fmt *f, const char *s)
{
	while (*s)
		put(f, *s++);
}

void fmt_decimal(struct fmt *f, uint64_t v)
{
	char digits[20];
	int n = 0;

	do
		digits[n++] = (char)('0' + v % 10);
	while (v /= 10);
	while (n)
		put(f, digits[--n]);
}

void fmt_hex(struct fmt *f, uint64_t v, int digits)
{
	while (digits--)
		put(f, "0123456789abcdef"[(v >> (4 * digits)) & 15]);
}

const char *fmt_scan_decimal(const char *s, const char *end, uint64_t *ret_v)
{
	uint64_t v = 0;

	while (s < end && *s >= '0' && *s <= '9') {
		if (v > (UINT64_MAX - 9) / 10)
			v = UINT64_MAX / 100;
		v = v * 10 + (uint64_t)(*s++ - '0');
	}
	*ret_v = v;
	return s;
}

size_t fmt_length(const char *s, size_t max)
{
	size_t n = 0;

	while (n < max && s[n])
		n++;
	return n;
}

int fmt_same(const char *a, const char *b)
{
	while (*a && *a == *b)
		a++, b++;
	return *a == *b;
}

int fmt_copy(char *to, size_t bytes, const char *from)
{
	struct fmt f;

	fmt_init(&f, to, bytes);
	fmt_string(&f, from);
	return f.ok;
}
