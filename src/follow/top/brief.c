/* brief.c - figures in a few columns, for tables that are read at a glance. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "follow/top/brief.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Three digits and a unit. */
static void scale(char buffer[BRIEF_MAX], uint64_t n, double unit, const char *letters)
{
	double value = (double)n;
	size_t i = 0;

	if (n < (uint64_t)unit && n < 1000) {
		(void)snprintf(buffer, BRIEF_MAX, "%" PRIu64, n);
		return;
	}
	value /= unit;
	while (value >= 999.5 && letters[i + 1]) {
		value /= unit;
		i++;
	}
	(void)snprintf(buffer, BRIEF_MAX, "%.*f%c",
	    value < 9.995       ? 2
	        : value < 99.95 ? 1
	                        : 0,
	    value, letters[i]);
}

const char *brief_bytes(char buffer[BRIEF_MAX], uint64_t n)
{
	scale(buffer, n, 1024, "KMGTPE");
	return buffer;
}

const char *brief_change(char buffer[BRIEF_MAX], int64_t n)
{
	uint64_t size = n < 0 ? -(uint64_t)n : (uint64_t)n;
	char digits[BRIEF_MAX];

	scale(digits, size, 1024, "KMGTPE");
	(void)snprintf(buffer, BRIEF_MAX, "%s%.8s", n < 0 ? "-" : n > 0 ? "+" : "", digits);
	return buffer;
}

const char *brief_count(char buffer[BRIEF_MAX], uint64_t n)
{
	scale(buffer, n, 1000, "kMGTPE");
	return buffer;
}

const char *brief_rate(char buffer[BRIEF_MAX], double n)
{
	if (n < 0.05)
		return strcpy(buffer, "0");
	if (n < 9.95) {
		(void)snprintf(buffer, BRIEF_MAX, "%.1f", n);
		return buffer;
	}
	return brief_count(buffer, n < 1.8e19 ? (uint64_t)(n + 0.5) : UINT64_MAX);
}

const char *brief_age(char buffer[BRIEF_MAX], uint64_t ns)
{
	uint64_t s = ns / 1000000000;

	if (s < 60)
		(void)snprintf(buffer, BRIEF_MAX, "%" PRIu64 "s", s);
	else if (s < 3600)
		(void)snprintf(buffer, BRIEF_MAX, "%" PRIu64 "m%02" PRIu64, s / 60, s % 60);
	else if (s < 86400)
		(void)snprintf(buffer, BRIEF_MAX, "%" PRIu64 "h%02" PRIu64, s / 3600, s / 60 % 60);
	else
		(void)snprintf(
		    buffer, BRIEF_MAX, "%" PRIu64 "d", s / 86400 < 9999 ? s / 86400 : 9999);
	return buffer;
}

const char *brief_share(char buffer[BRIEF_MAX], uint64_t part, uint64_t whole)
{
	double percent;

	if (whole == 0)
		return strcpy(buffer, "-");
	percent = (double)part / (double)whole * 100;
	if (percent >= 999.5)
		return strcpy(buffer, ">999%");
	(void)snprintf(buffer, BRIEF_MAX, "%.*f%%", percent < 99.95 ? 1 : 0, percent);
	return buffer;
}
