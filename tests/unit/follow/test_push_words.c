/* test_push_words.c - what a server says to a push, and what a user says about one. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"
#include "follow/push/message.h"
#include "follow/push/post.h"

#define SECOND UINT64_C(1000000000)

static struct answer answer(int status, const char *type, const char *retry, const char *body)
{
	struct answer_raw raw = {.status = status};
	struct answer a;

	(void)snprintf(raw.type, sizeof(raw.type), "%s", type);
	(void)snprintf(raw.retry_after, sizeof(raw.retry_after), "%s", retry);
	(void)snprintf(raw.location, sizeof(raw.location), "http://x/\x1b[2J");
	raw.body_len = strlen(body);
	memcpy(raw.body, body, raw.body_len);
	push_answer_read(&raw, 1800000000, &a);
	return a;
}

TEST(only_an_answer_of_the_procedure_is_an_acceptance)
{
	assert_int_equal(answer(200, "application/proto", "", "").kind, ANSWER_ACCEPTED);
	assert_int_equal(
	    answer(200, "application/proto; charset=utf-8", "", "").kind, ANSWER_ACCEPTED);
	assert_int_equal(answer(200, "text/html", "", "hi").kind, ANSWER_REFUSED);
	assert_int_equal(answer(200, "application/protobuf", "", "").kind, ANSWER_REFUSED);
	assert_int_equal(answer(200, "", "", "").kind, ANSWER_REFUSED);
	assert_int_equal(answer(204, "application/proto", "", "").kind, ANSWER_REFUSED);
	assert_int_equal(answer(307, "", "", "").kind, ANSWER_REFUSED);
	assert_null(strchr(answer(307, "", "", "").words, '\x1b'));
}

TEST(who_is_asked_to_wait_and_who_is_refused)
{
	static const int late[] = {408, 425, 429, 500, 502, 503, 504, 599};
	static const int refused[] = {400, 401, 403, 404, 413, 415, 501, 505};

	for (size_t i = 0; i < sizeof(late) / sizeof(*late); i++)
		assert_int_equal(answer(late[i], "", "", "").kind, ANSWER_LATER);
	for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++)
		assert_int_equal(answer(refused[i], "", "", "").kind, ANSWER_REFUSED);
}

static uint64_t retry_s(const char *text)
{
	return answer(503, "", text, "").retry_after_ns / SECOND;
}

/* 1800000000 is Fri, 15 Jan 2027 08:00:00 GMT. */
TEST(retry_after_has_two_forms_and_a_bound)
{
	static const char *const none[] = {"", "x", "-1", "1.5", "1 2", "0x10",
	    "Fri, 15 Jan 2027 08:05:00 CET", "Fri, 15 Foo 2027 08:05:00 GMT",
	    "Fri, 99 Jan 2027 08:05:00 GMT", "Fri, 15 Jan 2027 25:05:00 GMT",
	    "Fri, 15 Jan 2027 08:05:0", "Fri, 15 Jan 2026 08:05:00 GMT",
	    "Fri, 15 Jan 0000 08:05:00 GMT", "15 Jan 2027", "\xff\xfe"};

	assert_int_equal(retry_s("120"), 120);
	assert_int_equal(retry_s("  7 "), 7);
	assert_int_equal(retry_s("0"), 0);
	assert_int_equal(retry_s("99999999999999999999999999"), 3600);
	assert_int_equal(retry_s("Fri, 15 Jan 2027 08:05:00 GMT"), 300);
	assert_int_equal(retry_s("Fri, 15 Jan 9999 08:05:00 GMT"), 3600);
	for (size_t i = 0; i < sizeof(none) / sizeof(*none); i++)
		assert_int_equal(retry_s(none[i]), 0);
}

TEST(the_servers_own_words_are_shown_and_are_harmless)
{
	static const char json[] = "{\"code\":\"invalid_argument\", "
	                           "\"details\":[{\"message\":\"not this\"}],"
	                           " \"message\":\"too \\\"old\\\"\\n\"}";
	char longer[ANSWER_BODY];
	struct answer a = answer(400, "", "", json);

	assert_string_equal(a.words, "it answers 400: too \"old\" ");
	a = answer(404, "", "", "no\nsuch \x1b[31mthing\x07\n");
	assert_string_equal(a.words, "it answers 404: no such \\x1b[31mthing\\x07");
	assert_string_equal(answer(500, "", "", "").words, "it answers 500");
	/* what is no such object is shown as it is */
	assert_string_equal(
	    answer(400, "", "", "{\"message\":7}").words, "it answers 400: {\"message\":7}");
	assert_string_equal(
	    answer(400, "", "", "{\"a\":[{\"b\":").words, "it answers 400: {\"a\":[{\"b\":");
	memset(longer, 'x', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	assert_true(strlen(answer(400, "", "", longer).words) < 400);
}

/* ---- what the user says ---- */

TEST(a_url_is_that_of_a_server)
{
	static const char *const none[] = {"", "x", "localhost:4040", "ftp://host/",
	    "file:///etc/passwd", "http://", "https:///x", "http://:80", "http://host:0",
	    "http://host:99999", "http://host:x", "http://user:secret@host/", "http://ho st/",
	    "http://host/?a=b", "http://host/#x", "http://[::1", "http://host/\n", "http://h\"/",
	    "http://\xc3\xa9/", "http//host", "http://host:", "gopher://x"};
	struct fault why = {""};
	struct target t;

	for (size_t i = 0; i < sizeof(none) / sizeof(*none); i++) {
		assert_int_equal(target_read(none[i], &t, &why), -EINVAL);
		assert_null(strstr(why.text, "secret"));
		assert_null(strchr(why.text, '\n'));
	}
	assert_int_equal(target_read("http://[::1]:4040/", &t, &why), 0);
	assert_string_equal(t.url, "http://[::1]:4040/push.v1.PusherService/Push");
	assert_true(t.is_local && !t.is_encrypted);
	assert_int_equal(target_read("https://host/a/b//", &t, &why), 0);
	assert_string_equal(t.url, "https://host/a/b/push.v1.PusherService/Push");
	assert_true(!t.is_local && t.is_encrypted);
	assert_int_equal(target_read("http://127.0.0.1/push.v1.PusherService/Push", &t, &why), 0);
	assert_string_equal(t.url, "http://127.0.0.1/push.v1.PusherService/Push");
	/* a name that only looks like this machine's */
	assert_int_equal(target_read("http://127.evil.example/", &t, &why), 0);
	assert_false(t.is_local);
	assert_int_equal(target_read("http://localhost.evil/", &t, &why), 0);
	assert_false(t.is_local);
}

TEST(a_tenant_is_a_word)
{
	assert_true(target_is_tenant("team-1|team_2"));
	assert_false(target_is_tenant(""));
	assert_false(target_is_tenant(".."));
	assert_false(target_is_tenant("a b"));
	assert_false(target_is_tenant("a\r\nEvil: 1"));
}

TEST(a_label_has_a_name_and_a_value)
{
	static const char *const none[] = {"", "x", "=x", "x=", "1x=y", "a-b=c", "__name__=x",
	    "__delta__=true", "service_name=x", "x=\n", "x=\xff", "x=\xe2\x80\xae", "\xc3\xa9=x",
	    "region=twice"};
	struct message_labels l = {0};
	struct fault why = {""};
	char text[600];

	assert_int_equal(message_add_label(&l, "region=eu=1", &why), 0);
	assert_int_equal(message_add_label(&l, "instance=\xc3\xa9", &why), 0);
	assert_string_equal(l.list[0].value, "eu=1");
	for (size_t i = 0; i < sizeof(none) / sizeof(*none); i++)
		assert_int_equal(message_add_label(&l, none[i], &why), -EINVAL);
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	text[3] = '=';
	assert_int_equal(message_add_label(&l, text, &why), -EINVAL);
	text[3] = 'x';
	text[500] = '=';
	assert_int_equal(message_add_label(&l, text, &why), -EINVAL);
	for (int i = 2; i < MESSAGE_LABELS; i++) {
		(void)snprintf(text, sizeof(text), "n%d=v", i);
		assert_int_equal(message_add_label(&l, text, &why), 0);
	}
	assert_int_equal(message_add_label(&l, "one_more=v", &why), -EINVAL);
	message_release_labels(&l);
}
