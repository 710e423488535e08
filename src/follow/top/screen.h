/* screen.h - the terminal while top has it: cells out, keys in. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_SCREEN_H
#define SEEP_SCREEN_H

#include "base/std.h"
#include "follow/top/fields.h"

/* Keys beyond the characters, which stand for themselves. */
enum screen_key {
	SCREEN_NONE = -1, /* no key waits */
	SCREEN_ENTER = 0x110000,
	SCREEN_ESCAPE,
	SCREEN_BACKSPACE,
	SCREEN_UP,
	SCREEN_DOWN,
	SCREEN_LEFT,
	SCREEN_RIGHT,
	SCREEN_PAGE_UP,
	SCREEN_PAGE_DOWN,
	SCREEN_HOME,
	SCREEN_END,
	SCREEN_RESIZED,
	SCREEN_OTHER, /* a key that means nothing here */
};

/*
 * Takes the terminal of stdin and stdout, which is as it was after
 * screen_close(), and after a signal that ends the process: SIGTERM, SIGHUP,
 * SIGINT, SIGSEGV and the like. Ctrl-Z and fg are ncurses's own.
 * -ENOTTY: stdin or stdout is none; -ENOENT: TERM is unknown; -ELIBACC:
 * there is no ncurses; -ENOMEM.
 */
int screen_open(bool colour);
void screen_close(void);

void screen_size(unsigned *ret_columns, unsigned *ret_rows);

/* One key; does not wait. */
int screen_key(void);

/* Begins an empty picture, which screen_show() shows. */
void screen_clear(void);

/*
 * Puts text, which has been escaped, at a place; what is beyond the right edge
 * is cut. `style` is one of enum fields_style, and may have these bits.
 */
enum {
	SCREEN_SELECTED = 1 << 8, /* the row that keys are about */
	SCREEN_BAR = 1 << 9,      /* the line of titles */
	SCREEN_ALARM = 1 << 10,   /* must be seen: frozen, a question */
};
void screen_put(unsigned row, unsigned column, int style, const char *text);

/* The cursor is seen there in the next picture. */
void screen_cursor(unsigned row, unsigned column);

void screen_show(void);

/* The terminal may have been written to by others: draw all of it. */
void screen_redraw(void);

#endif
