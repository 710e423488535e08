/* test_net_token.c - who knows the token, and where one may listen. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"
#include "follow/serve/http.h"
#include "kit/os/descriptor.h"

#define TOKEN "0123456789abcdefghij"

TEST(bearer_and_the_password_of_basic_prove_the_token)
{
	assert_true(token_fits(TOKEN, "Bearer " TOKEN));
	assert_true(token_fits(TOKEN, "bearer  " TOKEN));
	/* any:TOKEN, :TOKEN */
	assert_true(token_fits(TOKEN, "Basic YW55OjAxMjM0NTY3ODlhYmNkZWZnaGlq"));
	assert_true(token_fits(TOKEN, "Basic OjAxMjM0NTY3ODlhYmNkZWZnaGlq"));
}

TEST(anything_else_does_not)
{
	static const char *const wrong[] = {"", "Bearer", "Bearer ", "Bearer x",
	    "Bearer 0123456789abcdefghi", "Bearer 0123456789abcdefghijk", "Bearer " TOKEN TOKEN,
	    "Bearer " TOKEN " ", TOKEN, "Basic ", "Basic =", "Basic ====", "Basic YW55",
	    "Basic YW55Og==", "Basic !!!!", "Digest " TOKEN,
	    /* TOKEN without a colon; TOKEN:any */
	    "Basic MDEyMzQ1Njc4OWFiY2RlZmdoaWo=", "Basic MDEyMzQ1Njc4OWFiY2RlZmdoaWo6YW55"};
	char *many = malloc(8192);

	assert_false(token_fits(TOKEN, NULL));
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_false(token_fits(TOKEN, wrong[i]));
	assert_non_null(many);
	memset(many, 'A', 8191);
	many[8191] = '\0';
	memcpy(many, "Basic ", 6);
	assert_false(token_fits(TOKEN, many));
	free(many);
}

TEST(every_single_wrong_character_is_found)
{
	char text[] = "Bearer " TOKEN;

	for (size_t i = 7; text[i]; i++) {
		text[i] ^= 1;
		assert_false(token_fits(TOKEN, text));
		text[i] ^= 1;
	}
	assert_true(token_fits(TOKEN, text));
}

TEST(a_token_file_is_closed_to_others)
{
	char path[] = "/tmp/seep-token.XXXXXX", *token = NULL;
	int fd = mkstemp(path);
	struct fault where;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, TOKEN "\nrest\n", 26), 26);
	assert_int_equal(token_read(path, TOKEN_MOST, &token, &where), 0);
	assert_string_equal(token, TOKEN);
	token_free(token);
	for (int bit = 1; bit < 0100; bit <<= 1) {
		assert_int_equal(fchmod(fd, (mode_t)(0600 | bit)), 0);
		assert_int_equal(token_read(path, TOKEN_MOST, &token, &where), -EPERM);
	}
	assert_int_equal(close(fd), 0);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(token_read(path, TOKEN_MOST, &token, &where), -ENOENT);
	token_free(NULL);
}

TEST(a_token_has_a_length)
{
	static char line[TOKEN_SENT_MOST + 1];
	static const struct {
		size_t len, most;
		int answer;
	} cases[] = {
	    {TOKEN_LEAST - 1, TOKEN_MOST, -EINVAL},
	    {TOKEN_LEAST, TOKEN_MOST, 0},
	    {TOKEN_MOST, TOKEN_MOST, 0},
	    {TOKEN_MOST + 1, TOKEN_MOST, -EINVAL},
	    {TOKEN_MOST + 1, TOKEN_SENT_MOST, 0},
	    {TOKEN_SENT_MOST, TOKEN_SENT_MOST, 0},
	    {TOKEN_SENT_MOST + 1, TOKEN_SENT_MOST, -EINVAL},
	};

	memset(line, 'x', sizeof(line));
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char path[] = "/tmp/seep-token.XXXXXX", *token = NULL;
		int fd = mkstemp(path);
		ssize_t len = (ssize_t)cases[i].len;
		struct fault where;

		assert_true(fd >= 0);
		assert_int_equal(write(fd, line, cases[i].len), len);
		assert_int_equal(close(fd), 0);
		assert_int_equal(token_read(path, cases[i].most, &token, &where), cases[i].answer);
		if (cases[i].answer == 0)
			assert_int_equal(strlen(token), len);
		token_free(token);
		assert_int_equal(unlink(path), 0);
	}
}

TEST(addresses_are_numbers_or_paths)
{
	static const struct {
		const char *text, *shown;
		bool loopback;
	} good[] = {{"127.0.0.1:7337", "127.0.0.1:7337", true},
	    {"127.0.0.1", "127.0.0.1:7337", true}, {":80", "127.0.0.1:80", true},
	    {"80", "127.0.0.1:80", true}, {"localhost:1", "127.0.0.1:1", true},
	    {"127.255.255.255:65535", "127.255.255.255:65535", true}, {"[::1]:9", "[::1]:9", true},
	    {"[::1]", "[::1]:7337", true}, {"[::]:9", "[::]:9", false},
	    {"0.0.0.0:9", "0.0.0.0:9", false}, {"128.0.0.1:9", "128.0.0.1:9", false},
	    {"[::ffff:127.0.0.1]:9", "[::ffff:127.0.0.1]:9", false}, {"unix:/x", "unix:/x", true}};
	static const char *const bad[] = {"", "x", "[", "[]", "[::1", "[::1]x", "1.2.3:4",
	    "127.0.0.1:0", "127.0.0.1:65536", "127.0.0.1:+1", "127.0.0.1:1x", "127.0.0.1:123456789",
	    "unix:", "a.b:1"};
	struct address a;
	struct fault where;

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		assert_int_equal(address_parse(good[i].text, &a, &where), 0);
		assert_string_equal(a.text, good[i].shown);
		assert_int_equal(a.is_loopback, good[i].loopback);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(address_parse(bad[i], &a, &where), -EINVAL);
}
