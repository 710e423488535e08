/* serve.c - answers about the processes that are traced now, by HTTP. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "follow/serve/serve.h"

#include <pthread.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>

#include "follow/serve/serve_parts.h"
#include "follow/serve/http.h"
#include "kit/os/clock.h"
#include "kit/os/descriptor.h"
#include "follow/history/watch.h"

#define MS UINT64_C(1000000)

enum {
	LOOK_MS = 10000, /* if nobody asks: processes come and end at any time */
	ROSTER_MS = 100, /* between looks at who came and who ended */
};

void serve_looked(struct serve *s, uint64_t begun_ns)
{
	s->looked_ns = clock_ns(CLOCK_MONOTONIC);
	s->looks++;
	s->look_ns += s->looked_ns - begun_ns;
	(void)services_update(s->services);
}

/* ---- the guest ---- */

static void nothing(int sig)
{
	(void)sig;
}

/*
 * A client that goes while a file is sent raises SIGPIPE. A handler, unlike
 * SIG_IGN, is not inherited by programs that are run.
 */
static void survive_pipes(void)
{
	struct sigaction old, a = {.sa_handler = nothing, .sa_flags = SA_RESTART};

	if (sigaction(SIGPIPE, NULL, &old) == 0 && old.sa_handler == SIG_DFL)
		(void)sigaction(SIGPIPE, &a, NULL);
}

/* The one server of this process; NULL: none. */
static struct serve *only;

/*
 * In every forked child, whoever forks: one that holds a socket would keep
 * clients waiting for its end, and the address taken.
 */
static void leave_sockets(void)
{
	if (!only)
		return;
	http_forget_sockets(only->http);
	(void)close(only->epoll);
	only = NULL;
}

static int begin(void *context, struct engine *l, struct fault *where)
{
	struct serve *s = context;

	s->live = l;
	s->services = services_new(l);
	return s->services ? 0 : fault_set(where, -ENOMEM, "out of memory");
}

static void looked(void *context)
{
	serve_looked(context, clock_ns(CLOCK_MONOTONIC));
}

static void met(void *context)
{
	struct serve *s = context;

	(void)services_update(s->services);
}

static int fd_of(void *context)
{
	return ((struct serve *)context)->epoll;
}

static int wait_of(void *context)
{
	const struct serve *s = context;
	int one = http_wait_ms(s->http), two = clerks_wait_ms(s->clerks);

	return one < 0 ? two : two < 0 || one < two ? one : two;
}

static void step(void *context)
{
	struct serve *s = context;

	clerks_step(s->clerks);
	http_step(s->http);
}

static void end(void *context)
{
	struct serve *s = context;

	only = NULL;
	if (s->clerks)
		clerks_free(s->clerks);
	http_free(s->http);
	services_free(s->services);
	free(s->sites.text);
	if (s->epoll >= 0)
		(void)close(s->epoll);
	if (s->listen_fd >= 0) {
		address_leave(&s->plan->address, s->listen_fd);
		(void)close(s->listen_fd);
	}
	token_free(s->token);
	free(s);
}

static int wait_for_both(struct serve *s)
{
	struct epoll_event e = {.events = EPOLLIN};
	int err = clerks_new(&s->clerks);

	if (err < 0)
		return err;
	s->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (s->epoll < 0 || epoll_ctl(s->epoll, EPOLL_CTL_ADD, http_fd(s->http), &e) < 0 ||
	    epoll_ctl(s->epoll, EPOLL_CTL_ADD, clerks_fd(s->clerks), &e) < 0)
		return -errno;
	return 0;
}

static int listen_to(struct serve *s, struct fault *where)
{
	const struct serve_plan *plan = s->plan;
	struct http_plan http = {.listen_fd = -1,
	    /* a browser has no way to a path, nor a foreign page the token */
	    .any_host = plan->address.is_unix || plan->token_file,
	    .hosts = plan->hosts,
	    .host_count = plan->host_count,
	    .answer = serve_answer,
	    .gone = serve_gone,
	    .context = s};
	int err = 0;

	if (plan->token_file)
		err = token_read(plan->token_file, TOKEN_MOST, &s->token, where);
	if (err < 0)
		return err;
	http.token = s->token;
	s->listen_fd = address_listen(&plan->address, where);
	if (s->listen_fd < 0)
		return s->listen_fd;
	http.listen_fd = s->listen_fd;
	err = http_new(&http, &s->http);
	if (err == 0)
		err = wait_for_both(s);
	return err < 0 ? fault_set(where, err, "%s", strerror(-err)) : 0;
}

int serve_guest(const struct serve_plan *plan, struct guest *ret, struct fault *where)
{
	static bool is_told;
	struct serve *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return fault_set(where, -ENOMEM, "out of memory");
	s->plan = plan;
	s->listen_fd = s->epoll = -1;
	err = listen_to(s, where);
	if (err < 0) {
		end(s);
		return err;
	}
	if (!is_told) {
		(void)pthread_atfork(NULL, NULL, leave_sockets);
		is_told = true;
	}
	only = s;
	survive_pipes();
	*ret = (struct guest){.context = s,
	    .begin = begin,
	    .looked = looked,
	    .met = met,
	    .fd = fd_of,
	    .wait_ms = wait_of,
	    .step = step,
	    .end = end};
	return 0;
}

/* ---- a loop of our own ---- */

static int wait_ms(const struct guest *g, uint64_t next_ns)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);
	int ms = next_ns <= now ? 0 : (int)((next_ns - now) / MS) + 1;
	int own = g->wait_ms(g->context);

	return own >= 0 && own < ms ? own : ms;
}

static int loop(struct engine *l, const struct guest *g, int signals)
{
	uint64_t next = 0, next_roster = 0;
	bool has_news = false;
	int err = 0;

	while (err == 0) {
		struct pollfd fds[] = {
		    {.fd = signals, .events = POLLIN},
		    {.fd = engine_wake_fd(l), .events = POLLIN},
		    {.fd = g->fd(g->context), .events = POLLIN},
		};
		uint64_t now = clock_ns(CLOCK_MONOTONIC);

		if (now >= next) {
			err = engine_look(l);
			serve_looked(g->context, now);
			next = clock_ns(CLOCK_MONOTONIC) + LOOK_MS * MS;
		} else if (has_news && now >= next_roster) {
			err = engine_look_at_roster(l);
			g->met(g->context);
			has_news = false;
			next_roster = now + ROSTER_MS * MS;
		}
		/* many come at once: news that are known end no wait */
		if (has_news)
			fds[1].fd = -1;
		if (err == 0 && poll(fds, 3, wait_ms(g, has_news ? next_roster : next)) < 0 &&
		    errno != EINTR)
			err = -errno;
		if (fds[0].revents & POLLIN)
			break;
		has_news |= (fds[1].revents & POLLIN) != 0;
		g->step(g->context);
	}
	return err;
}

int serve_run(const struct serve_plan *plan, struct fault *where)
{
	const struct engine_plan live = {.directories = plan->directories,
	    .pids = plan->pids,
	    .pid_count = plan->pid_count,
	    .other_fds = GUEST_FDS};
	struct guest g = {.context = NULL};
	struct engine *l = NULL;
	int signals, err;

	err = serve_guest(plan, &g, where);
	if (err < 0)
		return err;
	signals = signals_take_over(false);
	if (signals < 0)
		err = signals;
	if (err == 0)
		err = engine_new(&live, &l);
	if (err < 0)
		(void)fault_set(where, err, "%s", strerror(-err));
	if (err == 0)
		err = g.begin(g.context, l, where);
	if (err == 0) {
		char text[ADDRESS_TEXT + 64];

		(void)snprintf(text, sizeof(text), "listening on %s%s",
		    plan->address.is_unix ? "" : "http://", plan->address.text);
		plan->say(plan->context, text);
		notify_send("READY=1");
		((struct serve *)g.context)->is_alone = true;
		err = loop(l, &g, signals);
		if (err < 0)
			(void)fault_set(where, err, "%s", strerror(-err));
	}
	g.end(g.context);
	engine_free(l);
	if (signals >= 0)
		(void)close(signals);
	return err;
}
