/* push_push_answer.c - what a server says to a push. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "follow/push/push_answer.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "kit/words/text.h"

#define SECOND_NS UINT64_C(1000000000)

enum {
	RETRY_MAX_S = 3600, /* a longer Retry-After is taken for this */
	SHOWN = 300,        /* bytes of the server's words, escaped */
};

/* ---- Retry-After ---- */

/* Digits, of which the first few count. */
static bool read_seconds(const char *text, uint64_t *ret)
{
	uint64_t n = 0;
	size_t i = 0;

	for (; text[i] >= '0' && text[i] <= '9'; i++)
		n = n > RETRY_MAX_S ? n : n * 10 + (uint64_t)(text[i] - '0');
	if (i == 0 || text[i + strspn(text + i, " \t")] != '\0')
		return false;
	*ret = n;
	return true;
}

static bool read_number(const char *text, int digits, int low, int high, int *ret)
{
	int n = 0;

	for (int i = 0; i < digits; i++) {
		if (text[i] < '0' || text[i] > '9')
			return false;
		n = n * 10 + (text[i] - '0');
	}
	*ret = n;
	return n >= low && n <= high;
}

/* "Sun, 06 Nov 1994 08:49:37 GMT"; other forms are obsolete. */
static bool read_date(const char *text, time_t *ret)
{
	static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
	static const char shape[] = "???, 00 ??? 0000 00:00:00 GMT";
	struct tm tm = {0};

	if (strlen(text) != sizeof(shape) - 1)
		return false;
	for (size_t i = 0; shape[i]; i++)
		if (shape[i] != '?' && shape[i] != '0' && text[i] != shape[i])
			return false;
	while (tm.tm_mon < 12 && strncmp(months + 3 * (size_t)tm.tm_mon, text + 8, 3) != 0)
		tm.tm_mon++;
	if (tm.tm_mon == 12 || !read_number(text + 5, 2, 1, 31, &tm.tm_mday) ||
	    !read_number(text + 12, 4, 1970, 9999, &tm.tm_year) ||
	    !read_number(text + 17, 2, 0, 23, &tm.tm_hour) ||
	    !read_number(text + 20, 2, 0, 59, &tm.tm_min) ||
	    !read_number(text + 23, 2, 0, 60, &tm.tm_sec))
		return false;
	tm.tm_year -= 1900;
	*ret = timegm(&tm);
	return true;
}

static uint64_t retry_after(const char *text, uint64_t now_s)
{
	uint64_t seconds = 0;
	time_t then;

	text += strspn(text, " \t");
	if (!read_seconds(text, &seconds) && read_date(text, &then))
		seconds = then > 0 && (uint64_t)then > now_s ? (uint64_t)then - now_s : 0;
	if (seconds > RETRY_MAX_S)
		seconds = RETRY_MAX_S;
	return seconds * SECOND_NS;
}

/* ---- words ---- */

/* A part of the body; never read beyond `end`. */
struct cursor {
	const char *at, *end;
};

static void skip_space(struct cursor *c)
{
	while (c->at < c->end && strchr(" \t\r\n", *c->at) && *c->at)
		c->at++;
}

static bool take(struct cursor *c, char wanted)
{
	skip_space(c);
	if (c->at >= c->end || *c->at != wanted)
		return false;
	c->at++;
	return true;
}

/*
 * A string of JSON into `to`, which may be NULL; escapes of control and other
 * characters than ASCII stay as they are, because text_escape() has the last
 * word on what is shown.
 */
static bool take_string(struct cursor *c, char *to, size_t room)
{
	size_t n = 0;

	if (!take(c, '"'))
		return false;
	while (c->at < c->end && *c->at != '"') {
		char x = *c->at++;

		if (x == '\\') {
			if (c->at >= c->end)
				return false;
			x = *c->at++;
			if (x == 'n' || x == 't' || x == 'r')
				x = ' ';
			else if (x == 'u')
				x = '?';
		}
		if (to && n + 1 < room && x != '\0')
			to[n++] = x;
	}
	if (to && room > 0)
		to[n] = '\0';
	return c->at < c->end && *c->at++ == '"';
}

/* Any value; brackets are counted, not matched. */
static bool skip_value(struct cursor *c)
{
	size_t depth = 0;

	do {
		skip_space(c);
		if (c->at >= c->end)
			return false;
		if (*c->at == '"') {
			if (!take_string(c, NULL, 0))
				return false;
		} else if (*c->at == '{' || *c->at == '[') {
			depth++;
			c->at++;
		} else if (*c->at == '}' || *c->at == ']') {
			if (depth == 0)
				return false;
			depth--;
			c->at++;
		} else if (depth == 0 && *c->at == ',') {
			return false;
		} else {
			c->at++;
			while (depth == 0 && c->at < c->end && !strchr(",}] \t\r\n", *c->at))
				c->at++;
		}
	} while (depth > 0);
	return true;
}

/* "message" of the error that Connect sends: {"code": ..., "message": ...} */
static bool find_message(const char *body, size_t len, char *to, size_t room)
{
	struct cursor c = {body, body + len};
	char name[16];

	if (!take(&c, '{'))
		return false;
	do {
		if (!take_string(&c, name, sizeof(name)) || !take(&c, ':'))
			return false;
		skip_space(&c);
		if (strcmp(name, "message") == 0)
			return take_string(&c, to, room) && to[0];
		if (!skip_value(&c))
			return false;
	} while (take(&c, ','));
	return false;
}

static void say_status(const struct answer_raw *raw, struct answer *a)
{
	char said[ANSWER_BODY + 1], clean[SHOWN + 1];
	size_t n = raw->body_len < ANSWER_BODY ? raw->body_len : ANSWER_BODY;

	if (!find_message(raw->body, n, said, sizeof(said))) {
		memcpy(said, raw->body, n);
		said[n] = '\0';
		for (size_t i = 0; i < n; i++)
			if (said[i] == '\n' || said[i] == '\t' || !said[i])
				said[i] = ' ';
		for (n = strlen(said); n > 0 && strchr(" \r", said[n - 1]); n--)
			said[n - 1] = '\0';
	}
	(void)text_escape(clean, sizeof(clean), said);
	(void)snprintf(a->words, sizeof(a->words), "it answers %d%s%s", raw->status,
	    clean[0] ? ": " : "", clean);
}

void push_answer_read(const struct answer_raw *raw, uint64_t now_s, struct answer *ret)
{
	static const char type[] = "application/proto";
	struct answer a = {.status = raw->status, .kind = ANSWER_REFUSED};
	size_t n = sizeof(type) - 1;
	char clean[SHOWN + 1];

	if (raw->status == 200) {
		/* some pages of a portal or proxy are 200, too */
		if (strncasecmp(raw->type, type, n) == 0 &&
		    (!raw->type[n] || strchr("; \t", raw->type[n]))) {
			a.kind = ANSWER_ACCEPTED;
		} else {
			(void)text_escape(clean, sizeof(clean), raw->type);
			(void)snprintf(a.words, sizeof(a.words),
			    "it answers 200, but with Content-Type \"%s\": "
			    "this is not Pyroscope",
			    clean);
		}
	} else if (raw->status >= 300 && raw->status < 400) {
		(void)text_escape(clean, sizeof(clean), raw->location);
		(void)snprintf(a.words, sizeof(a.words),
		    "it answers %d and redirects to \"%s\", which is not "
		    "followed",
		    raw->status, clean);
	} else {
		say_status(raw, &a);
		if (raw->status == 408 || raw->status == 425 || raw->status == 429 ||
		    (raw->status >= 500 && raw->status != 501 && raw->status != 505 &&
		        raw->status < 600)) {
			a.kind = ANSWER_LATER;
			a.retry_after_ns = retry_after(raw->retry_after, now_s);
		}
	}
	*ret = a;
}
