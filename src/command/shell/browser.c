/* browser.c - shows a file in the user's browser. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "command/shell/terminal.h"

#include <spawn.h>

enum {
	WORDS = 30,    /* words of $BROWSER */
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
 * Runs $BROWSER, a program and its first arguments, or xdg-open if there is a
 * screen; the page comes last, and no shell is involved. Returns whether it
 * worked.
 */
static bool run_browser(const char *path, pid_t *ret_pid)
{
	const char *line = getenv("BROWSER");
	char *copy, *page = strdup(path), *state = NULL, *words[WORDS + 2];
	bool done = false;
	size_t n = 0;

	if (!line || !*line)
		line = has_display() ? "xdg-open" : "";
	copy = strdup(line);
	for (char *w = copy ? strtok_r(copy, " ", &state) : NULL; w && n < WORDS;
	     w = strtok_r(NULL, " ", &state))
		words[n++] = w;
	if (n > 0 && page) {
		words[n] = page;
		words[n + 1] = NULL;
		done = start(words, ret_pid);
	}
	free(copy);
	free(page);
	return done;
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
		answer = run_browser(path, &browser) ? 1 : 0;
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
