/* service_status.c - seep service status: what is known of a unit. */
/* SPDX-License-Identifier: Apache-2.0 */

#include "attach/service/service_run.h"
#include "session/load/history.h"
#include "segments/read/losses.h"
#include "segments/find/proc.h"
#include "host/proc/procfs.h"
#include "session/load/session.h"
#include "print/text/layout.h"
#include "view/sites/enum_words.h"
#include "attach/service/unit_file.h"
#include "kit/os/clock.h"
#include "kit/data/room.h"
#include "kit/words/text.h"
#include "kit/words/words.h"

enum {
	LABEL = 12, /* columns of the first word of a line */
	COMM_BYTES = 15,
	PROCESSES_SHOWN = 8,
	PROCESSES_READ = 256,
	PROCS_BYTES = 1 << 20
};

/* ---- finding out ---- */

static int see_environment(const struct service_run *r, struct service_seen *s)
{
	struct quoting_words all = {0};
	int err = unit_list(&r->unit, "Environment", &all);

	for (size_t i = 0; i < all.count && err == 0; i++)
		if (text_begins_with(all.items[i], "LD_PRELOAD=") ||
		    text_begins_with(all.items[i], "SEEP_"))
			err = quoting_add(&s->environment, strdup(all.items[i]));
	quoting_release(&all);
	return err;
}

/* Is it none of the names? The kernel keeps 15 bytes of the name. */
static bool is_left_out(const char *only, const char *name)
{
	bool has_name = false;

	for (; only && *only; only += strspn(only, ":")) {
		size_t n = strcspn(only, ":"), base = n, kept;

		while (base > 0 && only[base - 1] != '/')
			base--;
		kept = n - base > COMM_BYTES ? COMM_BYTES : n - base;
		if (kept == strlen(name) && strncmp(only + base, name, kept) == 0)
			return false;
		has_name |= kept > 0;
		only += n;
	}
	return has_name;
}

/* A process that runs; its name is not known yet. NULL: no memory. */
static struct service_process *add_process(struct service_seen *s, pid_t pid)
{
	if (room_make(&s->list, &s->room, s->count, sizeof(*s->list)) < 0)
		return NULL;
	s->list[s->count] = (struct service_process){.pid = pid};
	return &s->list[s->count++];
}

static int see_untraced(struct service_seen *s, pid_t pid, int err)
{
	const char *only = unit_variable(&s->environment, "SEEP_ONLY");
	struct service_process *p;
	struct procfs_stat st;

	if (procfs_stat(pid, &st) < 0)
		return 0; /* it has just ended */
	p = add_process(s, pid);
	if (!p)
		return -ENOMEM;
	(void)snprintf(p->name, sizeof(p->name), "%s", st.name);
	p->err = err;
	if (err == -EAGAIN || err == -ENODATA)
		p->trace = SERVICE_QUIET;
	else if (err != -ENXIO)
		p->trace = SERVICE_UNREADABLE;
	else if (is_left_out(only, st.name))
		p->trace = SERVICE_LEFT_OUT;
	else
		p->trace = SERVICE_UNTRACED;
	s->running++;
	s->traced += p->trace == SERVICE_QUIET;
	return 0;
}

static int see_process(struct service_seen *s, pid_t pid)
{
	struct fault where = {""};
	struct session *session;
	int err = session_load_pid(pid, &session, &where);

	if (err < 0)
		return err == -ESRCH ? 0 : see_untraced(s, pid, err);
	s->running++;
	for (size_t i = 0; i < session->count; i++) {
		const struct process *from = session->processes[i];
		const struct seg_header *h = &from->header;
		struct service_process *p = add_process(s, pid);

		if (!p) {
			err = -ENOMEM;
			break;
		}
		(void)snprintf(p->name, sizeof(p->name), "%s", text_base(h->exe));
		p->trace = h->state == SEG_INERT ? SERVICE_INERT : SERVICE_TRACED;
		p->mode = h->mode;
		p->inert_reason = h->inert_reason;
		p->start_realtime_ns = h->start_realtime_ns;
		p->sample_bytes = h->sample_bytes;
		p->totals = from->totals;
		process_add(&s->all, &from->totals);
		s->traced += p->trace == SERVICE_TRACED;
	}
	session_free(session);
	return err;
}

/* All processes of its cgroup; if that cannot be read, the main process. */
static int see_processes(const struct service_run *r, struct service_seen *s)
{
	const char *group = unit_get(&r->unit, "ControlGroup");
	char path[PATH_MAX], *text = NULL, *at;
	pid_t main_pid = unit_main_pid(&r->unit);
	int err = 0;

	if (group[0] != '/' ||
	    snprintf(path, sizeof(path), "/sys/fs/cgroup%s/cgroup.procs", group) >=
	        (int)sizeof(path) ||
	    unit_file_text(path, PROCS_BYTES, &text) < 0)
		text = NULL;
	if (main_pid > 0)
		err = see_process(s, main_pid);
	for (at = text; at && *at && err == 0;) {
		long pid = strtol(at, &at, 10);

		at += strspn(at, "\n");
		if (pid <= 0)
			break;
		if (pid == main_pid)
			continue;
		if (s->running >= PROCESSES_READ) {
			s->is_cut = true;
			break;
		}
		err = see_process(s, (pid_t)pid);
	}
	free(text);
	return err;
}

static int see_history(const struct service_run *r, struct service_seen *s)
{
	char path[HISTORY_PATH_BYTES], *input;
	size_t n = strlen(r->unit.name);
	int err = 0;

	for (int i = 0; i < HISTORY_DEFAULTS && err == 0; i++) {
		struct listing_names names = {0};
		struct fault where;

		if (!history_default(i, path) || history_services(path, &names, &where) < 0)
			continue;
		for (size_t k = 0; k < names.count && err == 0; k++) {
			/* a user's own unit has the user's number behind it */
			if (strncmp(names.names[k], r->unit.name, n) != 0 ||
			    (names.names[k][n] && names.names[k][n] != '%'))
				continue;
			if (asprintf(&input, "%s/%s", path, names.names[k]) < 0)
				input = NULL;
			err = quoting_add(&s->history, input);
		}
		listing_release(&names);
	}
	return err;
}

/* ---- printing ---- */

/* What may be copied to a shell stays one line. */
static void print_line(const char *what, const char *text)
{
	(void)printf("%-*s ", LABEL, what);
	text_print(stdout, text);
	(void)putchar('\n');
}

/* On a terminal, lines are broken between words. */
static void print_row(const struct service_seen *s, const char *what, const char *text)
{
	size_t used = LABEL;
	char word[PATH_MAX + 512];

	(void)printf("%-*s", LABEL, what);
	while (*(text += strspn(text, " "))) {
		size_t bytes = strcspn(text, " "), wide;

		(void)snprintf(word, sizeof(word), "%.*s", (int)bytes, text);
		wide = layout_columns(word);
		if (s->columns > 0 && used > LABEL && used + 1 + wide > s->columns) {
			(void)printf("\n%*s", LABEL, "");
			used = LABEL;
		}
		(void)putchar(' ');
		text_print(stdout, word);
		used += 1 + wide;
		text += bytes;
	}
	(void)putchar('\n');
}

static void print_unit(const struct service_run *r, const struct service_seen *s)
{
	const struct unit *u = &r->unit;
	char text[512];

	(void)snprintf(text, sizeof(text), "%s (%s, %s)", u->name, unit_get(u, "LoadState"),
	    u->is_template ? "a template" : unit_get(u, "ActiveState"));
	print_row(s, "unit", text);
}

static void print_dropin(const struct service_run *r, const struct service_seen *s)
{
	char text[PATH_MAX + 512];

	if (s->dropin_err < 0)
		(void)snprintf(text, sizeof(text), "%s: %s", r->path, strerror(-s->dropin_err));
	else if (s->dropin == DROPIN_NONE)
		(void)snprintf(text, sizeof(text), "none: there is no %s", r->path);
	else if (s->dropin == DROPIN_OURS)
		(void)snprintf(text, sizeof(text), "%s", r->path);
	else
		(void)snprintf(text, sizeof(text), "%s, but %s", r->path, s->where.text);
	print_row(s, "drop-in", text);
}

static void print_list(
    const char *what, const struct quoting_words *list, const char *before, const char *none)
{
	char text[HISTORY_PATH_BYTES + 512];

	for (size_t i = 0; i < list->count; i++) {
		if (!*before) {
			print_line(i ? "" : what, list->items[i]);
			continue;
		}
		(void)snprintf(text, sizeof(text), "%s%s", before, list->items[i]);
		print_line(i ? "" : what, text);
	}
	if (list->count == 0)
		print_line(what, none);
}

static void print_traced(const struct service_seen *s, const struct service_process *p)
{
	uint64_t now = clock_ns(CLOCK_REALTIME), start = p->start_realtime_ns;
	char text[640];

	(void)snprintf(text, sizeof(text), "%d %s: traced for %s (%s): %s live in %s, peak %s",
	    (int)p->pid, p->name, WORDS_TIME(now > start ? now - start : 0),
	    enum_words_mode(p->mode), WORDS_BYTES(p->totals.live_bytes),
	    WORDS_COUNTED(p->totals.live_blocks, "block"), WORDS_BYTES(p->totals.peak_bytes));
	print_row(s, "process", text);
}

static void print_process(const struct service_seen *s, const struct service_process *p)
{
	char text[640];
	const char *what = "";

	switch (p->trace) {
	case SERVICE_TRACED:
		print_traced(s, p);
		return;
	case SERVICE_INERT:
		(void)snprintf(text, sizeof(text), "%d %s: not traced: %s", (int)p->pid, p->name,
		    losses_inert(p->inert_reason));
		print_row(s, "process", text);
		return;
	case SERVICE_QUIET:
		what = "traced, and has allocated nothing so far";
		break;
	case SERVICE_LEFT_OUT:
		what = "left out (SEEP_ONLY)";
		break;
	case SERVICE_UNTRACED:
		what = "not traced";
		break;
	case SERVICE_UNREADABLE:
		what = p->err == -EACCES ? "not ours to look at; try sudo" : strerror(-p->err);
		break;
	}
	(void)snprintf(text, sizeof(text), "%d %s: %s", (int)p->pid, p->name, what);
	print_row(s, "process", text);
}

static void print_processes(const struct service_run *r, const struct service_seen *s)
{
	bool is_enabled = s->dropin_err == 0 && s->dropin != DROPIN_NONE;

	for (size_t i = 0; i < s->count && i < PROCESSES_SHOWN; i++)
		print_process(s, &s->list[i]);
	if (s->count > PROCESSES_SHOWN)
		(void)printf("%-*s %s, %zu of them traced, %s live in all\n", LABEL, "",
		    WORDS_COUNTED(s->running, "process"), s->traced,
		    WORDS_BYTES(s->all.live_bytes));
	if (s->running == 0)
		print_row(s, "process", "none runs");
	else if (s->traced == 0 && is_enabled)
		(void)printf("%-*s to have it traced, type: systemctl%s "
		             "restart %s\n",
		    LABEL, "", service_run_scope(r), r->unit.name);
}

static void print_text(const struct service_run *r, const struct service_seen *s)
{
	print_unit(r, s);
	print_dropin(r, s);
	print_list("environment", &s->environment, "", "neither LD_PRELOAD nor SEEP_*");
	if (!s->has_processes)
		return;
	print_processes(r, s);
	print_list("history", &s->history, "seep report ",
	    "none: seep watch keeps one (systemctl enable --now seep-watch)");
}

int service_status(const struct service_run *r, unsigned columns)
{
	struct service_seen s = {.columns = columns};
	int err;

	s.dropin_err = dropin_look(r->path, &s.dropin, NULL, &s.where);
	err = see_environment(r, &s);
	s.has_processes = !r->unit.is_template;
	if (s.has_processes && err == 0)
		err = see_processes(r, &s);
	if (s.has_processes && err == 0)
		err = see_history(r, &s);
	if (err == 0 && r->options.format == SERVICE_JSON)
		service_json(r, &s);
	else if (err == 0)
		print_text(r, &s);
	quoting_release(&s.environment);
	quoting_release(&s.history);
	free(s.list);
	return err;
}
