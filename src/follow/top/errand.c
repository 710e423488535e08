/* errand.c - something done by a child process, while the screen lives on. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "follow/top/errand.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "names/jail/child.h"
#include "kit/words/text.h"

enum { GRACE_MS = 100 };

static _Noreturn void run_child(pid_t parent, int to, int (*work)(void *context), void *context)
{
	static const int all[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGSEGV, SIGBUS, SIGFPE, SIGILL,
	    SIGABRT, SIGTSTP, SIGWINCH, SIGPIPE};
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		(void)signal(all[i], SIG_DFL);
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	(void)dup2(null, STDIN_FILENO);
	(void)dup2(to, STDOUT_FILENO);
	(void)dup2(to, STDERR_FILENO);
	exit(work(context));
}

int errand_start(struct errand *e, int (*work)(void *context), void *context)
{
	pid_t parent = getpid();
	int ends[2];

	if (e->child > 0)
		return -EBUSY;
	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	(void)fflush(NULL); /* or the child would write it once more */
	*e = (struct errand){.fd = ends[0]};
	e->child = fork();
	if (e->child == 0) {
		(void)close(ends[0]);
		run_child(parent, ends[1], work, context);
	}
	(void)close(ends[1]);
	if (e->child < 0) {
		int err = -errno;

		(void)close(ends[0]);
		*e = (struct errand){0};
		return err;
	}
	(void)fcntl(e->fd, F_SETFL, O_NONBLOCK);
	return 0;
}

int errand_fd(const struct errand *e)
{
	return e->child > 0 ? e->fd : -1;
}

static bool end(struct errand *e, unsigned grace_ms)
{
	int status = 0;
	bool ended = child_end(e->child, grace_ms, &status);

	(void)close(e->fd);
	e->child = 0;
	return ended && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool errand_receive(struct errand *e, bool *ret_ok)
{
	static const char prefix[] = "seep: ";
	char more[ERRAND_TEXT];
	ssize_t n;

	for (;;) {
		n = read(e->fd, more, sizeof(more));
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return false;
		if (n <= 0)
			break;
		if ((size_t)n > sizeof(e->text) - 1 - e->len)
			n = (ssize_t)(sizeof(e->text) - 1 - e->len);
		memcpy(e->text + e->len, more, (size_t)n);
		e->len += (size_t)n;
	}
	e->text[e->len] = '\0';
	e->text[strcspn(e->text, "\n")] = '\0';
	if (text_begins_with(e->text, prefix))
		memmove(e->text, e->text + strlen(prefix), strlen(e->text + strlen(prefix)) + 1);
	*ret_ok = end(e, GRACE_MS);
	return true;
}

void errand_stop(struct errand *e)
{
	if (e->child > 0)
		(void)end(e, 0);
}
