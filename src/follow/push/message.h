/* message.h - what a push says, and what a server answers. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_MESSAGE_H
#define SEEP_MESSAGE_H

#include "base/std.h"
#include "follow/push/stack_sums.h"
#include "kit/os/fault.h"
#include "print/export/export.h"

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

/* ---- profile: the sums of a service as a profile that a server takes ---- */

enum {
	PROFILE_SAMPLES = 4000,     /* at most */
	PROFILE_UNPACKED = 4 << 20, /* bytes, at most */
};

struct profile {
	uint8_t *bytes; /* gzip; for free() */
	size_t len, unpacked;
	size_t samples;
	size_t merged; /* stacks in "(other)" for lack of room */
};

/*
 * What is live as inuse_*, and what is being sent as alloc_*. If there are more
 * stacks than a server takes, the smallest ones are "(other)"; the sums are
 * exact. -ENOMEM; -EFBIG: not even the smallest profile fits.
 */
int profile_make(
    const struct stack_sums *b, const struct export_moment *moment, struct profile *ret);

/* ---- push_answer: what a server says to a push ---- */

enum answer_kind {
	ANSWER_ACCEPTED,
	/* it has not taken it, and asks for patience: 429, 5xx; or no contact */
	ANSWER_LATER,
	/* nobody knows whether it has taken it: no answer came */
	ANSWER_UNCERTAIN,
	/* it will not take it, now or later: other 4xx, and no such server */
	ANSWER_REFUSED,
};

enum {
	ANSWER_WORDS = 512,  /* bytes of a sentence, with its zero */
	ANSWER_BODY = 4096,  /* bytes that are read of a body */
	ANSWER_HEADER = 256, /* of a header field */
};

/* As it came, cut to these sizes; untrusted. */
struct answer_raw {
	int status;                      /* of HTTP */
	char type[ANSWER_HEADER];        /* Content-Type */
	char retry_after[ANSWER_HEADER]; /* Retry-After */
	char location[ANSWER_HEADER];    /* Location */
	char body[ANSWER_BODY];
	size_t body_len;
};

struct answer {
	enum answer_kind kind;
	int status;               /* of HTTP; 0: none came */
	uint64_t retry_after_ns;  /* from now on; 0: not said */
	char words[ANSWER_WORDS]; /* why not; safe to print */
};

/* now_s: since 1970, for a Retry-After that is a date. */
void push_answer_read(const struct answer_raw *raw, uint64_t now_s, struct answer *ret);

#endif
