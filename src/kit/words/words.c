/* words.c - counts, sizes and durations as people read them. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/words/words.h"

#include <math.h>
#include <strings.h>

#include "kit/words/text.h"

const char *words_count(char buffer[WORDS_MAX], uint64_t n)
{
	char *p = buffer + WORDS_MAX;
	int digits = 0;

	*--p = '\0';
	do {
		if (digits > 0 && digits % 3 == 0)
			*--p = ',';
		*--p = (char)('0' + n % 10);
		n /= 10;
		digits++;
	} while (n > 0);
	return memmove(buffer, p, (size_t)(buffer + WORDS_MAX - p));
}

const char *words_ending(uint64_t n, const char *noun)
{
	size_t len = strlen(noun);

	if (n == 1)
		return "";
	return len > 0 && noun[len - 1] == 's' ? "es" : "s";
}

const char *words_counted(char buffer[WORDS_COUNTED_MAX], uint64_t n, const char *noun)
{
	char digits[WORDS_MAX];

	(void)snprintf(buffer, WORDS_COUNTED_MAX, "%s %s%s", words_count(digits, n), noun,
	    words_ending(n, noun));
	return buffer;
}

const char *words_was(uint64_t n)
{
	return n == 1 ? "was" : "were";
}

const char *words_is(uint64_t n)
{
	return n == 1 ? "is" : "are";
}

const char *words_has(uint64_t n)
{
	return n == 1 ? "has" : "have";
}

const char *words_bytes(char buffer[WORDS_MAX], uint64_t n)
{
	static const char *const units[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
	double value = (double)n / 1024;
	size_t i = 0;

	if (n < 1024) {
		(void)snprintf(buffer, WORDS_MAX, "%" PRIu64 " byte%s", n, words_ending(n, "byte"));
		return buffer;
	}
	while (value >= 1023.95 && i + 1 < sizeof(units) / sizeof(units[0])) {
		value /= 1024;
		i++;
	}
	(void)snprintf(buffer, WORDS_MAX, "%.1f %s", value, units[i]);
	return buffer;
}

const char *words_time(char buffer[WORDS_MAX], uint64_t ns)
{
	uint64_t s = ns / 1000000000;

	if (s == 0)
		(void)snprintf(buffer, WORDS_MAX, "%" PRIu64 " ms", ns / 1000000);
	else if (s < 60)
		(void)snprintf(
		    buffer, WORDS_MAX, "%" PRIu64 ".%u s", s, (unsigned)(ns / 100000000 % 10));
	else if (s < 3600)
		(void)snprintf(buffer, WORDS_MAX, "%" PRIu64 " min %" PRIu64 " s", s / 60, s % 60);
	else if (s < 86400)
		(void)snprintf(
		    buffer, WORDS_MAX, "%" PRIu64 " h %" PRIu64 " min", s / 3600, s / 60 % 60);
	else
		(void)snprintf(
		    buffer, WORDS_MAX, "%" PRIu64 " d %" PRIu64 " h", s / 86400, s / 3600 % 24);
	return buffer;
}

/* ---- units: sizes and times as users write them: 1.5MiB, 10m ---- */

enum { TEXT_MAX = 64 };

struct unit {
	const char *name;
	double factor;
};

/* K is 1024 and KB is 1000, as GNU's tools have it; in any case: 10m, 10mb. */
static const struct unit sizes[] = {
    {"", 1},
    {"B", 1},
    {"K", 0x1p10},
    {"KiB", 0x1p10},
    {"KB", 1e3},
    {"M", 0x1p20},
    {"MiB", 0x1p20},
    {"MB", 1e6},
    {"G", 0x1p30},
    {"GiB", 0x1p30},
    {"GB", 1e9},
    {"T", 0x1p40},
    {"TiB", 0x1p40},
    {"TB", 1e12},
    {NULL, 0},
};

static const struct unit times[] = {
    {"ns", 1},
    {"us", 1e3},
    {"ms", 1e6},
    {"s", 1e9},
    {"sec", 1e9},
    {"m", 60e9},
    {"min", 60e9},
    {"h", 3600e9},
    {"hour", 3600e9},
    {"hours", 3600e9},
    {"d", 86400e9},
    {"day", 86400e9},
    {"days", 86400e9},
    {"w", 604800e9},
    {NULL, 0},
};

typedef int compare(const char *, const char *);

/* A decimal number without sign or exponent, then one of the units. */
static bool with_unit(
    const char *text, size_t text_len, const struct unit *units, compare *same, uint64_t *ret)
{
	char copy[TEXT_MAX];
	double value;
	char *end;
	size_t len;

	if (text_len >= sizeof(copy))
		return false;
	memcpy(copy, text, text_len);
	copy[text_len] = '\0';
	len = strspn(copy, "0123456789.");
	value = strtod(copy, &end); /* LC_NUMERIC is never set */
	if (len == 0 || copy[0] == '.' || end != copy + len)
		return false;
	for (; units->name; units++) {
		if (same(units->name, end) != 0)
			continue;
		value *= units->factor;
		if (value >= 0x1p63)
			return false;
		/* rounded: 4.35 * 1e9 is a little less than 4350000000 */
		*ret = (uint64_t)round(value);
		return true;
	}
	return false;
}

bool units_size(const char *text, size_t len, uint64_t *ret)
{
	return with_unit(text, len, sizes, strcasecmp, ret);
}

bool units_time(const char *text, size_t len, uint64_t *ret_ns)
{
	if (len == 1 && text[0] == '0') {
		*ret_ns = 0;
		return true;
	}
	return with_unit(text, len, times, strcmp, ret_ns);
}

double units_of_time(const char *name, size_t len)
{
	for (const struct unit *u = times; u->name; u++)
		if (strlen(u->name) == len && memcmp(u->name, name, len) == 0)
			return u->factor;
	return 0;
}

/* ---- program_filename: makes a safe part of a file name from a program's name ---- */

static bool is_plain(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	    (c && strchr("._+-", c));
}

void program_filename(const char *path, char *to, size_t bytes)
{
	const char *from = path ? text_base(path) : "";
	char piece[TEXT_ESCAPED];
	size_t n = 0;

	while (*from) {
		size_t len = text_next(&from, piece);

		if (piece[0] == '\\' || (len == 1 && !is_plain(piece[0]))) {
			piece[0] = '_';
			len = 1;
		}
		if (len >= bytes - n)
			break;
		memcpy(to + n, piece, len);
		n += len;
	}
	to[n] = '\0';
	if (n == 0)
		(void)snprintf(to, bytes, "unknown");
	else if (to[0] == '.' || to[0] == '-')
		to[0] = '_';
}
