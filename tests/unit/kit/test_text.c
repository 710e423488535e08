/* test_text.c - what is escaped in text from elsewhere, character by character. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"
#include "kit/words/text.h"

/* RFC 3629, without a look at text.c. */
static size_t encode(uint32_t c, char out[5])
{
	size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
	static const unsigned char lead[] = {0, 0, 0xc0, 0xe0, 0xf0};

	for (size_t i = n; i-- > 1; c >>= 6)
		out[i] = (char)(0x80 | (c & 0x3f));
	out[0] = (char)(lead[n] | c);
	out[n] = '\0';
	return n;
}

static bool must_be_escaped(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c <= 0x9f) || c == 0x061c ||
	    (c >= 0x200b && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) ||
	    (c >= 0x2060 && c <= 0x2069) || c == 0xfeff || (c >= 0xe0000 && c <= 0xe007f);
}

TEST(every_character_is_itself_or_an_escape_in_ascii)
{
	unsigned kept = 0;

	for (uint32_t c = 1; c < 0x110000; c++) {
		char in[5], out[TEXT_ESCAPED];
		const char *at = in;
		size_t n, bytes = encode(c, in);

		if (c >= 0xd800 && c <= 0xdfff)
			continue;
		n = text_next(&at, out);
		assert_ptr_equal(at, in + bytes);
		assert_int_equal(n, strlen(out));
		if (strcmp(in, out) == 0) {
			assert_false(must_be_escaped(c));
			kept++;
			continue;
		}
		assert_true(out[0] == '\\' && n >= 4 && n < TEXT_ESCAPED);
		for (size_t i = 0; i < n; i++)
			assert_true(out[i] > 0x20 && out[i] < 0x7f);
	}
	assert_true(kept > 1100000); /* the languages of people stay */
}

TEST(bytes_that_are_no_utf8_are_escaped_one_by_one)
{
	static const char *const bad[][2] = {
	    {"\x80", "\\x80"},
	    {"\x9b"
	     "31m",
	        "\\x9b31m"},
	    {"\xc2", "\\xc2"}, {"\xe2\x80", "\\xe2\\x80"},
	    {"\xed\xa0\x80", "\\xed\\xa0\\x80"},         /* a surrogate */
	    {"\xc0\x9b", "\\xc0\\x9b"},                  /* too long a form */
	    {"\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"} /* above the last */
	};
	char out[64];

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		(void)text_escape(out, sizeof(out), bad[i][0]);
		assert_string_equal(out, bad[i][1]);
	}
}

TEST(escapes_are_of_three_kinds)
{
	char out[128];

	(void)text_escape(out, sizeof(out),
	    "a\033[0m\xc2\x9b\xd8\x9c\xe2\x80\xae\xef\xbb\xbf\xf3\xa0\x81\x81"
	    "\xc3\xa9\xe2\x82\xac");
	assert_string_equal(out,
	    "a\\x1b[0m\\x9b\\u061c\\u202e\\ufeff\\U000e0041"
	    "\xc3\xa9\xe2\x82\xac");
}

TEST(what_does_not_fit_ends_with_a_whole_character)
{
	char out[16];

	for (size_t room = 1; room <= 12; room++) {
		memset(out, '#', sizeof(out));
		assert_int_equal(text_escape(out, room, "\xe2\x82\xac\033x"),
		    room > 8       ? 8
		        : room > 7 ? 7
		        : room > 3 ? 3
		                   : 0);
		assert_int_equal(out[room], '#');
	}
}
