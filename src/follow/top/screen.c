/* screen.c - the terminal while top has it: cells out, keys in. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "follow/top/screen.h"

#include <locale.h>
#include <termios.h>

#include "follow/top/curses_load.h"
#include "kit/os/outfile.h"

enum { ESCAPE_MS = 25, LEAVE_BYTES = 256, STACK_BYTES = 1 << 16 };

/* What a handler needs. The terminal is one, and so is this. */
static struct {
	SCREEN *screen;
	struct termios before;
	char leave[LEAVE_BYTES]; /* the sequences that end our picture */
	size_t leave_len;
	volatile sig_atomic_t is_open;
	bool colour, has_cursor;
	unsigned cursor_row, cursor_column;
	char stack[STACK_BYTES]; /* for handlers: ours may have overflowed */
} terminal;

/* Set by screen_open(), before anybody can need it. */
static const struct curses *lib;

static const int deadly[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGSEGV, SIGBUS, SIGFPE, SIGILL,
    SIGABRT, SIGSYS, SIGPIPE, SIGALRM, SIGXCPU};

/* ---- leaving ---- */

/* Async-signal-safe: ncurses is not, and may be in the middle of something. */
static void leave_by_signal(int number)
{
	if (terminal.is_open) {
		terminal.is_open = 0;
		(void)write_all(STDOUT_FILENO, terminal.leave, terminal.leave_len);
		(void)tcsetattr(STDIN_FILENO, TCSANOW, &terminal.before);
	}
	/* the handler was for one time: now it does what it does */
	(void)raise(number);
}

static void set_handlers(bool ours)
{
	const stack_t stack = {.ss_sp = terminal.stack, .ss_size = sizeof(terminal.stack)};
	struct sigaction act = {.sa_handler = ours ? leave_by_signal : SIG_DFL,
	    .sa_flags = ours ? (int)SA_RESETHAND | SA_NODEFER | SA_ONSTACK : 0};

	if (ours)
		(void)sigaltstack(&stack, NULL);
	for (size_t i = 0; i < sizeof(deadly) / sizeof(deadly[0]); i++) {
		struct sigaction old;

		/* nohup, or a parent that wants no SIGINT: so it stays */
		if (sigaction(deadly[i], NULL, &old) == 0 && old.sa_handler == SIG_IGN)
			continue;
		(void)sigaction(deadly[i], &act, NULL);
	}
}

static int keep_character(int c)
{
	if (terminal.leave_len < sizeof(terminal.leave))
		terminal.leave[terminal.leave_len++] = (char)c;
	return c;
}

/* Show the cursor, plain letters, keypad off, the screen as it was. */
static void note_leaving(void)
{
	static const char *const names[] = {"sgr0", "rmkx", "cnorm", "rmcup"};

	terminal.leave_len = 0;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char *text = lib->tigetstr(names[i]);

		if (text && text != (char *)-1)
			(void)lib->tputs(text, 1, keep_character);
	}
}

void screen_close(void)
{
	if (!terminal.is_open)
		return;
	(void)lib->endwin();
	terminal.is_open = 0;
	set_handlers(false);
	lib->delscreen(terminal.screen);
	terminal.screen = NULL;
}

/* ---- opening ---- */

static void choose_colours(void)
{
	if (!terminal.colour || !lib->has_colors()) {
		terminal.colour = false;
		return;
	}
	(void)lib->start_color();
	(void)lib->use_default_colors();
	(void)lib->init_pair(1, COLOR_RED, -1);
	(void)lib->init_pair(2, COLOR_GREEN, -1);
	(void)lib->init_pair(3, COLOR_YELLOW, -1);
}

int screen_open(bool colour)
{
	int err = 0;

	if (isatty(STDIN_FILENO) != 1 || isatty(STDOUT_FILENO) != 1 ||
	    tcgetattr(STDIN_FILENO, &terminal.before) < 0)
		return -ENOTTY;
	lib = curses_load();
	if (!lib)
		return -ELIBACC;
	/* newterm() says on stderr why it fails, and a caller says it better */
	if (lib->setupterm(NULL, STDOUT_FILENO, &err) != OK)
		return -ENOENT;
	(void)lib->del_curterm(*lib->cur_term);
	terminal.screen = lib->newterm(NULL, stdout, stdin);
	if (!terminal.screen)
		return -ENOENT;
	terminal.colour = colour;
	terminal.is_open = 1;
	note_leaving();
	set_handlers(true);
	(void)lib->cbreak();
	(void)lib->noecho();
	(void)lib->nonl();
	(void)lib->curs_set(0);
	(void)lib->keypad(*lib->stdscr, TRUE);
	(void)lib->nodelay(*lib->stdscr, TRUE);
	(void)lib->set_escdelay(ESCAPE_MS);
	choose_colours();
	return 0;
}

/* ---- keys ---- */

int screen_key(void)
{
	int key = lib->wgetch(*lib->stdscr);

	switch (key) {
	case ERR:
		return SCREEN_NONE;
	case '\r':
	case '\n':
	case KEY_ENTER:
		return SCREEN_ENTER;
	case 27:
		return SCREEN_ESCAPE;
	case 8:
	case 127:
	case KEY_BACKSPACE:
		return SCREEN_BACKSPACE;
	case KEY_UP:
		return SCREEN_UP;
	case KEY_DOWN:
		return SCREEN_DOWN;
	case KEY_LEFT:
		return SCREEN_LEFT;
	case KEY_RIGHT:
		return SCREEN_RIGHT;
	case KEY_PPAGE:
		return SCREEN_PAGE_UP;
	case KEY_NPAGE:
		return SCREEN_PAGE_DOWN;
	case KEY_HOME:
		return SCREEN_HOME;
	case KEY_END:
		return SCREEN_END;
	case KEY_RESIZE:
		return SCREEN_RESIZED;
	default:
		return key >= 0 && key < 256 ? key : SCREEN_OTHER;
	}
}

/* ---- pictures ---- */

void screen_size(unsigned *ret_columns, unsigned *ret_rows)
{
	*ret_columns = *lib->COLS > 0 ? (unsigned)*lib->COLS : 1;
	*ret_rows = *lib->LINES > 0 ? (unsigned)*lib->LINES : 1;
}

void screen_clear(void)
{
	(void)lib->werase(*lib->stdscr);
	terminal.has_cursor = false;
}

static attr_t attributes_of(int style)
{
	static const struct {
		attr_t with_colour, without;
		short pair;
	} styles[] = {
	    [FIELDS_PLAIN] = {A_NORMAL, A_NORMAL, 0},
	    [FIELDS_STRONG] = {A_BOLD, A_BOLD, 0},
	    [FIELDS_DIM] = {A_DIM, A_DIM, 0},
	    [FIELDS_MORE] = {A_NORMAL, A_BOLD, 1},
	    [FIELDS_LESS] = {A_NORMAL, A_NORMAL, 2},
	    [FIELDS_BAD] = {A_BOLD, A_BOLD, 3},
	};
	int kind = style & 0xff;
	attr_t a = terminal.colour ? styles[kind].with_colour | COLOR_PAIR(styles[kind].pair)
	                           : styles[kind].without;

	if (style & SCREEN_SELECTED)
		/* letters that are dim in reverse cannot be read */
		a = (a & ~(attr_t)(A_DIM | A_COLOR)) | A_REVERSE;
	if (style & SCREEN_BAR) /* apart from the first row, if selected */
		a |= A_BOLD | A_UNDERLINE;
	if (style & SCREEN_ALARM)
		a = A_BOLD | A_REVERSE | (terminal.colour ? COLOR_PAIR(3) : A_NORMAL);
	return a;
}

void screen_put(unsigned row, unsigned column, int style, const char *text)
{
	if (row >= (unsigned)*lib->LINES || column >= (unsigned)*lib->COLS)
		return;
	(void)lib->wattrset(*lib->stdscr, (int)attributes_of(style));
	if (lib->wmove(*lib->stdscr, (int)row, (int)column) == OK)
		(void)lib->waddnstr(*lib->stdscr, text, -1);
	(void)lib->wattrset(*lib->stdscr, A_NORMAL);
}

void screen_cursor(unsigned row, unsigned column)
{
	terminal.has_cursor = true;
	terminal.cursor_row = row;
	terminal.cursor_column = column;
}

void screen_show(void)
{
	(void)lib->curs_set(terminal.has_cursor ? 1 : 0);
	if (terminal.has_cursor)
		(void)lib->wmove(
		    *lib->stdscr, (int)terminal.cursor_row, (int)terminal.cursor_column);
	(void)lib->wrefresh(*lib->stdscr);
}

void screen_redraw(void)
{
	(void)lib->clearok(*lib->stdscr, TRUE);
}
