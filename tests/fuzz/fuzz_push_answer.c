/* fuzz_push_answer.c - any answer to a push, and any text as URL, label and tenant. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "follow/push/message.h"
#include "follow/push/post.h"
#include "kit/words/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds)
{
	if (!holds)
		abort();
}

/* One line of printable text that a terminal does not obey. */
static void check_words(const char *text, size_t room)
{
	check(memchr(text, '\0', room) != NULL);
	while (*text) {
		size_t n = text_utf8(text);

		check(n > 0 && !text_is_odd(text_decode(text, n)));
		text += n;
	}
}

/* The next line, as the field of a header. */
static void take_line(const uint8_t **data, size_t *size, char to[ANSWER_HEADER])
{
	size_t n = 0, len = 0;

	while (n < *size && (*data)[n] != '\n')
		n++;
	for (; len < n && len < ANSWER_HEADER - 1; len++)
		to[len] = (char)(*data)[len];
	to[len] = '\0';
	if (n < *size)
		n++;
	*data += n;
	*size -= n;
}

static void try_answer(struct answer_raw *raw, int status)
{
	struct answer a;

	raw->status = status;
	push_answer_read(raw, 1800000000, &a);
	check_words(a.words, sizeof(a.words));
	check(a.retry_after_ns <= UINT64_C(3600) * 1000000000);
	check(a.kind != ANSWER_ACCEPTED || status == 200);
	check(a.kind != ANSWER_UNCERTAIN);
	check(a.kind == ANSWER_ACCEPTED || a.words[0]);
}

static void try_user(const char *text)
{
	struct message_labels l = {0};
	struct fault why = {""};
	struct target t;

	if (target_read(text, &t, &why) == 0) {
		check(strncasecmp(t.url, "http", 4) == 0);
		check(strlen(t.url) + 1 < sizeof(t.url));
		check(!strpbrk(t.url, " \r\n\t?#"));
		check(!memchr(t.url + 8, '@', strcspn(t.url + 8, "/")));
		check_words(t.shown, sizeof(t.shown));
	} else {
		check_words(why.text, sizeof(why.text));
	}
	if (message_add_label(&l, text, &why) == 0)
		check_words(l.list[0].value, MESSAGE_LABEL_BYTES);
	else
		check_words(why.text, sizeof(why.text));
	message_release_labels(&l);
	check(!target_is_tenant(text) || !strpbrk(text, " \r\n:"));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const int statuses[] = {200, 204, 302, 400, 404, 429, 500, 503, 599};
	struct answer_raw raw = {0};

	take_line(&data, &size, raw.type);
	take_line(&data, &size, raw.retry_after);
	take_line(&data, &size, raw.location);
	raw.body_len = size < ANSWER_BODY ? size : ANSWER_BODY;
	if (raw.body_len > 0)
		memcpy(raw.body, data, raw.body_len);
	for (size_t i = 0; i < sizeof(statuses) / sizeof(*statuses); i++)
		try_answer(&raw, statuses[i]);
	try_user(raw.type);
	try_user(raw.retry_after);
	return 0;
}
