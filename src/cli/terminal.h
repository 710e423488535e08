/* terminal.h - what the place our words go to can show. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_CLI_TERMINAL_H
#define SEEP_CLI_TERMINAL_H

#include <stdbool.h>

enum terminal_colour { TERMINAL_AUTO, TERMINAL_ALWAYS, TERMINAL_NEVER };

/* The words of --color, in the order of the enum above. */
#define TERMINAL_COLOURS "auto|always|never"

struct terminal {
	bool is_terminal;
	bool is_dumb; /* TERM is "dumb" or not set: no escapes at all */
	bool colour;
	bool utf8;        /* the locale's characters are UTF-8 */
	unsigned columns; /* 0: as wide as you like */
};

/*
 * Looks at descriptor and environment. Colour when asked for, or on a terminal
 * that is not dumb, unless NO_COLOR is set (and not empty). Columns: COLUMNS,
 * else what the terminal says, else 80; never fewer than 40, so that layouts
 * need no special case. Sets the character type of the locale.
 */
void terminal_look(int fd, int colour, struct terminal *ret);

/* The columns alone. May be called by any thread. */
unsigned terminal_columns(int fd);

#endif
