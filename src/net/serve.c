/* serve.c - answers about the processes that are traced now, by HTTP. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "net/serve.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "net/http.h"
#include "net/token.h"
#include "util/clock.h"
#include "util/text.h"

#define MS UINT64_C(1000000)

enum { LOOK_MS = 1000 };

struct serve {
	const struct serve_plan *plan;
	struct live *live; /* the loop's */
	struct http *http;
	char *token;
	int listen_fd;
};

/* ---- replies ---- */

static void
reply_home(struct serve *s, struct http_exchange *x)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	if (!out) {
		http_reply_text(x, 500, "out of memory");
		return;
	}
	for (size_t i = 0; i < live_count(s->live); i++) {
		const struct live_process *p = live_at(s->live, i);

		(void)fprintf(out, "%d\t", (int)p->pid);
		text_print(out, p->service);
		(void)fprintf(
		    out, "\t%llu\n", (unsigned long long)p->now.live_bytes);
	}
	if (fclose(out) != 0) {
		free(text);
		http_reply_text(x, 500, "out of memory");
		return;
	}
	http_reply(x, 200, "text/plain; charset=utf-8", text, len);
}

static void
answer(void *context, struct http_exchange *x)
{
	struct serve *s = context;

	if (strcmp(http_path(x), "/") == 0)
		reply_home(s, x);
	else
		http_reply_text(x, 404, "there is no such page; see /");
}

static void
gone(void *context, struct http_exchange *x)
{
	(void)context;
	(void)x;
}

/* ---- the guest ---- */

static void
nothing(int sig)
{
	(void)sig;
}

/*
 * A client that goes while a file is sent raises SIGPIPE. A handler, unlike
 * SIG_IGN, is not inherited by programs that are run.
 */
static void
survive_pipes(void)
{
	struct sigaction old,
	    a = {.sa_handler = nothing, .sa_flags = SA_RESTART};

	if (sigaction(SIGPIPE, NULL, &old) == 0 && old.sa_handler == SIG_DFL)
		(void)sigaction(SIGPIPE, &a, NULL);
}

static int
begin(void *context, struct live *l, struct fault *where)
{
	(void)where;
	((struct serve *)context)->live = l;
	return 0;
}

static void
looked(void *context)
{
	(void)context;
}

static int
fd_of(void *context)
{
	return http_fd(((struct serve *)context)->http);
}

static int
wait_of(void *context)
{
	return http_wait_ms(((struct serve *)context)->http);
}

static void
step(void *context)
{
	http_step(((struct serve *)context)->http);
}

static void
end(void *context)
{
	struct serve *s = context;

	http_free(s->http);
	if (s->listen_fd >= 0) {
		address_leave(&s->plan->address, s->listen_fd);
		(void)close(s->listen_fd);
	}
	token_free(s->token);
	free(s);
}

static int
listen_to(struct serve *s, struct fault *where)
{
	const struct serve_plan *plan = s->plan;
	struct http_plan http = {.listen_fd = -1,
	    /* a browser has no way to a path, nor a foreign page the token */
	    .any_host = plan->address.is_unix || plan->token_file,
	    .hosts = plan->hosts,
	    .host_count = plan->host_count,
	    .answer = answer,
	    .gone = gone,
	    .context = s};
	int err = 0;

	if (plan->token_file)
		err = token_read(plan->token_file, &s->token, where);
	if (err < 0)
		return err;
	http.token = s->token;
	s->listen_fd = address_listen(&plan->address, where);
	if (s->listen_fd < 0)
		return s->listen_fd;
	http.listen_fd = s->listen_fd;
	err = http_new(&http, &s->http);
	return err < 0 ? fault_set(where, err, "%s", strerror(-err)) : 0;
}

int
serve_guest(
    const struct serve_plan *plan, struct guest *ret, struct fault *where)
{
	struct serve *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return fault_set(where, -ENOMEM, "out of memory");
	s->plan = plan;
	s->listen_fd = -1;
	err = listen_to(s, where);
	if (err < 0) {
		end(s);
		return err;
	}
	survive_pipes();
	*ret = (struct guest){.context = s,
	    .begin = begin,
	    .looked = looked,
	    .met = looked,
	    .fd = fd_of,
	    .wait_ms = wait_of,
	    .step = step,
	    .end = end};
	return 0;
}

/* ---- a loop of our own ---- */

static int
take_over_signals(void)
{
	sigset_t set;

	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGTERM);
	(void)sigaddset(&set, SIGINT);
	(void)sigaddset(&set, SIGHUP);
	if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
		return -errno;
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static int
wait_ms(const struct guest *g, uint64_t next_ns)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);
	int ms = next_ns <= now ? 0 : (int)((next_ns - now) / MS) + 1;
	int own = g->wait_ms(g->context);

	return own >= 0 && own < ms ? own : ms;
}

static int
loop(struct live *l, const struct guest *g, int signals)
{
	uint64_t next = 0;
	int err = 0;

	while (err == 0) {
		struct pollfd fds[] = {
		    {.fd = signals, .events = POLLIN},
		    {.fd = live_wake_fd(l), .events = POLLIN},
		    {.fd = g->fd(g->context), .events = POLLIN},
		};
		uint64_t now = clock_ns(CLOCK_MONOTONIC);

		if (now >= next) {
			err = live_look(l);
			g->looked(g->context);
			next = clock_ns(CLOCK_MONOTONIC) + LOOK_MS * MS;
		}
		if (err == 0 && poll(fds, 3, wait_ms(g, next)) < 0 &&
		    errno != EINTR)
			err = -errno;
		if (fds[0].revents & POLLIN)
			break;
		if (err == 0 && fds[1].revents & POLLIN) {
			err = live_look_at_roster(l);
			g->met(g->context);
		}
		g->step(g->context);
	}
	return err;
}

int
serve_run(const struct serve_plan *plan, struct fault *where)
{
	const struct live_plan live = {.directories = plan->directories,
	    .pids = plan->pids,
	    .pid_count = plan->pid_count};
	struct guest g = {.context = NULL};
	struct live *l = NULL;
	int signals, err;

	err = serve_guest(plan, &g, where);
	if (err < 0)
		return err;
	signals = take_over_signals();
	if (signals < 0)
		err = -errno;
	if (err == 0)
		err = live_new(&live, &l);
	if (err < 0)
		(void)fault_set(where, err, "%s", strerror(-err));
	if (err == 0)
		err = g.begin(g.context, l, where);
	if (err == 0) {
		char text[ADDRESS_TEXT + 64];

		(void)snprintf(text, sizeof(text), "listening on %s%s",
		    plan->address.is_unix ? "" : "http://", plan->address.text);
		plan->say(plan->context, text);
		err = loop(l, &g, signals);
		if (err < 0)
			(void)fault_set(where, err, "%s", strerror(-err));
	}
	g.end(g.context);
	live_free(l);
	if (signals >= 0)
		(void)close(signals);
	return err;
}
