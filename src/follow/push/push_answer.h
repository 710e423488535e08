/* push_push_answer.h - what a server says to a push. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_PUSH_ANSWER_H
#define SEEP_PUSH_ANSWER_H

#include <stddef.h>
#include <stdint.h>

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
