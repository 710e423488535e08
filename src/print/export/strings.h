/* strings.h - texts kept once and numbered. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_STRINGS_H
#define SEEP_STRINGS_H

#include <stddef.h>
#include <stdint.h>

#include "kit/data/dict.h"

/* Zeros: none yet. */
struct strings {
	char **list; /* by number, as they come up: 0, 1, ... */
	size_t count, room;
	struct dict index;
};

/* The number of a text, of which it keeps a copy. -ENOMEM. */
int strings_find(struct strings *s, const char *text, uint32_t *ret);

void strings_release(struct strings *s);

#endif
