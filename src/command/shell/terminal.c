/* terminal.c - what the terminal can show. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "command/shell/terminal.h"

#include <langinfo.h>
#include <locale.h>
#include <sys/ioctl.h>

enum { COLUMNS_MIN = 40, COLUMNS_MAX = 10000, COLUMNS_DEFAULT = 80 };

/* 0: not given. */
static unsigned columns_of_environment(void)
{
	const char *text = getenv("COLUMNS");
	unsigned long n;

	if (!text || strspn(text, "0123456789") != strlen(text))
		return 0;
	n = strtoul(text, NULL, 10);
	return n > COLUMNS_MAX ? COLUMNS_MAX : (unsigned)n;
}

unsigned terminal_columns(int fd)
{
	unsigned n = columns_of_environment();
	struct winsize size;

	if (n == 0 && isatty(fd) != 1)
		return 0;
	if (n == 0 && ioctl(fd, TIOCGWINSZ, &size) == 0)
		n = size.ws_col;
	if (n == 0)
		n = COLUMNS_DEFAULT;
	return n < COLUMNS_MIN ? COLUMNS_MIN : n;
}

static bool wants_colour(const struct terminal *t, int colour)
{
	const char *no = getenv("NO_COLOR");

	if (colour != TERMINAL_AUTO)
		return colour == TERMINAL_ALWAYS;
	return t->is_terminal && !t->is_dumb && (!no || *no == '\0');
}

void terminal_look(int fd, int colour, struct terminal *ret)
{
	const char *term = getenv("TERM");
	struct terminal t = {
	    .is_terminal = isatty(fd) == 1,
	    .is_dumb = !term || *term == '\0' || strcmp(term, "dumb") == 0,
	};

	t.colour = wants_colour(&t, colour);
	t.columns = terminal_columns(fd);
	(void)setlocale(LC_CTYPE, "");
	t.utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
	*ret = t;
}
