/* suppress_lines.c - reads a suppression file line by line. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "view/suppress/suppress_lines.h"

#include <errno.h>
#include <string.h>

bool suppress_lines_next(struct suppress_lines *p)
{
	while (p->at < p->end) {
		const char *stop = memchr(p->at, '\n', (size_t)(p->end - p->at));
		const char *from = p->at, *to = stop ? stop : p->end;

		p->line++;
		p->at = stop ? stop + 1 : p->end;
		while (from < to && (*from == ' ' || *from == '\t'))
			from++;
		while (to > from && (to[-1] == ' ' || to[-1] == '\t' || to[-1] == '\r'))
			to--;
		if (from == to || *from == '#')
			continue;
		p->word = from;
		p->len = (size_t)(to - from);
		return true;
	}
	return false;
}

int suppress_lines_bad(const struct suppress_lines *p, unsigned line, const char *what)
{
	return fault_set(p->where, -EBADMSG, "%s:%u: %s", p->file, line, what);
}

bool suppress_lines_is(const struct suppress_lines *p, const char *text)
{
	return p->len == strlen(text) && memcmp(p->word, text, p->len) == 0;
}

const char *suppress_lines_after(const struct suppress_lines *p, const char *prefix)
{
	size_t n = strlen(prefix);

	return p->len >= n && memcmp(p->word, prefix, n) == 0 ? p->word + n : NULL;
}

size_t suppress_lines_rest(const struct suppress_lines *p, const char *from)
{
	return p->len - (size_t)(from - p->word);
}

char *suppress_lines_name(const struct suppress_lines *p)
{
	return p->name ? strdup(p->name) : strndup(p->word, p->len);
}
