/* units.c - sizes and times as users write them: 1.5MiB, 10m. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/words/words.h"

#include <math.h>
#include <strings.h>

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
