/* terminal.h - what the terminal can show, and programs that show more. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_TERMINAL_H
#define SEEP_TERMINAL_H

#include "base/std.h"

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

/* ---- pager: shows long results through less, as git does ---- */

/*
 * From here on stdout, and stderr if it is a terminal, go through the pager:
 * SEEP_PAGER, else PAGER, else less (with LESS=FRX unless LESS is set). Does
 * nothing where `t`, which describes stdout, is no terminal or a dumb one,
 * where the pager is "cat" or empty, or where less is not installed. In secure
 * mode (secure.h) less can start nothing, and as a rule nothing else is started.
 *
 * The program waits for the pager however it ends. When the user quits it
 * before all is written, the program ends at once, silently, with status
 * `answer`: that of the command were it read to its end. A signal stops the
 * writing, waits for the pager, and ends the program as it would have.
 *
 * At most once in a program. Not to be called while a file of ours must be
 * removed at exit: quitting runs no exit handlers.
 */
void pager_start(const struct terminal *t, int answer);

bool pager_runs(void);

/* ---- browser: shows a file in the user's browser ---- */

/*
 * Opens the file with $BROWSER, a program and its arguments, or with xdg-open
 * if there is a screen. False: that does not work. If `folder` is given, another
 * process removes the file and then the folder when the browser has ended, or
 * has had time to load the file. Call this with little memory in use, because
 * that process keeps a copy of it.
 */
bool browser_open(const char *path, const char *folder);

#endif
