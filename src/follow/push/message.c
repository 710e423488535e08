/* message.c - the request of a push: push.v1.PushRequest. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "follow/push/message.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "print/export/pprof_proto.h"
#include "kit/words/text.h"

/* Numbers of fields, as of push/v1/push.proto and types/v1/types.proto. */
enum {
	REQUEST_SERIES = 1,
	SERIES_LABEL = 1,
	SERIES_SAMPLE = 2,
	LABEL_NAME = 1,
	LABEL_VALUE = 2,
	SAMPLE_PROFILE = 1,
	SAMPLE_ID = 2,
	UUID_TEXT = 37,
};

/* ---- labels of the user ---- */

/* As Prometheus has them; names that begin with __ are the server's. */
static bool is_name(const char *text, size_t len)
{
	if (len == 0 || len >= MESSAGE_LABEL_BYTES || (text[0] >= '0' && text[0] <= '9') ||
	    strncmp(text, "__", 2) == 0)
		return false;
	return strspn(text,
	           "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	           "0123456789_") >= len;
}

static bool is_value(const char *text)
{
	if (!*text || strlen(text) >= MESSAGE_LABEL_BYTES)
		return false;
	while (*text) {
		size_t n = text_utf8(text);

		if (n == 0 || text_is_odd(text_decode(text, n)))
			return false;
		text += n;
	}
	return true;
}

static const struct message_label *find_label(
    const struct message_labels *l, const char *name, size_t len)
{
	for (size_t i = 0; i < l->count; i++)
		if (strlen(l->list[i].name) == len && memcmp(l->list[i].name, name, len) == 0)
			return &l->list[i];
	return NULL;
}

int message_add_label(struct message_labels *l, const char *text, struct fault *where)
{
	const char *equals = strchr(text, '=');
	size_t len = equals ? (size_t)(equals - text) : 0;
	struct message_label new;
	char clean[128];

	(void)text_escape(clean, sizeof(clean), text);
	if (!equals || !is_name(text, len))
		return fault_set(where, -EINVAL,
		    "\"%s\" is no label: NAME=VALUE, and NAME of letters, "
		    "digits and _, not beginning with a digit or __",
		    clean);
	if (len == strlen("service_name") && strncmp(text, "service_name", len) == 0)
		return fault_set(
		    where, -EINVAL, "the label service_name is the service of each process");
	if (!is_value(equals + 1))
		return fault_set(where, -EINVAL,
		    "\"%s\" is no label: its value must have 1 to %d "
		    "printable bytes of UTF-8",
		    clean, MESSAGE_LABEL_BYTES - 1);
	if (find_label(l, text, len))
		return fault_set(where, -EINVAL, "the label %.*s is given twice", (int)len, text);
	if (l->count == MESSAGE_LABELS)
		return fault_set(where, -EINVAL, "there are more than %d", MESSAGE_LABELS);
	new.name = strndup(text, len);
	new.value = strdup(equals + 1);
	if (!new.name || !new.value) {
		free(new.name);
		free(new.value);
		return fault_set(where, -ENOMEM, "out of memory");
	}
	l->list[l->count++] = new;
	return 0;
}

void message_release_labels(struct message_labels *l)
{
	for (size_t i = 0; i < l->count; i++) {
		free(l->list[i].name);
		free(l->list[i].value);
	}
	*l = (struct message_labels){0};
}

/* ---- the request ---- */

static void put_text(struct proto *m, unsigned field, const char *text)
{
	pprof_proto_bytes(m, field, text, strlen(text));
}

static void put_label(struct proto *series, const char *name, const char *value)
{
	struct proto label = {0};

	put_text(&label, LABEL_NAME, name);
	put_text(&label, LABEL_VALUE, value);
	pprof_proto_message(series, SERIES_LABEL, &label);
	free(label.bytes);
}

/*
 * __delta__=false: alloc_* are differences already, and the server must not
 * make differences of them.
 */
static void put_labels(struct proto *series, const struct message *m)
{
	put_label(series, "__delta__", "false");
	put_label(series, "__name__", "memory");
	if (!find_label(m->labels, "instance", strlen("instance")))
		put_label(series, "instance", m->instance);
	put_label(series, "service_name", m->service);
	for (size_t i = 0; i < m->labels->count; i++)
		put_label(series, m->labels->list[i].name, m->labels->list[i].value);
}

/* Version 4 of RFC 4122. */
static void write_uuid(const uint8_t id[16], char to[UUID_TEXT])
{
	uint8_t x[16];

	memcpy(x, id, sizeof(x));
	x[6] = (uint8_t)((x[6] & 0x0f) | 0x40);
	x[8] = (uint8_t)((x[8] & 0x3f) | 0x80);
	for (size_t i = 0, n = 0; i < sizeof(x); i++)
		n += (size_t)snprintf(to + n, UUID_TEXT - n, "%s%02x",
		    i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", x[i]);
}

int message_write(const struct message *m, uint8_t **ret, size_t *ret_len)
{
	struct proto request = {0}, series = {0}, sample = {0};
	char uuid[UUID_TEXT];

	write_uuid(m->id, uuid);
	put_labels(&series, m);
	pprof_proto_bytes(&sample, SAMPLE_PROFILE, m->profile, m->profile_bytes);
	put_text(&sample, SAMPLE_ID, uuid);
	pprof_proto_message(&series, SERIES_SAMPLE, &sample);
	pprof_proto_message(&request, REQUEST_SERIES, &series);
	free(series.bytes);
	free(sample.bytes);
	if (request.failed) {
		free(request.bytes);
		return -ENOMEM;
	}
	*ret = request.bytes;
	*ret_len = request.len;
	return 0;
}
