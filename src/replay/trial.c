/* trial.c - one run of seep-replay-run with one allocator. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/trial.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "host/proc/procfs.h"
#include "kit/os/clock.h"
#include "kit/words/text.h"

enum {
	SCRIPT_FD = 3, /* in the performer */
	RESULT_FD = 4,
	ABOVE = 10, /* descriptors that are not one of these */
	LOOK_MS = 50,
};

/* ---- the environment ---- */

static bool is_kept(const char *entry)
{
	return !text_begins_with(entry, "LD_PRELOAD=") &&
	    !text_begins_with(entry, "GLIBC_TUNABLES=") && !text_begins_with(entry, "SEEP_");
}

static char *variable(const char *name, const char *value)
{
	char *entry;

	return asprintf(&entry, "%s=%s", name, value) < 0 ? NULL : entry;
}

/* Ends with NULL; the first two may be ours. NULL: -ENOMEM. */
struct environment {
	char *preload, *tunables;
	char **entries;
};

static int make_environment(const struct trial_plan *plan, struct environment *e)
{
	size_t count = 0, n = 0;

	while (environ[count])
		count++;
	*e = (struct environment){0};
	e->entries = calloc(count + 3, sizeof(*e->entries));
	if (!e->entries)
		return -ENOMEM;
	if (plan->preload) {
		e->preload = variable("LD_PRELOAD", plan->preload);
		e->entries[n++] = e->preload;
	}
	if (plan->tunables) {
		e->tunables = variable("GLIBC_TUNABLES", plan->tunables);
		e->entries[n++] = e->tunables;
	}
	if ((plan->preload && !e->preload) || (plan->tunables && !e->tunables))
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		if (is_kept(environ[i]))
			e->entries[n++] = environ[i];
	return 0;
}

static void release_environment(struct environment *e)
{
	free(e->preload);
	free(e->tunables);
	free(e->entries);
}

/* ---- the child ---- */

struct pipes {
	int result[2], said[2];
};

static void close_both(const int fds[2])
{
	for (int i = 0; i < 2; i++)
		if (fds[i] >= 0)
			(void)close(fds[i]);
}

/* What the child writes on stderr must never make it wait. */
static int open_pipes(struct pipes *p)
{
	*p = (struct pipes){{-1, -1}, {-1, -1}};
	if (pipe2(p->result, O_CLOEXEC) == 0 && pipe2(p->said, O_CLOEXEC | O_NONBLOCK) == 0)
		return 0;
	return -errno;
}

static void place(int fd, int at)
{
	if (fd >= 0)
		(void)dup2(fd, at); /* the copy stays open across exec */
}

/* In the child: only functions that may be called after fork(). */
static _Noreturn void become(const struct trial_plan *plan, const struct pipes *p, pid_t parent,
    char *const argv[], char *const env[])
{
	int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
	int script = plan->script < 0 ? -1 : fcntl(plan->script, F_DUPFD_CLOEXEC, ABOVE);
	int result = fcntl(p->result[1], F_DUPFD_CLOEXEC, ABOVE);
	int said = fcntl(p->said[1], F_DUPFD_CLOEXEC, ABOVE);
	sigset_t none;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(127); /* it has ended already */
	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	place(nothing, STDIN_FILENO);
	place(nothing, STDOUT_FILENO);
	place(plan->mode == SCRIPT_PROBE ? said : nothing, STDERR_FILENO);
	place(script, SCRIPT_FD);
	place(result, RESULT_FD);
	(void)execve(argv[0], argv, env);
	_exit(127);
}

static int start(const struct trial_plan *plan, const struct pipes *p, pid_t *ret)
{
	char mode[16], script[16], result[16], *performer;
	struct environment e;
	pid_t parent = getpid();
	int err = make_environment(plan, &e);

	performer = strdup(plan->performer);
	if (!performer)
		err = -ENOMEM;
	(void)snprintf(mode, sizeof(mode), "%d", (int)plan->mode);
	(void)snprintf(script, sizeof(script), "%d", SCRIPT_FD);
	(void)snprintf(result, sizeof(result), "%d", RESULT_FD);
	if (err == 0) {
		char *const argv[] = {performer, mode, script, result, NULL};

		*ret = fork();
		if (*ret == 0)
			become(plan, p, parent, argv, e.entries);
		err = *ret < 0 ? -errno : 0;
	}
	free(performer);
	release_environment(&e);
	return err;
}

/* ---- waiting ---- */

struct watch {
	pid_t pid;
	clockid_t clock;
	uint64_t used_ns;  /* CPU at the last look at which it had changed */
	uint64_t moved_ns; /* when that was */
};

static void begin_watch(struct watch *w, pid_t pid)
{
	*w = (struct watch){.pid = pid, .moved_ns = clock_ns(CLOCK_MONOTONIC)};
	if (clock_getcpuclockid(pid, &w->clock) != 0)
		w->clock = CLOCK_MONOTONIC; /* never stalls */
}

/* TRIAL_DONE: it may go on. */
static enum trial_end look(struct watch *w, const struct trial_plan *plan)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC), used = clock_ns(w->clock);

	if (used != w->used_ns) {
		w->used_ns = used;
		w->moved_ns = now;
	}
	if (plan->idle_ns && now - w->moved_ns > plan->idle_ns)
		return TRIAL_STALLED;
	if (plan->memory_max && procfs_resident(w->pid) > plan->memory_max)
		return TRIAL_MEMORY;
	return TRIAL_DONE;
}

/* Reads the result, and looks at the run meanwhile. */
static void wait_for_result(
    const struct trial_plan *plan, int fd, pid_t pid, struct trial_outcome *ret)
{
	char *to = (char *)&ret->result;
	size_t have = 0;
	struct watch w;
	ssize_t n = 1;

	begin_watch(&w, pid);
	ret->end = TRIAL_DONE;
	while (n > 0 && have < sizeof(ret->result) && ret->end == TRIAL_DONE) {
		struct pollfd p = {.fd = fd, .events = POLLIN};
		int got = poll(&p, 1, LOOK_MS);

		if (got == 0)
			ret->end = look(&w, plan);
		if (got <= 0)
			continue;
		n = read(fd, to + have, sizeof(ret->result) - have);
		if (n < 0 && errno == EINTR)
			n = 1;
		else if (n > 0)
			have += (size_t)n;
	}
	if (ret->end != TRIAL_DONE)
		(void)kill(pid, SIGKILL);
	else if (have < sizeof(ret->result) || ret->result.magic != SCRIPT_MAGIC)
		ret->end = TRIAL_FAILED;
}

/* What the process's end says about a run without a result. */
static void judge(struct trial_outcome *o, int status)
{
	if (o->end == TRIAL_DONE && o->result.error) {
		o->end = TRIAL_FAILED;
		o->detail = (int)o->result.error;
	}
	if (o->end == TRIAL_FAILED && WIFSIGNALED(status)) {
		o->end = TRIAL_SIGNAL;
		o->detail = WTERMSIG(status);
	}
}

int trial_run(const struct trial_plan *plan, struct trial_outcome *ret)
{
	struct pipes p;
	int status = 0, err = open_pipes(&p);
	pid_t pid = -1;
	ssize_t n;

	memset(ret, 0, sizeof(*ret));
	if (err == 0)
		err = start(plan, &p, &pid);
	if (err < 0)
		goto out;
	(void)close(p.result[1]);
	p.result[1] = -1;
	wait_for_result(plan, p.result[0], pid, ret);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		continue;
	judge(ret, status);
	ret->result.malloc_path[SCRIPT_PATH_BYTES - 1] = '\0';
	n = read(p.said[0], ret->said, sizeof(ret->said) - 1);
	ret->said[n > 0 ? n : 0] = '\0';
out:
	close_both(p.result);
	close_both(p.said);
	return err;
}
