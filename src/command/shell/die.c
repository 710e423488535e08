/* die.c - prints messages on stderr, and ends the program. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "command/shell/die.h"

#include "kit/words/text.h"
#include "command/shell/terminal.h"

static void say(const char *prefix, const char *fmt, va_list ap)
    __attribute__((format(printf, 2, 0)));

/* One write, so that lines of several processes do not mix. */
static void say(const char *prefix, const char *fmt, va_list ap)
{
	char text[2048], line[sizeof(text) * 4 + 16];

	(void)vsnprintf(text, sizeof(text), fmt, ap);
	(void)text_escape(line, sizeof(line), text);
	if (pager_runs())
		(void)fflush(stdout); /* both go to the same terminal */
	progress_pause();
	(void)fprintf(stderr, "%s%s\n", prefix, line);
	progress_resume();
}

void die_warn(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say("seep: ", fmt, ap);
	va_end(ap);
}

void die_more(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say("  ", fmt, ap);
	va_end(ap);
}

void die(int code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say("seep: ", fmt, ap);
	va_end(ap);
	exit(code);
}
