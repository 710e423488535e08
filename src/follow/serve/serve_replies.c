/* serve_replies.c - which path has which reply. */
/* SPDX-License-Identifier: Apache-2.0 */

#include "print/page/html.h"

#include "base/std.h"
#include "follow/serve/metrics.h"
#include "follow/serve/serve_parts.h"
#include "follow/serve/clerk.h"
#include "kit/os/clock.h"

#define MS   UINT64_C(1000000)
#define HTML "text/html; charset=utf-8"
#define JSON "application/json; charset=utf-8"

enum {
	FRESH_MS = 500,       /* figures of this age are those of now */
	SECONDS_MAX = 600,    /* of a difference */
	SITES_MS = 10000,     /* at least between two counts of sites */
	SITES_LOAD = 20,      /* and so many times as long as one took */
	SITES_MAX = 16 << 20, /* bytes of their metrics */
};

static void reply_memory(struct http_exchange *x)
{
	http_reply_text(x, 500, "out of memory");
}

/* Without another loop, nobody looks often unless somebody asks. */
static void look_for_reply(struct serve *s)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);

	if (s->is_alone && now - s->looked_ns >= FRESH_MS * MS && engine_look(s->live) == 0)
		serve_looked(s, now);
}

/* ---- replies that are written at once ---- */

struct reply {
	char *text;
	size_t len;
	FILE *out;
};

static FILE *begin_reply(struct reply *r, struct http_exchange *x)
{
	*r = (struct reply){.text = NULL};
	r->out = open_memstream(&r->text, &r->len);
	if (!r->out)
		reply_memory(x);
	return r->out;
}

static void end_reply(struct reply *r, struct http_exchange *x, const char *type)
{
	if (fclose(r->out) != 0 || !r->text) {
		free(r->text);
		reply_memory(x);
		return;
	}
	http_reply(x, 200, type, r->text, r->len);
}

static void reply_home(struct serve *s, struct http_exchange *x)
{
	struct reply r;

	look_for_reply(s);
	if (!begin_reply(&r, x))
		return;
	serve_pages_home(r.out, s->services, s->live, s->plan->version);
	http_put(x, "Content-Security-Policy", PAGES_POLICY);
	end_reply(&r, x, HTML);
}

static void reply_profiles(struct serve *s, struct http_exchange *x)
{
	struct reply r;

	look_for_reply(s);
	if (!begin_reply(&r, x))
		return;
	serve_pages_profiles(r.out, s->services, s->plan->version);
	http_put(x, "Content-Security-Policy", PAGES_POLICY);
	end_reply(&r, x, HTML);
}

/* Links of the list are relative to its folder. */
static void reply_folder(struct serve *s, struct http_exchange *x)
{
	(void)s;
	http_put(x, "Location", "pprof/");
	http_reply_text(x, 301, "see pprof/");
}

static void reply_style(struct serve *s, struct http_exchange *x)
{
	struct reply r;

	(void)s;
	if (!begin_reply(&r, x))
		return;
	(void)fputs(pages_style, r.out);
	end_reply(&r, x, "text/css; charset=utf-8");
}

static void reply_targets(struct serve *s, struct http_exchange *x)
{
	const char *host = http_header(x, "Host");
	struct reply r;

	look_for_reply(s);
	if (!begin_reply(&r, x))
		return;
	serve_pages_targets(r.out, s->services, host && *host ? host : s->plan->address.text);
	end_reply(&r, x, JSON);
}

/* ---- replies that a child writes ---- */

/* A line that a child has written. */
static void reply_failure(struct http_exchange *x, int fd)
{
	char text[256] = "";
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);

	(void)close(fd);
	text[n < 0 ? 0 : (size_t)n] = '\0';
	text[strcspn(text, "\n")] = '\0';
	http_reply_text(x, 500, "%s", text);
}

static const char *type_of(int kind)
{
	switch (kind) {
	case TASK_HEAP:
	case TASK_ALLOCS:
		return "application/octet-stream";
	case TASK_PAGE:
		return HTML;
	case TASK_DATA:
		return "text/plain; charset=utf-8";
	default:
		return JSON;
	}
}

static void put_headers(struct http_exchange *x, int kind)
{
	if (kind == TASK_HEAP || kind == TASK_ALLOCS)
		http_put(x, "Content-Disposition",
		    kind == TASK_HEAP ? "attachment; filename=\"heap.pb.gz\""
		                      : "attachment; filename=\"allocs.pb.gz\"");
	if (kind == TASK_PAGE) {
		char policy[1024];

		html_policy(policy, sizeof(policy));
		http_put(x, "Content-Security-Policy", policy);
	}
}

static void done(const struct clerk_job *job, int err, int fd, uint64_t bytes)
{
	struct http_exchange *x = job->owner;

	if (fd < 0) {
		http_reply_text(x, err == -ETIMEDOUT ? 504 : 500, "%s",
		    err == -ETIMEDOUT ? "it takes too long"
		                      : "the process that was to write this has died");
	} else if (err < 0) {
		reply_failure(x, fd);
	} else {
		put_headers(x, job->kind);
		http_reply_file(x, type_of(job->kind), fd, bytes);
	}
}

static int start_job(struct serve *s, const struct task *t, struct clerk_job *job)
{
	int err;

	job->write = task_write;
	job->context = s;
	job->kind = (int)t->kind;
	job->wait_s = t->seconds;
	job->task = malloc(sizeof(*t));
	if (!job->task)
		return -ENOMEM;
	memcpy(job->task, t, sizeof(*t));
	err = clerks_start(s->clerks, job);
	if (err < 0)
		free(job->task);
	return err;
}

static void start(struct serve *s, struct http_exchange *x, const struct task *t)
{
	struct clerk_job job = {.done = done, .owner = x};
	int err = start_job(s, t, &job);

	if (err == 0) {
		http_defer(x);
		return;
	}
	http_put(x, "Retry-After", "1");
	http_reply_text(
	    x, 503, "%s", err == -EBUSY ? "too many profiles at the same time" : strerror(-err));
}

/* ---- what is asked for ---- */

/* False: it has its reply. */
static bool take_number(struct http_exchange *x, const char *name, unsigned most, unsigned *ret)
{
	const char *text = http_query(x, name);
	unsigned long value;

	if (!text)
		return true;
	if (*text == '\0' || strlen(text) > 9 || strspn(text, "0123456789") != strlen(text)) {
		http_reply_text(x, 400, "%s is a number", name);
		return false;
	}
	value = strtoul(text, NULL, 10);
	if (value > most) {
		http_reply_text(x, 400, "%s is at most %u", name, most);
		return false;
	}
	*ret = (unsigned)value;
	return true;
}

/* Which services there are, for who has named none. */
static void reply_choice(struct serve *s, struct http_exchange *x)
{
	struct reply r;

	if (!begin_reply(&r, x))
		return;
	(void)fputs("there are several services; name one by ?service=: ", r.out);
	serve_pages_names(r.out, s->services);
	(void)putc('\n', r.out);
	if (fclose(r.out) != 0 || !r.text) {
		free(r.text);
		reply_memory(x);
		return;
	}
	http_reply(x, 400, "text/plain; charset=utf-8", r.text, r.len);
}

static size_t running_services(const struct serve *s, const struct services_row **ret)
{
	size_t n = 0;

	for (size_t i = 0; i < services_count(s->services); i++)
		if (services_at(s->services, i)->processes > 0) {
			*ret = services_at(s->services, i);
			n++;
		}
	return n;
}

/* False: it has its reply. */
static bool choose(struct serve *s, struct http_exchange *x, struct task *t)
{
	const char *name = http_query(x, "service");
	const struct services_row *r = NULL;
	unsigned pid = 0;

	if (!take_number(x, "pid", INT32_MAX, &pid))
		return false;
	t->pid = (pid_t)pid;
	if (name) {
		r = services_find(s->services, name);
		if (!r || r->processes == 0) {
			http_reply_text(x, 404, "no process of such a service runs; see /");
			return false;
		}
	} else if (pid == 0 && running_services(s, &r) > 1) {
		reply_choice(s, x);
		return false;
	}
	if (r && (name || pid == 0))
		memcpy(t->service, r->name, sizeof(t->service));
	if (task_count(t) == 0) {
		http_reply_text(x, 404, "no such process is traced; see /");
		return false;
	}
	return true;
}

static void reply_by_child(struct serve *s, struct http_exchange *x, enum task_kind kind)
{
	struct task t = {.kind = kind, .plan = s->plan, .live = s->live, .services = s->services};

	look_for_reply(s);
	if ((kind == TASK_HEAP || kind == TASK_ALLOCS) &&
	    !take_number(x, "seconds", SECONDS_MAX, &t.seconds))
		return;
	if (kind == TASK_LIST || choose(s, x, &t))
		start(s, x, &t);
}

/* ---- metrics ---- */

static void sites_done(const struct clerk_job *job, int err, int fd, uint64_t bytes)
{
	struct serve *s = job->context;
	uint64_t now = clock_ns(CLOCK_MONOTONIC);
	uint64_t rest = (now - s->sites.begun_ns) * SITES_LOAD;
	char *text = NULL;

	s->sites.is_busy = false;
	s->sites.next_ns = now + (rest > SITES_MS * MS ? rest : SITES_MS * MS);
	if (fd >= 0 && err == 0 && bytes > 0 && bytes <= SITES_MAX)
		text = malloc(bytes);
	if (text && pread(fd, text, bytes, 0) == (ssize_t)bytes) {
		free(s->sites.text);
		s->sites.text = text;
		s->sites.len = bytes;
		text = NULL;
	}
	free(text);
	if (fd >= 0)
		(void)close(fd);
}

/* They are as old as the last request, which has them counted anew. */
static void count_sites(struct serve *s)
{
	struct task t = {
	    .kind = TASK_SITES, .plan = s->plan, .live = s->live, .services = s->services};
	struct clerk_job job = {.done = sites_done, .owner = s};

	s->sites.begun_ns = clock_ns(CLOCK_MONOTONIC);
	if (s->plan->top == 0 || s->sites.is_busy || s->sites.begun_ns < s->sites.next_ns)
		return;
	s->sites.is_busy = start_job(s, &t, &job) == 0;
}

static void put_own(struct serve *s, struct metrics *m)
{
	struct exposition_cost cost = {.version = s->plan->version,
	    .looks = s->looks,
	    .look_ns = s->look_ns,
	    .http = http_counts(s->http)};

	cost.jobs = clerks_jobs(s->clerks, &cost.jobs_failed);
	exposition_cost(m, s->live, &cost);
	if (s->sites.text)
		(void)fwrite(s->sites.text, 1, s->sites.len, m->out);
	for (size_t i = 0; i < s->plan->source_count; i++)
		s->plan->sources[i].put(s->plan->sources[i].context, m);
}

static void reply_metrics(struct serve *s, struct http_exchange *x)
{
	struct metrics m = {.is_open = metrics_wants_open(http_header(x, "Accept"))};
	const char *only = http_query(x, "service");
	struct reply r;

	look_for_reply(s);
	if (only && !services_find(s->services, only)) {
		http_reply_text(x, 404, "there is no such service; see /");
		return;
	}
	if (!begin_reply(&r, x))
		return;
	m.out = r.out;
	exposition_services(&m, s->services, s->live, only, s->plan->per_process);
	if (!only)
		put_own(s, &m);
	metrics_end(&m);
	end_reply(&r, x, m.is_open ? METRICS_OPEN : METRICS_TEXT);
	count_sites(s);
}

/* ---- paths ---- */

static const struct route {
	const char *path;
	void (*reply)(struct serve *s, struct http_exchange *x);
	int kind; /* of a task, where `reply` is NULL */
} routes[] = {
    {"/", reply_home, 0},
    {"/style.css", reply_style, 0},
    {"/metrics", reply_metrics, 0},
    {"/sd", reply_targets, 0},
    {"/debug/pprof", reply_folder, 0},
    {"/debug/pprof/", reply_profiles, 0},
    {"/debug/pprof/heap", NULL, TASK_HEAP},
    {"/debug/pprof/allocs", NULL, TASK_ALLOCS},
    {"/view", NULL, TASK_PAGE},
    {"/view/data", NULL, TASK_DATA},
    {"/api/report", NULL, TASK_REPORT},
    {"/api/ls", NULL, TASK_LIST},
};

void serve_answer(void *context, struct http_exchange *x)
{
	struct serve *s = context;
	const char *path = http_path(x);

	for (size_t i = 0; i < sizeof(routes) / sizeof(routes[0]); i++) {
		const struct route *r = &routes[i];

		if (strcmp(path, r->path) != 0)
			continue;
		if (r->reply)
			r->reply(s, x);
		else
			reply_by_child(s, x, (enum task_kind)r->kind);
		return;
	}
	http_reply_text(x, 404, "there is no such page; see /");
}

void serve_gone(void *context, struct http_exchange *x)
{
	struct serve *s = context;

	clerks_cancel(s->clerks, x);
}
