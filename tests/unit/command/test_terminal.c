/* test_terminal.c - what a terminal shows, and the line of progress on it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <pty.h>
#include <sys/ioctl.h>

#include "test.h"
#include "command/shell/die.h"
#include "command/shell/terminal.h"

/* A terminal of so many columns; what is written to *ret comes out here. */
static int make_terminal(unsigned short columns, int *ret)
{
	struct winsize size = {.ws_row = 24, .ws_col = columns};
	int master;

	assert_int_equal(openpty(&master, ret, NULL, NULL, &size), 0);
	return master;
}

static struct terminal look(int fd, int colour)
{
	struct terminal t;

	terminal_look(fd, colour, &t);
	return t;
}

TEST(columns_are_the_terminals_unless_told)
{
	int fd, master = make_terminal(132, &fd), pipes[2];

	unsetenv("COLUMNS");
	assert_int_equal(terminal_columns(fd), 132);
	setenv("COLUMNS", "97", 1);
	assert_int_equal(terminal_columns(fd), 97);
	setenv("COLUMNS", "wide", 1);
	assert_int_equal(terminal_columns(fd), 132);
	setenv("COLUMNS", "99999999999999999999", 1);
	assert_in_range(terminal_columns(fd), 132, 10000);
	setenv("COLUMNS", "3", 1);
	assert_int_equal(terminal_columns(fd), 40);
	unsetenv("COLUMNS");
	assert_int_equal(pipe(pipes), 0);
	assert_int_equal(terminal_columns(pipes[1]), 0);
	close(fd);
	close(master);
	master = make_terminal(0, &fd); /* as a serial line says */
	assert_int_equal(terminal_columns(fd), 80);
	close(fd);
	close(master);
	close(pipes[0]);
	close(pipes[1]);
}

TEST(colour_is_for_terminals_that_want_it)
{
	int fd, master = make_terminal(80, &fd), pipes[2];

	assert_int_equal(pipe(pipes), 0);
	setenv("TERM", "xterm", 1);
	unsetenv("NO_COLOR");
	assert_true(look(fd, TERMINAL_AUTO).colour);
	assert_false(look(fd, TERMINAL_NEVER).colour);
	assert_false(look(pipes[1], TERMINAL_AUTO).colour);
	assert_true(look(pipes[1], TERMINAL_ALWAYS).colour);
	setenv("NO_COLOR", "", 1);
	assert_true(look(fd, TERMINAL_AUTO).colour);
	setenv("NO_COLOR", "0", 1);
	assert_false(look(fd, TERMINAL_AUTO).colour);
	assert_true(look(fd, TERMINAL_ALWAYS).colour);
	unsetenv("NO_COLOR");
	setenv("TERM", "dumb", 1);
	assert_false(look(fd, TERMINAL_AUTO).colour);
	unsetenv("TERM");
	assert_false(look(fd, TERMINAL_AUTO).colour);
	for (int i = 0; i < 2; i++)
		close(pipes[i]);
	close(fd);
	close(master);
}

static void sleep_ms(long ms)
{
	const struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};

	(void)nanosleep(&t, NULL);
}

/* What `work` writes to a stderr that is a terminal of 60 columns. */
static void watch(void (*work)(void), char *ret, size_t bytes)
{
	int fd, master = make_terminal(60, &fd), status;
	size_t at = 0;
	ssize_t n;
	pid_t pid;

	setenv("TERM", "xterm", 1);
	unsetenv("COLUMNS");
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		(void)dup2(fd, STDERR_FILENO);
		close(fd);
		close(master);
		work();
		exit(0);
	}
	close(fd);
	while (at + 1 < bytes && (n = read(master, ret + at, bytes - at - 1)) > 0)
		at += (size_t)n;
	ret[at] = '\0';
	close(master);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

/* What a person sees at the end: lines, "\r" and erasing done. */
static void settle(const char *raw, char *ret, size_t bytes)
{
	char *line = ret, *at = ret;

	memset(ret, 0, bytes);
	for (; *raw; raw++) {
		if (strncmp(raw, "\033[K", 3) == 0) {
			memset(at, 0, strlen(at));
			raw += 2;
		} else if (*raw == '\r') {
			at = line;
		} else if (*raw == '\n') {
			line += strlen(line);
			*line++ = '\n';
			at = line;
		} else {
			*at++ = *raw;
		}
	}
}

static void work_short(void)
{
	progress_begin("reading", "seep.data");
	sleep_ms(200);
	progress_end();
}

static void work_long(void)
{
	progress_begin("reading", "a\tlong\033[31mname");
	progress_at(30, 120);
	sleep_ms(2000);
	die_warn("a warning in between");
	progress_begin("sorting it into the most excellent order that one could "
	               "ever think of",
	    NULL);
	progress_at(12345, 0);
	sleep_ms(500);
	progress_end();
	progress_end(); /* twice does no harm */
	die_warn("the last word");
}

static void work_and_exit(void)
{
	progress_begin("reading", "seep.data");
	sleep_ms(1300);
	exit(0); /* the line goes all the same */
}

static void work_stopped(void)
{
	progress_begin("reading", "seep.data");
	progress_stop();
	progress_begin("finding names", NULL);
	sleep_ms(1300);
}

TEST(nothing_is_shown_when_it_was_stopped)
{
	char raw[4096];

	watch(work_stopped, raw, sizeof(raw));
	assert_string_equal(raw, "");
}

TEST(short_work_shows_nothing)
{
	char raw[4096];

	watch(work_short, raw, sizeof(raw));
	assert_string_equal(raw, "");
}

TEST(long_work_shows_one_line_that_goes_away)
{
	char raw[8192], seen[sizeof(raw)];

	watch(work_long, raw, sizeof(raw));
	assert_non_null(strstr(raw, "seep: reading a\\x09long\\x1b[31mname: 25%, "));
	assert_non_null(strstr(raw, "seep: sorting it into the most"));
	for (char *at = raw; (at = strstr(at, "seep: sorting")); at++)
		assert_true(strcspn(at, "\r\033") < 60);
	settle(raw, seen, sizeof(seen));
	assert_string_equal(seen, "seep: a warning in between\nseep: the last word\n");
}

TEST(the_line_is_gone_after_exit)
{
	char raw[8192], seen[sizeof(raw)];

	watch(work_and_exit, raw, sizeof(raw));
	assert_non_null(strstr(raw, "seep: reading seep.data, "));
	settle(raw, seen, sizeof(seen));
	assert_string_equal(seen, "");
}

TEST(nothing_is_shown_elsewhere)
{
	int saved = dup(STDERR_FILENO), pipes[2];
	char raw[64];

	assert_int_equal(pipe(pipes), 0);
	(void)dup2(pipes[1], STDERR_FILENO);
	close(pipes[1]);
	progress_begin("reading", "seep.data");
	sleep_ms(1300);
	progress_end();
	(void)dup2(saved, STDERR_FILENO);
	close(saved);
	assert_int_equal(read(pipes[0], raw, sizeof(raw)), 0);
	close(pipes[0]);
}
