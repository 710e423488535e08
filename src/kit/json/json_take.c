/* json_take.c - reads JSON that somebody wrote, piece by piece. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/json/json_take.h"

enum { DEPTH_MAX = 64 };

static bool fail(struct json_take *j)
{
	j->is_bad = true;
	j->at = j->end;
	return false;
}

/* The next character that is no space; 0: the end. */
static char peek(struct json_take *j)
{
	while (j->at < j->end && strchr(" \t\r\n", *j->at) && *j->at)
		j->at++;
	return (char)(j->at < j->end ? *j->at : '\0');
}

static bool take(struct json_take *j, char c)
{
	if (peek(j) != c || j->at == j->end)
		return false;
	j->at++;
	return true;
}

bool json_take_object(struct json_take *j)
{
	return take(j, '{') || fail(j);
}

bool json_take_list(struct json_take *j)
{
	return take(j, '[') || fail(j);
}

/* ---- texts ---- */

struct text {
	char *at;
	size_t len, room;
};

static void put(struct text *t, const char *bytes, size_t n)
{
	if (t->len + n < t->room) {
		memcpy(t->at + t->len, bytes, n);
		t->len += n;
	} else {
		t->room = t->len + 1; /* no half characters */
	}
}

static void put_character(struct text *t, uint32_t c)
{
	char b[3];

	if (c < 0x80) {
		b[0] = (char)c;
		put(t, b, 1);
	} else if (c < 0x800) {
		b[0] = (char)(0xc0 | c >> 6);
		b[1] = (char)(0x80 | (c & 0x3f));
		put(t, b, 2);
	} else {
		b[0] = (char)(0xe0 | c >> 12);
		b[1] = (char)(0x80 | (c >> 6 & 0x3f));
		b[2] = (char)(0x80 | (c & 0x3f));
		put(t, b, 3);
	}
}

/* Behind the backslash. */
static bool take_escape(struct json_take *j, struct text *t)
{
	static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
	char c = (char)(j->at < j->end ? *j->at++ : '\0');
	const char *known = c ? strchr(names, c) : NULL;
	uint32_t code = 0;

	if (known) {
		put(t, &values[known - names], 1);
		return true;
	}
	if (c != 'u' || j->end - j->at < 4)
		return fail(j);
	for (int i = 0; i < 4; i++) {
		char d = (char)tolower((unsigned char)*j->at++);

		if (!isxdigit((unsigned char)d))
			return fail(j);
		code = code * 16 + (uint32_t)(isdigit((unsigned char)d) ? d - '0' : d - 'a' + 10);
	}
	/* names have no characters beyond these, and no NUL */
	put_character(t, code == 0 || (code & 0xf800) == 0xd800 ? 0xfffd : code);
	return true;
}

static bool take_string(struct json_take *j, struct text *t)
{
	if (!take(j, '"'))
		return fail(j);
	while (j->at < j->end && *j->at != '"') {
		char c = *j->at++;

		if (c == '\\') {
			if (!take_escape(j, t))
				return false;
		} else if ((unsigned char)c < ' ') {
			return fail(j);
		} else {
			put(t, &c, 1);
		}
	}
	if (t->at)
		t->at[t->len] = '\0';
	return take(j, '"') || fail(j);
}

static bool take_word(struct json_take *j, const char *word)
{
	size_t n = strlen(word);

	if ((size_t)(j->end - j->at) < n || memcmp(j->at, word, n) != 0)
		return false;
	j->at += n;
	return true;
}

bool json_take_text(struct json_take *j, char *to, size_t room)
{
	struct text t = {.at = to, .room = room};

	*to = '\0';
	if (peek(j) == 'n')
		return take_word(j, "null") ? false : fail(j);
	return take_string(j, &t);
}

bool json_take_key(struct json_take *j, char *to, size_t room)
{
	struct text t = {.at = to, .room = room};

	*to = '\0';
	if (j->is_bad || take(j, '}'))
		return false;
	(void)take(j, ',');
	return take_string(j, &t) && (take(j, ':') || fail(j));
}

bool json_take_item(struct json_take *j)
{
	if (j->is_bad || take(j, ']'))
		return false;
	(void)take(j, ',');
	return peek(j) != '\0' || fail(j);
}

bool json_take_number(struct json_take *j, uint64_t *ret)
{
	uint64_t n = 0;

	if (!isdigit((unsigned char)peek(j)))
		return fail(j);
	while (j->at < j->end && isdigit((unsigned char)*j->at)) {
		uint64_t digit = (uint64_t)(*j->at++ - '0');

		if (n > (UINT64_MAX - digit) / 10)
			return fail(j);
		n = n * 10 + digit;
	}
	*ret = n;
	return true;
}

/* ---- anything ---- */

static void skip_plain(struct json_take *j)
{
	const char *begin = j->at;

	while (
	    j->at < j->end && (isalnum((unsigned char)*j->at) || strchr("+-.", *j->at)) && *j->at)
		j->at++;
	if (j->at == begin)
		(void)fail(j);
}

void json_take_skip(struct json_take *j)
{
	int depth = 0;

	do {
		struct text none = {.at = NULL};
		char c = peek(j);

		if (c == '"') {
			(void)take_string(j, &none);
		} else if (c == '{' || c == '[') {
			j->at++;
			if (++depth > DEPTH_MAX)
				(void)fail(j);
		} else if ((c == '}' || c == ']') && depth > 0) {
			j->at++;
			depth--;
		} else if ((c == ',' || c == ':') && depth > 0) {
			j->at++;
		} else {
			skip_plain(j);
		}
	} while (depth > 0 && !j->is_bad);
}
