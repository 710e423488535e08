/* pager.c - shows long results through less, as git does. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "command/shell/terminal.h"

#include "command/cmd.h"
#include "command/shell/die.h"
#include "command/options/secure.h"

enum { SHELL_CANNOT = 126, SHELL_NOT_FOUND = 127 };

/* Data of signal handlers is written before they are installed. */
static struct {
	pid_t owner; /* who started it: children of ours do not wait for it */
	pid_t pid;   /* 0: none runs */
	int answer;
	int saved[2]; /* copies of stdout, stderr; -1: was not redirected */
	volatile sig_atomic_t waiting, reaped, status;
} pager;

static const int ending[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

bool pager_runs(void)
{
	return pager.pid != 0;
}

/*
 * Closes the last writers of the pipe, so that the pager sees its end.
 * Signal-safe.
 */
static void give_back_files(void)
{
	for (int i = 0; i < 2; i++) {
		if (pager.saved[i] >= 0)
			(void)dup2(pager.saved[i], STDOUT_FILENO + i);
	}
}

/* Signal-safe. */
static void reap(int flags)
{
	int status;
	pid_t got;

	do {
		got = waitpid(pager.pid, &status, flags);
	} while (got < 0 && errno == EINTR);
	if (got == 0)
		return;
	if (!pager.reaped && got == pager.pid)
		pager.status = status;
	pager.reaped = 1;
}

/* Is nobody left who could read the output? A pager may fork. */
static bool is_abandoned(void)
{
	struct pollfd p = {.fd = STDOUT_FILENO, .events = POLLOUT};

	return poll(&p, 1, 0) == 1 && (p.revents & POLLERR) != 0;
}

static bool has_failed(void)
{
	int status = pager.status;

	return WIFEXITED(status) &&
	    (WEXITSTATUS(status) == SHELL_CANNOT || WEXITSTATUS(status) == SHELL_NOT_FOUND);
}

/* If the user quits the pager, that is not a failure: no message, no delay. */
static _Noreturn void quit(void)
{
	static const char advice[] = "seep: the pager cannot be run: set "
	                             "SEEP_PAGER, or use --no-pager\n";

	if (!has_failed())
		_exit(pager.answer);
	give_back_files();
	(void)!write(STDERR_FILENO, advice, sizeof(advice) - 1);
	_exit(CMD_INPUT);
}

static void on_child(int signal_number)
{
	int err = errno;

	(void)signal_number;
	if (!pager.waiting) {
		if (!pager.reaped)
			reap(WNOHANG);
		if (pager.reaped && is_abandoned())
			quit();
	}
	errno = err;
}

static void on_broken_pipe(int signal_number)
{
	(void)signal_number;
	if (!pager.reaped)
		reap(0);
	quit();
}

/*
 * The shell would get the terminal back while the pager still uses it. So stop
 * writing, wait for the pager, then die of the signal.
 */
static void on_ending(int signal_number)
{
	if (pager.waiting && signal_number == SIGINT)
		return; /* meant for the pager, which is all that runs */
	pager.waiting = 1;
	give_back_files();
	if (!pager.reaped)
		reap(0);
	(void)signal(signal_number, SIG_DFL);
	(void)raise(signal_number); /* delivered when this handler returns */
}

static void handle(int signal_number, void (*handler)(int), bool even_if_ignored)
{
	struct sigaction action = {.sa_handler = handler}, old;

	action.sa_flags = SA_RESTART;
	(void)sigemptyset(&action.sa_mask);
	if (sigaction(signal_number, NULL, &old) == 0 && old.sa_handler == SIG_IGN &&
	    !even_if_ignored)
		return;
	(void)sigaction(signal_number, &action, NULL);
}

static void finish(void)
{
	if (getpid() != pager.owner)
		return;
	(void)fflush(stdout);
	pager.waiting = 1;
	give_back_files();
	if (!pager.reaped)
		reap(0);
	pager.pid = 0;
	if (has_failed())
		quit();
}

static void install_handlers(void)
{
	handle(SIGPIPE, on_broken_pipe, true);
	handle(SIGCHLD, on_child, true);
	for (size_t i = 0; i < sizeof(ending) / sizeof(ending[0]); i++)
		handle(ending[i], on_ending, false);
	(void)atexit(finish);
}

#define SHELL_BYTES "|&;<>()$`\\\"' \t\n*?[#~=%"

/* Is it words only, like "less" or "/usr/bin/less -R", that need no shell? */
static bool is_less(const char *command)
{
	size_t word = strcspn(command, " \t");
	const char *base = memrchr(command, '/', word);

	base = base ? base + 1 : command;
	if ((size_t)(command + word - base) != 4 || strncmp(base, "less", 4) != 0)
		return false;
	for (const char *p = command; *p; p++)
		if (*p != ' ' && *p != '\t' && strchr(SHELL_BYTES, *p))
			return false;
	return true;
}

/*
 * Prevents less from starting a shell, an editor or another file, and removes
 * variables that could start something from its environment.
 */
static void secure_less(void)
{
	static const char *const gone[] = {"LESSSECURE_ALLOW", "LESSOPEN", "LESSCLOSE", "LESSEDIT",
	    "LESSKEY", "LESSKEYIN", "LESSKEY_CONTENT", "LESSKEYIN_SYSTEM", "LESSKEY_SYSTEM",
	    "EDITOR", "VISUAL"};

	for (size_t i = 0; i < sizeof(gone) / sizeof(gone[0]); i++)
		(void)unsetenv(gone[i]);
	(void)setenv("LESSSECURE", "1", 1);
	(void)setenv("LESSHISTFILE", "-", 1);
}

static const char *find_command(bool *ret_chosen)
{
	const char *command = getenv("SEEP_PAGER");

	if (!command)
		command = getenv("PAGER");
	*ret_chosen = command != NULL;
	if (!command)
		command = "less";
	command += strspn(command, " \t");
	if (!*command || strcmp(command, "cat") == 0)
		return NULL;
	return secure_mode() != SECURE_AUTO || is_less(command) ? command : NULL;
}

static _Noreturn void run(const char *command, int input, int failure, const sigset_t *mask)
{
	int err;

	(void)sigprocmask(SIG_SETMASK, mask, NULL);
	(void)setenv("LESS", "FRX", 0);
	(void)setenv("LV", "-c", 0);
	if (secure_mode() != SECURE_NO)
		secure_less();
	(void)dup2(input, STDIN_FILENO);
	if (strpbrk(command, SHELL_BYTES))
		(void)execl("/bin/sh", "sh", "-c", command, NULL);
	else
		(void)execlp(command, command, NULL);
	err = errno;
	(void)!write(failure, &err, sizeof(err));
	_exit(SHELL_NOT_FOUND);
}

/* Its pid, or a negative errno of fork or exec. */
static pid_t spawn(const char *command, int input, const sigset_t *mask)
{
	int failure[2], err = 0;
	ssize_t n;
	pid_t pid;

	if (pipe2(failure, O_CLOEXEC) < 0)
		return -errno;
	pid = fork();
	if (pid == 0)
		run(command, input, failure[1], mask);
	if (pid < 0)
		err = errno;
	close(failure[1]);
	do {
		n = read(failure[0], &err, sizeof(err));
	} while (n < 0 && errno == EINTR);
	close(failure[0]);
	if (err == 0)
		return pid;
	if (pid > 0)
		(void)waitpid(pid, NULL, 0);
	return -err;
}

static void redirect(int output)
{
	for (int i = 0; i < 2; i++) {
		int fd = STDOUT_FILENO + i;

		pager.saved[i] = -1;
		if (fd == STDERR_FILENO && isatty(fd) != 1)
			continue;
		pager.saved[i] = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
		(void)dup2(output, fd);
	}
}

/* False: there is no pager, and the descriptors are unchanged. */
static bool attach(const char *command, bool chosen, const sigset_t *mask)
{
	int fds[2];
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return false;
	pid = spawn(command, fds[0], mask);
	if (pid > 0) {
		pager.owner = getpid();
		pager.pid = pid;
		redirect(fds[1]);
	} else if (chosen) {
		die_warn("the pager \"%s\" cannot be run: %s", command, strerror(-pid));
	}
	close(fds[0]);
	close(fds[1]);
	return pid > 0;
}

void pager_start(const struct terminal *t, int answer)
{
	sigset_t all, mask;
	const char *command;
	bool chosen;

	if (!t->is_terminal || t->is_dumb || pager.pid)
		return;
	command = find_command(&chosen);
	if (!command)
		return;
	(void)fflush(stdout);
	pager.answer = answer;
	/* blocks signals until the handlers are installed */
	(void)sigfillset(&all);
	(void)sigprocmask(SIG_SETMASK, &all, &mask);
	if (attach(command, chosen, &mask)) {
		install_handlers();
		(void)sigdelset(&mask, SIGPIPE);
		(void)sigdelset(&mask, SIGCHLD);
	}
	(void)sigprocmask(SIG_SETMASK, &mask, NULL);
}
