/* chapter_name.c - the names of chapters: the recordings of a history. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/file/chapter_name.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* 0000-01-01 and 9999-12-31T23:59:59: a year has four digits. */
#define FIRST_S (-INT64_C(62167219200))
#define LAST_S  INT64_C(253402300799)

enum { NUMBER_MIN = 4, NUMBER_MAX = 18 };

void chapter_name_write(const struct chapter_name *name, char text[CHAPTER_NAME_BYTES])
{
	time_t at = name->start_s < FIRST_S ? FIRST_S
	    : name->start_s > LAST_S        ? LAST_S
	                                    : name->start_s;
	struct tm t = {0};

	(void)gmtime_r(&at, &t);
	/* the remainders say to the compiler how many digits there are */
	(void)snprintf(text, CHAPTER_NAME_BYTES, "%04d%02d%02dT%02d%02d%02dZ-%04" PRIu64 "%s",
	    (t.tm_year + 1900) % 10000, (t.tm_mon + 1) % 100, t.tm_mday % 100, t.tm_hour % 100,
	    t.tm_min % 100, t.tm_sec % 100, name->number % UINT64_C(1000000000000000000),
	    name->is_part ? CHAPTER_NAME_PART : CHAPTER_NAME_DONE);
}

static bool read_digits(const char **at, size_t count, uint64_t *ret)
{
	*ret = 0;
	for (; count > 0; count--, (*at)++) {
		if (**at < '0' || **at > '9')
			return false;
		*ret = *ret * 10 + (uint64_t)(**at - '0');
	}
	return true;
}

static bool read_time(const char **at, int64_t *ret_s)
{
	static const size_t digits[] = {4, 2, 2, 2, 2, 2};
	static const char after[] = {0, 0, 'T', 0, 0, 'Z'};
	uint64_t part[6];
	struct tm t = {0};

	for (int i = 0; i < 6; i++) {
		if (!read_digits(at, digits[i], &part[i]))
			return false;
		if (after[i] && *(*at)++ != after[i])
			return false;
	}
	t.tm_year = (int)part[0] - 1900;
	t.tm_mon = (int)part[1] - 1;
	t.tm_mday = (int)part[2];
	t.tm_hour = (int)part[3];
	t.tm_min = (int)part[4];
	t.tm_sec = (int)part[5];
	*ret_s = timegm(&t);
	return true;
}

bool chapter_name_read(const char *text, struct chapter_name *ret)
{
	char again[CHAPTER_NAME_BYTES];
	struct chapter_name name = {0};
	const char *at = text;
	size_t digits;

	if (strnlen(text, CHAPTER_NAME_BYTES) == CHAPTER_NAME_BYTES ||
	    !read_time(&at, &name.start_s) || *at++ != '-')
		return false;
	digits = strspn(at, "0123456789");
	if (digits < NUMBER_MIN || digits > NUMBER_MAX || !read_digits(&at, digits, &name.number))
		return false;
	name.is_part = strcmp(at, CHAPTER_NAME_PART) == 0;
	/* 20261332T... is no time: written again it would differ */
	chapter_name_write(&name, again);
	if (strcmp(again, text) != 0)
		return false;
	*ret = name;
	return true;
}
