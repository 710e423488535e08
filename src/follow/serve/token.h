/* token.h - the secret that a client must know. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_TOKEN_H
#define SEEP_TOKEN_H

#include <stdbool.h>
#include <stddef.h>

#include "kit/os/fault.h"

enum {
	TOKEN_LEAST = 16,       /* characters */
	TOKEN_MOST = 512,       /* that we ask for */
	TOKEN_SENT_MOST = 8192, /* that another server asks for: a JWT */
};

/*
 * The first line of a file that nobody but its owner, who is root or we, may
 * read or write; for token_free(). Negative errno, with words: -EPERM: others may read it;
 * -EINVAL: no line of TOKEN_LEAST to `most` printable characters; `most` is at most
 * TOKEN_SENT_MOST.
 */
int token_read(const char *path, size_t most, char **ret, struct fault *where);
void token_free(char *token); /* clears it; NULL is fine */

/*
 * Does the value of a header "Authorization" (NULL: there is none) prove it?
 * "Bearer TOKEN", or "Basic" of any name and TOKEN as password. The time that
 * this takes depends on the length of the header alone.
 */
bool token_fits(const char *token, const char *authorization);

#endif
