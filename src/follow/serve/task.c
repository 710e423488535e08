/* task.c - what a child process of the server writes. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "follow/serve/clerk.h"

#include "print/export/export.h"
#include "print/page/html.h"
#include "print/json/report_json.h"
#include "follow/serve/metrics.h"
#include "segments/find/proc.h"
#include "kit/os/clock.h"

enum {
	PATIENCE = 30,    /* seconds, for names */
	PROCESSES = 1024, /* in one reply */
};

static int fail(FILE *out, int err, const char *words)
{
	if (out)
		(void)fprintf(out, "%s\n", words);
	return err;
}

/* ---- which processes ---- */

static bool is_meant(const struct task *t, const struct engine_process *p)
{
	const struct services_row *r = services_of(t->services, p);

	if (!r || p->state == LIVE_ENDED)
		return false;
	if (t->service[0] && strcmp(r->name, t->service) != 0)
		return false;
	return t->pid == 0 || (p->pid > 0 ? p->pid : p->inner_pid) == t->pid;
}

size_t task_count(const struct task *t)
{
	size_t n = 0;

	for (size_t i = 0; i < engine_count(t->live); i++)
		n += is_meant(t, engine_at(t->live, i));
	return n;
}

/*
 * Their segments. Of many thousands the engine does not keep all open; those are
 * opened here, and closed with the process.
 */
static struct session_slot *find_slots(const struct task *t, size_t *ret_count)
{
	struct session_slot *list = calloc(PROCESSES, sizeof(*list));
	size_t n = 0;

	for (size_t i = 0; list && i < engine_count(t->live) && n < PROCESSES; i++) {
		const struct engine_process *p = engine_at(t->live, i);
		struct session_slot *s = &list[n];
		struct fault where;
		struct segfile *f;
		char path[4096];

		if (!is_meant(t, p))
			continue;
		s->pid = p->pid;
		s->file = engine_segfile(t->live, p, &s->slot);
		if (!s->file && p->pid > 0 && proc_open(p->pid, &f, &s->slot, path, &where) == 0)
			s->file = f;
		n += s->file != NULL;
	}
	*ret_count = n;
	return list;
}

static int load(const struct task *t, bool blocks, struct session **ret, FILE *out)
{
	struct fault where = {""};
	struct session_slot *list;
	size_t count = 0;
	int err;

	list = find_slots(t, &count);
	if (!list)
		return fail(out, -ENOMEM, "out of memory");
	err = session_load_slots(list, count, blocks, ret, &where);
	free(list);
	if (err < 0)
		return fail(out, err, where.text);
	if ((*ret)->count == 0) {
		session_free(*ret);
		return fail(out, -ESRCH, "no such process runs any more");
	}
	return 0;
}

static struct names *find_names(const struct task *t, const struct session *s)
{
	struct names_options options = t->plan->naming;
	struct names *names;

	if (options.seconds == 0)
		options.seconds = PATIENCE;
	if (names_new(&options, &names) < 0)
		return NULL;
	for (size_t i = 0; i < s->count; i++)
		(void)names_gather(names, s->processes[i]);
	return names;
}

/* ---- profiles ---- */

static void pass_time(unsigned seconds)
{
	struct timespec left = {.tv_sec = (time_t)seconds};

	while (nanosleep(&left, &left) < 0 && errno == EINTR)
		continue;
}

/* As `seep export --format pprof` writes it; a difference as --since does. */
static int write_profile(const struct task *t, FILE *out)
{
	struct view_options options = t->plan->view;
	struct export_options shape = {.version = t->plan->version,
	    .metric = t->kind == TASK_ALLOCS ? VIEW_ALLOCS : VIEW_LIVE};
	uint64_t begun_ns = clock_ns(CLOCK_MONOTONIC);
	struct view_side before = {.session = NULL};
	struct session *s = NULL, *old = NULL;
	struct names *names = NULL;
	struct view *v = NULL;
	int err = 0;

	if (t->seconds > 0) {
		err = load(t, false, &old, out);
		if (err < 0)
			return err;
		pass_time(t->seconds);
		shape.since = true;
		shape.since_ns = clock_ns(CLOCK_MONOTONIC) - begun_ns;
		before.session = old;
		options.before = &before;
		options.merge = true;
	}
	err = load(t, false, &s, out);
	if (err < 0)
		goto out;
	options.metric = VIEW_ALL;
	/* the sums of a profile are those of the metrics */
	options.suppress = NULL;
	options.brief_names = true;
	names = find_names(t, s);
	err = names ? view_new(s, names, &options, &v) : -ENOMEM;
	if (err == 0)
		err = export_pprof.write(out, v, &shape);
	if (err < 0)
		(void)fail(out, err, strerror(-err));
out:
	view_free(v);
	names_free(names);
	session_free(old);
	session_free(s);
	return err;
}

/* ---- pages and reports ---- */

static int finish(FILE *out, struct session *s, struct names *names, int err)
{
	if (err < 0)
		(void)fail(out, err, strerror(-err));
	names_free(names);
	session_free(s);
	return err;
}

static int write_page(const struct task *t, FILE *out)
{
	char refresh[FOLDER_NAME_BYTES * 3 + 64];
	const struct html_options html = {.version = t->plan->version,
	    .metric = VIEW_LIVE,
	    .refresh = refresh,
	    .is_data = t->kind == TASK_DATA};
	struct html_session one = {.session = NULL};
	struct session *s;
	struct names *names;
	char *at = refresh;
	int err = load(t, true, &s, out);

	if (err < 0)
		return err;
	at = stpcpy(at, "view/data?");
	if (t->pid > 0)
		at += sprintf(at, "pid=%d", (int)t->pid);
	if (t->pid > 0 && t->service[0])
		*at++ = '&';
	if (t->service[0])
		at = stpcpy(at, "service=");
	for (const char *p = t->service; *p; p++)
		at += sprintf(at, strchr("%&+#=", *p) ? "%%%02X" : "%c", (unsigned char)*p);
	*at = '\0';
	names = find_names(t, s);
	one.session = s;
	err = names ? html_write_sessions(out, &one, 1, names, &t->plan->view, &html) : -ENOMEM;
	return finish(out, s, names, err);
}

static int write_report(const struct task *t, FILE *out)
{
	struct session *s;
	struct names *names;
	int err = load(t, true, &s, out);

	if (err < 0)
		return err;
	names = find_names(t, s);
	err = names ? report_json_write(out, s, names, &t->plan->view, t->plan->version) : -ENOMEM;
	return finish(out, s, names, err);
}

/* Those that are served and run. */
static int write_list(const struct task *t, FILE *out)
{
	const struct serve_list *list = t->plan->list;

	if (fflush(out) != 0 || dup2(fileno(out), STDOUT_FILENO) < 0)
		return -EIO;
	list->begin();
	for (size_t i = 0; i < engine_count(t->live); i++) {
		const struct engine_process *p = engine_at(t->live, i);
		const char *folder = "", *name = "";
		const struct segfile *f;
		struct session *s;
		struct fault where;
		int slot;

		f = is_meant(t, p) ? engine_segfile(t->live, p, &slot) : NULL;
		if (!f || session_load_slot(f, slot, p->pid, false, &s, &where) < 0)
			continue;
		if (engine_directory(t->live, p, &folder, &name) < 0)
			folder = name = "";
		for (size_t k = 0; k < s->count; k++)
			list->process(s->processes[k], segfile_source(f), folder, name);
		session_free(s);
	}
	list->end();
	return fflush(stdout) != 0 ? -EIO : 0;
}

/* ---- sites ---- */

/* One service after the other, so that memory is that of the largest. */
static int write_sites(const struct task *t, FILE *out)
{
	struct sites *sites = site_metrics_new(t->plan->top);
	int err = sites ? 0 : -ENOMEM;

	for (size_t i = 0; i < services_count(t->services) && err == 0; i++) {
		const struct services_row *r = services_at(t->services, i);
		struct task one = *t;
		struct names *names;
		struct session *s;

		memcpy(one.service, r->name, sizeof(one.service));
		/* one that has just ended is no reason to say nothing */
		if (r->processes == 0 || load(&one, false, &s, NULL) < 0)
			continue;
		names = find_names(t, s);
		err = names ? site_metrics_add(sites, r->name, s, names, t->plan->view.suppress)
		            : -ENOMEM;
		names_free(names);
		session_free(s);
	}
	if (err == 0)
		site_metrics_write(sites, out);
	site_metrics_free(sites);
	return err;
}

int task_write(void *task, FILE *out)
{
	const struct task *t = task;

	switch (t->kind) {
	case TASK_HEAP:
	case TASK_ALLOCS:
		return write_profile(t, out);
	case TASK_PAGE:
	case TASK_DATA:
		return write_page(t, out);
	case TASK_REPORT:
		return write_report(t, out);
	case TASK_LIST:
		return write_list(t, out);
	case TASK_SITES:
		return write_sites(t, out);
	}
	return -EINVAL;
}
