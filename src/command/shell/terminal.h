/* terminal.h - what the terminal can show. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_TERMINAL_H
#define SEEP_TERMINAL_H

#include <stdbool.h>

enum terminal_colour { TERMINAL_AUTO, TERMINAL_ALWAYS, TERMINAL_NEVER };

/* The words of --color, in the order of the enum above. */
#define TERMINAL_COLOURS "auto|always|never"

struct terminal {
	bool is_terminal;
	bool is_dumb; /* TERM is "dumb" or not set: no escapes at all */
	bool colour;
	bool utf8;        /* the locale's characters are UTF-8 */
	unsigned columns; /* 0: no limit */
};

/*
 * Finds out from the descriptor and the environment. Colour if the user wants
 * it, or on a terminal that is not dumb, unless NO_COLOR is set (and not
 * empty). Columns: COLUMNS, else the terminal's, else 80; at least 40, so that
 * layouts need no special case. Sets the character type of the locale.
 */
void terminal_look(int fd, int colour, struct terminal *ret);

/* Only the columns. Any thread may call this. */
unsigned terminal_columns(int fd);

#endif
