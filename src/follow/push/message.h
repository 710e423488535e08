/* message.h - the request of a push: push.v1.PushRequest. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_MESSAGE_H
#define SEEP_MESSAGE_H

#include <stddef.h>
#include <stdint.h>

#include "kit/os/fault.h"

enum {
	MESSAGE_LABELS = 16, /* that a user may give */
	MESSAGE_LABEL_BYTES = 256,
};

/* Labels of the user's own: NAME=VALUE. */
struct message_labels {
	struct message_label {
		char *name, *value;
	} list[MESSAGE_LABELS];
	size_t count;
};

/*
 * Adds NAME=VALUE. -EINVAL with words: it is no label, or there is one of that
 * name; -ENOMEM.
 */
int message_add_label(struct message_labels *l, const char *text, struct fault *where);
void message_release_labels(struct message_labels *l);

struct message {
	const char *service;
	const char *instance; /* unless there is a label of that name */
	const struct message_labels *labels;
	const uint8_t *profile;
	size_t profile_bytes;
	const uint8_t *id; /* 16 random bytes */
};

/* One series with one profile; *ret is for free(). -ENOMEM. */
int message_write(const struct message *m, uint8_t **ret, size_t *ret_len);

#endif
