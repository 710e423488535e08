/* moment.c - moments that a user names: seconds, shares, ages, dates. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/words/words.h"

#include <math.h>

enum { NUMBER_MAX = 32, SECONDS_OF_DAY = 86400 };

#define S  UINT64_C(1000000000)
#define US UINT64_C(1000)

/* 100 years, so that no sum of two times wraps. */
#define AGE_MAX_S (36600.0 * SECONDS_OF_DAY)

/* A part of the text: [at, end) is still to be read. */
struct reader {
	const char *text, *first, *at, *end; /* first: of this moment */
	struct moment_fault fault;           /* words NULL: none so far */
};

static bool fail(struct reader *r, const char *at, const char *words)
{
	if (!r->fault.words)
		r->fault =
		    (struct moment_fault){.column = (size_t)(at - r->text) + 1, .words = words};
	return false;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_at(const struct reader *r, char c)
{
	return r->at < r->end && *r->at == c;
}

static bool take(struct reader *r, char c)
{
	if (!is_at(r, c))
		return false;
	r->at++;
	return true;
}

/* A decimal number without sign and exponent. */
static bool take_number(struct reader *r, double *ret)
{
	const char *start = r->at;
	char copy[NUMBER_MAX];
	size_t len = 0, dots = 0;

	while (r->at < r->end && (is_digit(*r->at) || *r->at == '.')) {
		dots += *r->at == '.';
		if (len + 1 < sizeof(copy))
			copy[len++] = *r->at;
		r->at++;
	}
	copy[len] = '\0';
	if (len == 0 || (len == 1 && dots))
		return fail(r, start, "a number, a date or \"now\" is missing");
	if (dots > 1)
		return fail(r, start, "a number has one point at most");
	if ((size_t)(r->at - start) != len)
		return fail(r, start, "too many digits");
	*ret = strtod(copy, NULL); /* LC_NUMERIC is never set */
	return true;
}

static bool take_digits(struct reader *r, size_t count, int *ret)
{
	*ret = 0;
	for (size_t i = 0; i < count; i++) {
		if (r->at == r->end || !is_digit(*r->at))
			return fail(r, r->at, "a date is written as 2026-11-15T12:00");
		*ret = *ret * 10 + (*r->at++ - '0');
	}
	return true;
}

/* A number in its range, or the place where it begins. */
static bool take_part(struct reader *r, size_t digits, int least, int most, int *ret, char after)
{
	const char *start = r->at;

	if (!take_digits(r, digits, ret))
		return false;
	if (*ret < least || *ret > most)
		return fail(r, start, "there is no such date or time");
	return !after || take(r, after) || fail(r, r->at, "a date is written as 2026-11-15T12:00");
}

static bool set_seconds(struct reader *r, double seconds, struct moment *ret)
{
	if (seconds > AGE_MAX_S)
		return fail(r, r->first, "more than a hundred years");
	/* rounded: 4.35 * 1e9 is a little less than 4350000000 */
	ret->ns = (uint64_t)round(seconds * 1e9);
	return true;
}

/* A unit from milliseconds on; an age needs one. */
static bool take_unit(struct reader *r, double number, bool is_age, struct moment *ret)
{
	const char *start = r->at;
	double ns;
	size_t len;

	while (r->at < r->end && *r->at >= 'a' && *r->at <= 'z')
		r->at++;
	len = (size_t)(r->at - start);
	if (len == 0 && !is_age)
		return set_seconds(r, number, ret);
	ns = units_of_time(start, len);
	if (ns < 1e6)
		return fail(r, start, "a unit is one of ms, s, m, h, d, w");
	return set_seconds(r, number * (ns / 1e9), ret);
}

/* "Z", "+HH:MM", "-HH:MM"; nothing: local time. */
static bool take_zone(struct reader *r, bool *ret_local, int *ret_seconds)
{
	bool is_east = is_at(r, '+');
	int hours, minutes;

	*ret_local = false;
	*ret_seconds = 0;
	if (take(r, 'Z'))
		return true;
	if (!take(r, '+') && !take(r, '-')) {
		*ret_local = true;
		return true;
	}
	if (!take_part(r, 2, 0, 14, &hours, 0))
		return false;
	(void)take(r, ':');
	if (!take_part(r, 2, 0, 59, &minutes, 0))
		return false;
	*ret_seconds = (hours * 60 + minutes) * 60 * (is_east ? 1 : -1);
	return true;
}

/* ".25": what is behind the seconds. */
static bool take_fraction(struct reader *r, uint64_t *ret_ns)
{
	uint64_t step = S / 10;
	const char *start = r->at;

	*ret_ns = 0;
	if (!take(r, '.'))
		return true;
	if (r->at == r->end || !is_digit(*r->at))
		return fail(r, start, "digits are missing after the point");
	for (; r->at < r->end && is_digit(*r->at); r->at++, step /= 10)
		*ret_ns += (uint64_t)(*r->at - '0') * step;
	return true;
}

static bool take_clock(struct reader *r, struct tm *t, uint64_t *ret_fraction_ns)
{
	*ret_fraction_ns = 0;
	if (!take(r, 'T') && !take(r, ' '))
		return true;
	if (!take_part(r, 2, 0, 23, &t->tm_hour, ':') || !take_part(r, 2, 0, 59, &t->tm_min, 0))
		return false;
	if (!take(r, ':'))
		return true;
	return take_part(r, 2, 0, 59, &t->tm_sec, 0) && take_fraction(r, ret_fraction_ns);
}

static bool take_date(struct reader *r, struct moment *ret)
{
	const char *start = r->at;
	struct tm t = {.tm_isdst = -1};
	uint64_t fraction_ns = 0;
	int year, month, day, zone = 0;
	bool is_local = true;
	time_t at;

	if (!take_part(r, 4, 1970, 2200, &year, '-') || !take_part(r, 2, 1, 12, &month, '-') ||
	    !take_part(r, 2, 1, 31, &day, 0) || !take_clock(r, &t, &fraction_ns) ||
	    !take_zone(r, &is_local, &zone))
		return false;
	t.tm_year = year - 1900;
	t.tm_mon = month - 1;
	t.tm_mday = day;
	at = is_local ? mktime(&t) : timegm(&t) - zone;
	if (t.tm_mday != day || at < 0) /* the 31st of a shorter month */
		return fail(r, start, "there is no such date or time");
	*ret = (struct moment){.kind = MOMENT_DATE, .ns = (uint64_t)at * S + fraction_ns};
	return true;
}

static bool is_date(const struct reader *r)
{
	return r->end - r->at > 4 && is_digit(r->at[0]) && is_digit(r->at[1]) &&
	    is_digit(r->at[2]) && is_digit(r->at[3]) && r->at[4] == '-';
}

static bool take_since(struct reader *r, struct moment *ret)
{
	const char *start = r->at;
	double number;

	if (!take_number(r, &number))
		return false;
	if (!take(r, '%')) {
		ret->kind = MOMENT_SINCE;
		return take_unit(r, number, false, ret);
	}
	if (number > 100)
		return fail(r, start, "more than 100 %");
	*ret = (struct moment){.kind = MOMENT_PERCENT, .percent = number};
	return true;
}

static bool take_ago(struct reader *r, struct moment *ret)
{
	double number;

	ret->kind = MOMENT_AGO;
	return take_number(r, &number) && take_unit(r, number, true, ret);
}

static bool take_moment(struct reader *r, struct moment *ret)
{
	struct moment m = {.kind = MOMENT_AGO};

	r->first = r->at;
	if (r->at == r->end)
		return true; /* as it was */
	if (r->end - r->at == 3 && memcmp(r->at, "now", 3) == 0)
		r->at = r->end;
	else if (take(r, '-') ? !take_ago(r, &m)
	        : is_date(r)  ? !take_date(r, &m)
	                      : !take_since(r, &m))
		return false;
	if (r->at != r->end)
		return fail(r, r->at,
		    "this is neither a time (60, 10m), a share (30%), an age (-2h) "
		    "nor a date (2026-11-15T12:00)");
	*ret = m;
	return true;
}

bool moment_range(
    const char *text, struct moment *from, struct moment *to, struct moment_fault *ret_fault)
{
	const char *end = text + strlen(text), *dots = strstr(text, "..");
	struct reader r = {.text = text, .at = text, .end = dots};

	if (!dots) {
		*ret_fault = (struct moment_fault){.column = (size_t)(end - text) + 1,
		    .words = "\"..\" is missing, as in FROM..TO"};
		return false;
	}
	/* "1...5" is 1. to 5: the dots are the last two of a row */
	while (dots[2] == '.')
		dots++;
	r.end = dots;
	if (take_moment(&r, from)) {
		r.at = dots + 2;
		r.end = end;
		if (take_moment(&r, to) && from->kind == to->kind &&
		    (from->kind == MOMENT_PERCENT      ? from->percent > to->percent
		            : from->kind == MOMENT_AGO ? from->ns < to->ns
		                                       : from->ns > to->ns))
			(void)fail(&r, dots + 2, "this is before the first");
	}
	*ret_fault = r.fault;
	return !r.fault.words;
}

bool moment_parse(const char *text, struct moment *ret, struct moment_fault *ret_fault)
{
	struct reader r = {.text = text, .at = text, .end = text + strlen(text)};

	if (*text == '\0')
		(void)fail(&r, text, "a number, a date or \"now\" is missing");
	else
		(void)take_moment(&r, ret);
	*ret_fault = r.fault;
	return !r.fault.words;
}

/* A time line may be damaged, and end at any number. */
static int64_t part_of(uint64_t whole, double percent)
{
	int64_t all = whole < INT64_MAX ? (int64_t)whole : INT64_MAX;
	double part = percent / 100 * (double)all;

	return part < (double)all ? (int64_t)part : all;
}

bool moment_resolve(const struct moment *m, const struct moment_line *line, int64_t *ret_us)
{
	uint64_t at_ns = m->ns;

	switch (m->kind) {
	case MOMENT_PERCENT:
		*ret_us = part_of(line->until_us, m->percent);
		return true;
	case MOMENT_SINCE:
		*ret_us = (int64_t)(m->ns / US);
		return true;
	case MOMENT_AGO:
		at_ns = line->now_ns > m->ns ? line->now_ns - m->ns : 0;
		break;
	case MOMENT_DATE:
		break;
	}
	if (line->start_ns == 0)
		return false;
	*ret_us = (int64_t)(at_ns / US) - (int64_t)(line->start_ns / US);
	return true;
}
