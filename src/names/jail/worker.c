/* worker.c - runs lookups in child processes, which may die. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "names/jail/worker.h"

#include "names/dwarf/objfile.h"
#include "names/jail/jail.h"
#include "kit/os/clock.h"
#include "kit/os/helper.h"

enum {
	READ_BYTES = 256 << 10,
	WORKERS_MAX = 16, /* processes at a time */
	EXIT_NO_MEMORY = 3,
	END_MS = 1000, /* from its last answer to its end */
};

struct job {
	const struct lookup_request *request;
	const struct worker_limits *limits;
};

static int work(int fd, void *context)
{
	const struct job *job = context;
	struct lookup_request r = *job->request;
	int err;

	debugfile_prepare();
	r.jail_error = jail_enter(fd, job->limits->memory_bytes, job->limits->seconds);
	err = lookup_run(&r, JAIL_FD);
	return err == -ENOMEM ? EXIT_NO_MEMORY : err < 0;
}

static int give_file(void *context, const uint8_t *body, size_t len)
{
	struct worker *w = context;

	return file_answer_ask(w->answer, w->fd, body, len);
}

int worker_start(struct worker *w, const struct lookup_request *r, struct table *t,
    struct answer *answer, const struct worker_limits *limits)
{
	struct job job = {.request = r, .limits = limits};
	/* the jail takes its rights, signals and descriptors */
	const struct helper_plan plan = {.run = work, .context = &job, .channel = HELPER_STREAM};
	int err;

	*w = (struct worker){.limits = *limits, .answer = answer};
	w->in.table = t;
	w->in.only = &r->key;
	w->in.ask = give_file;
	w->in.ask_context = w;
	w->buffer = malloc(READ_BYTES);
	if (!w->buffer)
		return -ENOMEM;
	w->room = READ_BYTES;
	err = helper_start(&plan, &w->pid, &w->fd);
	w->deadline_ns = clock_ns(CLOCK_MONOTONIC) + (uint64_t)limits->wall_seconds * 1000000000;
	if (err < 0)
		free(w->buffer);
	return err;
}

/* Why it ended before its work was done. */
static void explain(struct worker *w, int status)
{
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGINT) {
		w->interrupted = true;
		(void)snprintf(w->why, sizeof(w->why), "interrupted");
	} else if (WIFSIGNALED(status) &&
	    (WTERMSIG(status) == SIGXCPU || WTERMSIG(status) == SIGKILL)) {
		(void)snprintf(
		    w->why, sizeof(w->why), "reading it took more than %u s", w->limits.seconds);
	} else if (WIFSIGNALED(status)) {
		(void)snprintf(
		    w->why, sizeof(w->why), "reading it crashed (%s)", strsignal(WTERMSIG(status)));
	} else if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_NO_MEMORY) {
		(void)snprintf(w->why, sizeof(w->why),
		    "reading it needed more than %u MiB of memory",
		    (unsigned)(w->limits.memory_bytes >> 20));
	} else {
		(void)snprintf(w->why, sizeof(w->why), "reading it failed");
	}
}

/* If `why` is NULL, the exit status decides. */
static void finish(struct worker *w, const char *why)
{
	int status = 0;

	close(w->fd);
	if (!helper_end(w->pid, why ? 0 : END_MS, &status)) {
		w->left = true;
		why = "reading it did not end, its file system does not answer";
	}
	w->complete = w->in.done && !why;
	if (why)
		(void)snprintf(w->why, sizeof(w->why), "%s", why);
	else if (!w->complete)
		explain(w, status);
	w->pid = 0;
	free(w->buffer);
	w->buffer = NULL;
	w->in.table = NULL;
	wire_get_release(&w->in);
}

static void stop(struct worker *w, const char *why)
{
	if (w->pid)
		finish(w, why);
}

/* If an item is longer than the buffer, the buffer grows. */
static bool has_room(struct worker *w)
{
	uint8_t *more;

	if (w->room > w->len)
		return true;
	more = realloc(w->buffer, w->room * 2);
	if (!more)
		return false;
	w->buffer = more;
	w->room *= 2;
	return true;
}

static void take(struct worker *w)
{
	ssize_t n = -1;
	size_t used;
	int err;

	if (!has_room(w)) {
		finish(w, "out of memory");
		return;
	}
	n = read(w->fd, w->buffer + w->len, w->room - w->len);
	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n <= 0) {
		finish(w, NULL);
		return;
	}
	w->len += (size_t)n;
	err = wire_get(&w->in, w->buffer, w->len, &used);
	if (err < 0) {
		finish(w,
		    err == -EFBIG        ? "it has more names than seep keeps"
		        : err == -ENOMEM ? "out of memory"
		                         : "the process that read it sent invalid data");
		return;
	}
	memmove(w->buffer, w->buffer + used, w->len - used);
	w->len -= used;
}

void worker_wait(struct worker *list, size_t count, int timeout_ms, uint64_t deadline_ns)
{
	struct pollfd fds[WORKERS_MAX];
	size_t running = 0;
	uint64_t now;

	if (count > WORKERS_MAX)
		count = WORKERS_MAX;
	for (size_t i = 0; i < count; i++) {
		fds[i] = (struct pollfd){.fd = list[i].pid ? list[i].fd : -1, .events = POLLIN};
		running += list[i].pid != 0;
	}
	if (running > 0) /* otherwise none could be started */
		(void)poll(fds, count, timeout_ms);
	now = clock_ns(CLOCK_MONOTONIC);
	for (size_t i = 0; i < count; i++) {
		struct worker *w = &list[i];

		if (w->pid && (fds[i].revents & (POLLIN | POLLHUP | POLLERR)))
			take(w);
		if (w->pid && deadline_ns && now > deadline_ns) {
			w->late = true;
			stop(w, "there was no time to read it");
		}
		if (w->pid && now > w->deadline_ns)
			stop(w, "reading it took too long");
	}
}
