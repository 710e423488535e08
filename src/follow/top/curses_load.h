/* curses_load.h - ncurses, loaded when the first screen is opened. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_CURSES_LOAD_H
#define SEEP_CURSES_LOAD_H

#define NCURSES_WIDECHAR 1
#include <curses.h>
#include <term.h>

/*
 * Only `seep top` on a terminal needs ncurses. Linked as usual, it would be
 * loaded, with libtinfo, by every command: a tenth of the time of
 * `seep --version`. Its macros (getch(), COLS) must not be used, because they
 * name functions and variables that are not linked.
 */
#define CURSES_FUNCTIONS(X) \
	X(cbreak) \
	X(clearok) \
	X(curs_set) \
	X(del_curterm) \
	X(delscreen) \
	X(endwin) \
	X(has_colors) \
	X(init_pair) \
	X(keypad) \
	X(newterm) \
	X(nodelay) \
	X(noecho) \
	X(nonl) \
	X(set_escdelay) \
	X(setupterm) \
	X(start_color) \
	X(tigetstr) \
	X(tputs) \
	X(use_default_colors) \
	X(waddnstr) \
	X(wattrset) \
	X(werase) \
	X(wgetch) \
	X(wmove) \
	X(wrefresh)

#define CURSES_VARIABLES(X) \
	X(COLS) \
	X(LINES) \
	X(cur_term) \
	X(stdscr)

/* clang-format off: the parts of a declaration */
struct curses {
#define CURSES_MEMBER(name) __typeof__(name) *(name);
	CURSES_FUNCTIONS(CURSES_MEMBER)
	CURSES_VARIABLES(CURSES_MEMBER)
#undef CURSES_MEMBER
};
/* clang-format on */

/* NULL: the library is not there, or lacks one of these. */
const struct curses *curses_load(void);

#endif
