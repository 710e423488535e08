/* strings.c - texts kept once and numbered. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "export/strings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

uint64_t
strings_hash(const char *text)
{
	size_t len = text ? strlen(text) : 0;
	uint64_t h = len, word;

	for (size_t i = 0; i < len; i += sizeof(word)) {
		size_t n = len - i < sizeof(word) ? len - i : sizeof(word);

		word = 0;
		memcpy(&word, text + i, n);
		h = index_hash(h, word, 1);
	}
	return h;
}

static bool
same_text(const void *items, uint32_t item, const void *key)
{
	return strcmp(((char *const *)items)[item], key) == 0;
}

int
strings_find(struct strings *s, const char *text, uint32_t *ret)
{
	uint32_t at;
	int err;

	if (s->count == s->room) {
		size_t room = s->room ? s->room * 2 : 256;
		char **bigger = reallocarray(s->list, room, sizeof(*bigger));

		if (!bigger)
			return -ENOMEM;
		s->list = bigger;
		s->room = room;
	}
	err = index_find(&s->index, strings_hash(text), same_text, s->list,
	    text, (uint32_t)s->count, &at);
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

void
strings_release(struct strings *s)
{
	for (size_t i = 0; i < s->count; i++)
		free(s->list[i]);
	free(s->list);
	index_release(&s->index);
	*s = (struct strings){0};
}
