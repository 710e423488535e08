/* quoting.c - words of unit files, by systemd's rules of quoting. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "attach/service/unit_file.h"

#include "kit/data/room.h"

int quoting_add(struct quoting_words *w, char *text)
{
	/* one more, for the NULL at the end */
	if (!text || room_make(&w->items, &w->room, w->count + 1, sizeof(char *)) < 0) {
		free(text);
		return -ENOMEM;
	}
	w->items[w->count++] = text;
	w->items[w->count] = NULL;
	return 0;
}

void quoting_release(struct quoting_words *w)
{
	for (size_t i = 0; i < w->count; i++)
		free(w->items[i]);
	free(w->items);
	*w = (struct quoting_words){0};
}

static int digit(char c, unsigned base)
{
	int d = c >= '0' && c <= '9' ? c - '0'
	    : c >= 'a' && c <= 'f'   ? c - 'a' + 10
	    : c >= 'A' && c <= 'F'   ? c - 'A' + 10
	                             : -1;

	return d >= 0 && (unsigned)d < base ? d : -1;
}

/* n digits from `at` on; false: there are fewer, or the number is 0. */
static bool number(const char *at, size_t n, unsigned base, uint32_t *ret)
{
	uint32_t v = 0;

	for (size_t i = 0; i < n; i++) {
		int d = digit(at[i], base);

		if (d < 0)
			return false;
		v = v * base + (uint32_t)d;
	}
	*ret = v;
	return v != 0;
}

static char *put_utf8(char *to, uint32_t c)
{
	if (c < 0x80) {
		*to++ = (char)c;
	} else if (c < 0x800) {
		*to++ = (char)(0xc0 | c >> 6);
		*to++ = (char)(0x80 | (c & 0x3f));
	} else if (c < 0x10000) {
		*to++ = (char)(0xe0 | c >> 12);
		*to++ = (char)(0x80 | (c >> 6 & 0x3f));
		*to++ = (char)(0x80 | (c & 0x3f));
	} else {
		*to++ = (char)(0xf0 | c >> 18);
		*to++ = (char)(0x80 | (c >> 12 & 0x3f));
		*to++ = (char)(0x80 | (c >> 6 & 0x3f));
		*to++ = (char)(0x80 | (c & 0x3f));
	}
	return to;
}

/*
 * The character after a backslash and what belongs to it. Never longer than
 * its escape. Moves *at behind it.
 */
static char *unescape(const char **at, char *to)
{
	/* the last two are escapes of systemctl alone */
	static const char letters[] = "abfnrtvs\\\"'$`";
	static const char values[] = "\a\b\f\n\r\t\v \\\"'$`";
	const char *c = *at, *found = *c ? strchr(letters, *c) : NULL;
	uint32_t v;

	if (found) {
		*to++ = values[found - letters];
		*at = c + 1;
	} else if (*c == 'x' && number(c + 1, 2, 16, &v)) {
		*to++ = (char)v;
		*at = c + 3;
	} else if (number(c, 3, 8, &v) && v < 256) {
		*to++ = (char)v;
		*at = c + 3;
	} else if (*c == 'u' && number(c + 1, 4, 16, &v)) {
		to = put_utf8(to, v);
		*at = c + 5;
	} else if (*c == 'U' && number(c + 1, 8, 16, &v) && v < 0x110000) {
		to = put_utf8(to, v);
		*at = c + 9;
	} else {
		*to++ = '\\';
	}
	return to;
}

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* One word from `at` on, which is no white space, to `to`. Returns its end. */
static const char *take_word(const char *at, char *to)
{
	char quote = 0;

	while (*at && (quote || !is_space(*at))) {
		if (*at == '\\') {
			at++;
			to = unescape(&at, to);
		} else if (quote ? *at == quote : *at == '"' || *at == '\'') {
			quote = (char)(quote ? '\0' : *at);
			at++;
		} else {
			*to++ = *at++;
		}
	}
	*to = '\0';
	return at;
}

int quoting_split(const char *value, struct quoting_words *ret)
{
	/* room for all of it, once: a value may have very many words */
	char *word = malloc(strlen(value) + 2);
	int err = word ? 0 : -ENOMEM;

	while (err == 0) {
		while (is_space(*value))
			value++;
		if (!*value)
			break;
		value = take_word(value, word);
		err = quoting_add(ret, strdup(word));
	}
	free(word);
	return err;
}

char *quoting_quote(const char *text, bool has_specifiers)
{
	static const char hex[] = "0123456789abcdef";
	char *quoted = malloc(strlen(text) * 4 + 3), *to = quoted;

	if (!quoted)
		return NULL;
	*to++ = '"';
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (c < 0x20 || c == 0x7f) {
			*to++ = '\\';
			*to++ = 'x';
			*to++ = hex[c >> 4];
			*to++ = hex[c & 15];
			continue;
		}
		if (c == '"' || c == '\\')
			*to++ = '\\';
		if (c == '%' && !has_specifiers)
			*to++ = '%';
		*to++ = (char)c;
	}
	*to++ = '"';
	*to = '\0';
	return quoted;
}
