/* browser.c - shows a file in the user's browser. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "command/shell/browser.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	WORDS = 30,    /* words of a command line in $BROWSER */
	MESSENGER = 5, /* seconds: who runs longer is the browser itself */
	LOADING = 10,  /* seconds for a browser to load the page */
};

/* Is there a screen that a browser could open on? */
static bool has_display(void)
{
	const char *const names[] = {"WAYLAND_DISPLAY", "DISPLAY"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *value = getenv(names[i]);

		if (value && *value)
			return true;
	}
	return false;
}

/*
 * Starts it and waits a second. If it keeps running, *ret_pid is its pid; 0: it
 * has ended well.
 */
static bool start(char *const *words, pid_t *ret_pid)
{
	pid_t pid;
	int status;

	*ret_pid = 0;
	if (posix_spawnp(&pid, words[0], NULL, NULL, words, environ) != 0)
		return false;
	for (int i = 0; i < 20; i++) {
		if (waitpid(pid, &status, WNOHANG) == pid)
			return WIFEXITED(status) && WEXITSTATUS(status) == 0;
		(void)usleep(50000);
	}
	*ret_pid = pid;
	return true; /* it is a browser, not a messenger to one */
}

/*
 * Runs a command line of $BROWSER ("firefox -P work %s") without a shell: words
 * are split at spaces, and %s is the page, which otherwise comes last. Returns
 * whether it worked.
 */
static bool run_browser(const char *line, const char *path, pid_t *ret_pid)
{
	char *copy = strdup(line), *page = strdup(path), *state = NULL;
	char *words[WORDS + 2];
	bool is_placed = false, done = false;
	size_t n = 0;

	if (!copy || !page)
		goto out;
	for (char *w = strtok_r(copy, " \t", &state); w && n < WORDS;
	     w = strtok_r(NULL, " \t", &state)) {
		bool is_page = strcmp(w, "%s") == 0;

		words[n++] = is_page ? page : w;
		is_placed = is_placed || is_page;
	}
	if (n == 0)
		goto out;
	if (!is_placed)
		words[n++] = page;
	words[n] = NULL;
	done = start(words, ret_pid);
out:
	free(copy);
	free(page);
	return done;
}

/*
 * $BROWSER is a list of commands, separated by ':'; the first one that works is
 * used.
 */
static bool run_first(const char *path, pid_t *ret_pid)
{
	const char *list = getenv("BROWSER");
	char *copy, *state = NULL;
	bool done = false;

	if (list && *list) {
		copy = strdup(list);
		for (char *one = copy ? strtok_r(copy, ":", &state) : NULL; one && !done;
		     one = strtok_r(NULL, ":", &state))
			done = run_browser(one, path, ret_pid);
		free(copy);
		return done;
	}
	return has_display() && run_browser("xdg-open", path, ret_pid);
}

/* From here on this process prints nothing, and nobody waits for it. */
static void leave_terminal(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int fd = 0; fd <= 2; fd++)
		(void)(null >= 0 ? dup2(null, fd) : close(fd));
	(void)close_range(3, ~0U, 0);
	(void)setsid();
	(void)!chdir("/");
}

/* Waits until nobody needs the page any more, then removes it. */
static void remove_later(const char *path, const char *folder, pid_t browser)
{
	time_t begin = time(NULL);

	leave_terminal();
	while (browser > 0 && waitpid(browser, NULL, 0) < 0 && errno == EINTR)
		continue;
	/*
	 * a command that passed the page to another process has ended too early
	 */
	if (time(NULL) - begin < MESSENGER)
		(void)sleep(LOADING);
	(void)unlink(path);
	(void)rmdir(folder);
}

bool browser_open(const char *path, const char *folder)
{
	int ends[2];
	char answer = 0;
	pid_t pid, browser;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return false;
	(void)fflush(NULL);
	pid = fork();
	if (pid == 0) {
		answer = run_first(path, &browser) ? 1 : 0;
		(void)!write(ends[1], &answer, 1);
		if (answer && folder)
			remove_later(path, folder, browser);
		_exit(0);
	}
	(void)close(ends[1]);
	while (pid > 0 && read(ends[0], &answer, 1) < 0 && errno == EINTR)
		continue;
	(void)close(ends[0]);
	return answer == 1;
}
