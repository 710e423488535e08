/* die.c - words to the user on stderr, and the end of the program. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/die.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/pager.h"
#include "cli/progress.h"

static void say(const char *fmt, va_list ap)
    __attribute__((format(printf, 1, 0)));

/* One write: lines of several processes of a tree do not mix. */
static void
say(const char *fmt, va_list ap)
{
	char text[2048], line[sizeof(text) * 4 + 16];
	size_t at = 0;

	(void)vsnprintf(text, sizeof(text), fmt, ap);
	for (const char *p = text; *p; p++) {
		unsigned char c = (unsigned char)*p;

		if (c < 0x20 || c == 0x7f)
			at += (size_t)snprintf(
			    line + at, sizeof(line) - at, "\\x%02x", c);
		else
			line[at++] = (char)c;
	}
	line[at] = '\0';
	if (pager_runs())
		(void)fflush(stdout); /* both end up on one page */
	progress_pause();
	(void)fprintf(stderr, "seep: %s\n", line);
	progress_resume();
}

void
die_warn(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(fmt, ap);
	va_end(ap);
}

void
die(int code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(fmt, ap);
	va_end(ap);
	exit(code);
}
