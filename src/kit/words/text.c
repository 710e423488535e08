/* text.c - text from other sources, made harmless for a terminal. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/words/text.h"

#include "base/fmt.h"

size_t text_utf8(const char *text)
{
	const unsigned char *p = (const unsigned char *)text;
	size_t n;

	if (p[0] < 0x80)
		return 1;
	if (p[0] >= 0xc2 && p[0] <= 0xdf)
		n = 2;
	else if (p[0] >= 0xe0 && p[0] <= 0xef)
		n = 3;
	else if (p[0] >= 0xf0 && p[0] <= 0xf4)
		n = 4;
	else
		return 0;
	for (size_t i = 1; i < n; i++)
		if ((p[i] & 0xc0) != 0x80) /* the final NUL fails here too */
			return 0;
	if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f) ||
	    (p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] > 0x8f))
		return 0;
	return n;
}

uint32_t text_decode(const char *text, size_t n)
{
	static const unsigned char masks[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
	const unsigned char *p = (const unsigned char *)text;
	uint32_t c = p[0] & masks[n];

	for (size_t i = 1; i < n; i++)
		c = c << 6 | (p[i] & 0x3fu);
	return c;
}

bool text_is_odd(uint32_t c)
{
	static const struct {
		uint32_t first, last;
	} odd[] = {
	    {0x0000, 0x001f},   /* C0 */
	    {0x007f, 0x009f},   /* DEL, C1 */
	    {0x00ad, 0x00ad},   /* SOFT HYPHEN */
	    {0x034f, 0x034f},   /* COMBINING GRAPHEME JOINER */
	    {0x061c, 0x061c},   /* ARABIC LETTER MARK */
	    {0x115f, 0x1160},   /* fillers of Hangul */
	    {0x17b4, 0x17b5},   /* invisible vowels of Khmer */
	    {0x180b, 0x180f},   /* selectors of Mongolian */
	    {0x200b, 0x200f},   /* characters without width, direction marks */
	    {0x2028, 0x202e},   /* separators, embeddings and overrides */
	    {0x2060, 0x206f},   /* no width, isolates, deprecated controls */
	    {0x3164, 0x3164},   /* HANGUL FILLER */
	    {0xfe00, 0xfe0f},   /* variation selectors */
	    {0xfeff, 0xfeff},   /* BYTE ORDER MARK: no width */
	    {0xffa0, 0xffa0},   /* HALFWIDTH HANGUL FILLER */
	    {0xfff0, 0xfffb},   /* unassigned, annotations */
	    {0x13430, 0x13440}, /* joiners of hieroglyphs */
	    {0x1bca0, 0x1bca3}, /* controls of shorthand */
	    {0x1d173, 0x1d17a}, /* controls of music */
	    {0xe0000, 0xe0fff}, /* tags and selectors, all of them invisible */
	};

	for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++)
		if (c >= odd[i].first && c <= odd[i].last)
			return true;
	return false;
}

size_t text_next(const char **text, char out[TEXT_ESCAPED])
{
	const char *from = *text;
	size_t n = text_utf8(from);
	uint32_t c = n ? text_decode(from, n) : (unsigned char)*from;
	struct fmt f;

	*text += n ? n : 1;
	fmt_init(&f, out, TEXT_ESCAPED);
	if (n && !text_is_odd(c)) {
		memcpy(out, from, n);
		out[n] = '\0';
		return n;
	}
	fmt_string(&f, c < 0x100 ? "\\x" : c < 0x10000 ? "\\u" : "\\U");
	fmt_hex(&f, c, c < 0x100 ? 2 : c < 0x10000 ? 4 : 8);
	return (size_t)(f.at - out);
}

size_t text_escape(char *to, size_t bytes, const char *text)
{
	char piece[TEXT_ESCAPED];
	size_t at = 0;

	while (*text) {
		size_t n = text_next(&text, piece);

		if (n >= bytes - at)
			break;
		memcpy(to + at, piece, n);
		at += n;
	}
	to[at] = '\0';
	return at;
}

size_t text_put(FILE *out, const char *text)
{
	char piece[TEXT_ESCAPED];
	const char *next = text;
	size_t n = text_next(&next, piece);

	(void)fwrite(piece, 1, n, out);
	return (size_t)(next - text);
}

void text_print(FILE *out, const char *text)
{
	while (*text)
		text += text_put(out, text);
}

bool text_ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n >= m && memcmp(text + n - m, end, m) == 0;
}

bool text_same(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

bool text_begins_with(const char *text, const char *begin)
{
	return strncmp(text, begin, strlen(begin)) == 0;
}

const char *text_base(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	return slash ? slash + 1 : path;
}
