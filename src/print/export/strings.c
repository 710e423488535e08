/* strings.c - texts kept once and numbered. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "print/export/strings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kit/data/room.h"

int strings_find(struct strings *s, const char *text, uint32_t *ret)
{
	uint32_t at;
	int err;

	if (room_make(&s->list, &s->room, s->count, sizeof(char *)) < 0)
		return -ENOMEM;
	err = dict_find(&s->index, dict_hash_text(text), dict_same_text, s->list, text,
	    (uint32_t)s->count, &at);
	if (err < 0)
		return err;
	if (at == s->count) {
		s->list[at] = strdup(text);
		if (!s->list[at])
			return -ENOMEM;
		s->count++;
	}
	*ret = at;
	return 0;
}

void strings_release(struct strings *s)
{
	for (size_t i = 0; i < s->count; i++)
		free(s->list[i]);
	free(s->list);
	dict_release(&s->index);
	*s = (struct strings){0};
}
