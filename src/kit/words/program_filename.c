/* program_filename.c - makes a safe part of a file name from a program's name. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/words/words.h"

#include "kit/words/text.h"

static bool is_plain(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	    (c && strchr("._+-", c));
}

void program_filename(const char *path, char *to, size_t bytes)
{
	const char *from = path ? text_base(path) : "";
	char piece[TEXT_ESCAPED];
	size_t n = 0;

	while (*from) {
		size_t len = text_next(&from, piece);

		if (piece[0] == '\\' || (len == 1 && !is_plain(piece[0]))) {
			piece[0] = '_';
			len = 1;
		}
		if (len >= bytes - n)
			break;
		memcpy(to + n, piece, len);
		n += len;
	}
	to[n] = '\0';
	if (n == 0)
		(void)snprintf(to, bytes, "unknown");
	else if (to[0] == '.' || to[0] == '-')
		to[0] = '_';
}
