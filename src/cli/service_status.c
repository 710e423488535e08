/* service_status.c - seep service status: what is known of a unit. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cmd.h"
#include "cli/die.h"
#include "cli/output.h"
#include "cli/service_run.h"
#include "reader/history.h"
#include "reader/losses.h"
#include "reader/proc.h"
#include "reader/procfs.h"
#include "reader/session.h"
#include "report/words.h"
#include "service/root.h"
#include "util/clock.h"
#include "util/text.h"
#include "util/words.h"

enum {
	COMM_BYTES = 15,
	PROCESSES_SHOWN = 8,
	PROCESSES_READ = 256,
	PROCS_BYTES = 1 << 20
};

static void
print_row(const char *what, const char *text)
{
	(void)printf("%-12s ", what);
	text_print(stdout, text);
	(void)putchar('\n');
}

static void
print_unit(const struct service_run *r)
{
	const struct unit *u = &r->unit;
	char text[512];

	if (r->options.root)
		(void)snprintf(
		    text, sizeof(text), "%s, in %s", u->name, r->options.root);
	else
		(void)snprintf(text, sizeof(text), "%s (%s, %s)", u->name,
		    unit_get(u, "LoadState"),
		    u->is_template ? "a template" : unit_get(u, "ActiveState"));
	print_row("unit", text);
}

/* Is our drop-in there? */
static bool
print_dropin(const struct service_run *r)
{
	char text[PATH_MAX + 512];
	enum dropin_state state;
	struct fault where = {""};
	int err = dropin_look(r->options.root, r->path, &state, NULL, &where);

	if (err < 0)
		(void)snprintf(
		    text, sizeof(text), "%s: %s", r->shown, strerror(-err));
	else if (state == DROPIN_NONE)
		(void)snprintf(
		    text, sizeof(text), "none: there is no %s", r->shown);
	else if (state == DROPIN_OURS)
		(void)snprintf(text, sizeof(text), "%s", r->shown);
	else
		(void)snprintf(
		    text, sizeof(text), "%s, but %s", r->shown, where.text);
	print_row("drop-in", text);
	return err == 0 && state != DROPIN_NONE;
}

static void
print_environment(const struct service_run *r, char **ret_only)
{
	const char *only;
	struct quoting_words environment = {0};
	int err = r->options.root
	    ? unit_environment(&r->unit, NULL, &environment)
	    : unit_list(&r->unit, "Environment", &environment);
	bool is_first = true;

	if (err < 0)
		die(CMD_INPUT, "service: out of memory");
	for (size_t i = 0; i < environment.count; i++) {
		if (!text_begins_with(environment.items[i], "LD_PRELOAD=") &&
		    !text_begins_with(environment.items[i], "SEEP_"))
			continue;
		print_row(is_first ? "environment" : "", environment.items[i]);
		is_first = false;
	}
	only = unit_variable(&environment, "SEEP_ONLY");
	*ret_only = only ? strdup(only) : NULL;
	if (is_first)
		print_row("environment", "neither LD_PRELOAD nor SEEP_*");
	quoting_release(&environment);
}

/* ---- processes ---- */

/* Adds up what is not shown. */
struct tally {
	const char *only; /* SEEP_ONLY of the unit, or NULL */
	size_t running, traced, shown;
	struct process_figures all;
};

static void
print_traced(pid_t pid, const struct process *p)
{
	const struct seg_header *h = &p->header;
	uint64_t now = clock_ns(CLOCK_REALTIME);
	char live[WORDS_MAX], blocks[WORDS_COUNTED], peak[WORDS_MAX],
	    age[WORDS_MAX], text[512];

	if (h->state == SEG_INERT)
		(void)snprintf(text, sizeof(text), "%d %s: not traced: %s",
		    (int)pid, text_base(h->exe), losses_inert(h->inert_reason));
	else
		(void)snprintf(text, sizeof(text),
		    "%d %s: traced for %s (%s): %s live in %s, peak %s",
		    (int)pid, text_base(h->exe),
		    words_time(age,
		        now > h->start_realtime_ns ? now - h->start_realtime_ns
		                                   : 0),
		    words_mode(h->mode),
		    words_bytes(live, p->totals.live_bytes),
		    words_counted(blocks, p->totals.live_blocks, "block"),
		    words_bytes(peak, p->totals.peak_bytes));
	print_row("process", text);
}

/* Is it none of the names? The kernel keeps 15 bytes of the name. */
static bool
is_left_out(const char *only, const char *name)
{
	bool has_name = false;

	for (; only && *only; only += strspn(only, ":")) {
		size_t n = strcspn(only, ":"), base = n, kept;

		while (base > 0 && only[base - 1] != '/')
			base--;
		kept = n - base > COMM_BYTES ? COMM_BYTES : n - base;
		if (kept == strlen(name) &&
		    strncmp(only + base, name, kept) == 0)
			return false;
		has_name |= kept > 0;
		only += n;
	}
	return has_name;
}

static void
print_untraced(pid_t pid, int err, const char *only)
{
	struct procfs_stat st;
	char text[256];

	if (procfs_stat(pid, &st) < 0)
		return;
	(void)snprintf(text, sizeof(text), "%d %s: %s", (int)pid, st.name,
	    err == -ENXIO && is_left_out(only, st.name) ? "left out (SEEP_ONLY)"
	        : err == -ENXIO                         ? "not traced"
	        : err == -EAGAIN || err == -ENODATA
	        ? "traced, and has allocated nothing so far"
	        : err == -EACCES ? "not ours to look at; try sudo"
	                         : strerror(-err));
	print_row("process", text);
}

static void
look_at(pid_t pid, struct tally *t)
{
	struct fault where = {""};
	struct session *s;
	int err = session_load_pid(pid, &s, &where);

	if (err == -ESRCH)
		return;
	t->running++;
	if (err < 0) {
		t->traced += err == -EAGAIN || err == -ENODATA;
		if (t->shown++ < PROCESSES_SHOWN)
			print_untraced(pid, err, t->only);
		return;
	}
	for (size_t i = 0; i < s->count; i++) {
		t->traced += s->processes[i]->header.state != SEG_INERT;
		process_add(&t->all, &s->processes[i]->totals);
		if (t->shown++ < PROCESSES_SHOWN)
			print_traced(pid, s->processes[i]);
	}
	session_free(s);
}

/* All processes of its cgroup; if that cannot be read, the main process. */
static void
print_processes(const struct service_run *r, bool is_enabled, const char *only)
{
	const char *group = unit_get(&r->unit, "ControlGroup");
	char path[PATH_MAX], *text = NULL, *at;
	struct tally t = {.only = only};
	pid_t main_pid = unit_main_pid(&r->unit);
	char live[WORDS_MAX], processes[WORDS_COUNTED];

	if (group[0] != '/' ||
	    snprintf(path, sizeof(path), "/sys/fs/cgroup%s/cgroup.procs",
	        group) >= (int)sizeof(path) ||
	    root_read(NULL, path, PROCS_BYTES, &text) < 0)
		text = NULL;
	if (main_pid > 0)
		look_at(main_pid, &t);
	for (at = text; at && *at && t.running < PROCESSES_READ;) {
		long pid = strtol(at, &at, 10);

		at += strspn(at, "\n");
		if (pid > 0 && pid != main_pid)
			look_at((pid_t)pid, &t);
		else if (pid <= 0)
			break;
	}
	free(text);
	if (t.shown > PROCESSES_SHOWN)
		(void)printf("%-12s %s, %zu of them traced, %s live in all\n",
		    "", words_counted(processes, t.running, "process"),
		    t.traced, words_bytes(live, t.all.live_bytes));
	if (t.running == 0)
		print_row("process", "none runs");
	else if (t.traced == 0 && is_enabled)
		(void)printf("%-12s to have it traced, type: systemctl%s "
		             "restart %s\n",
		    "", service_run_scope(r), r->unit.name);
}

/* ---- history ---- */

static void
print_history(const struct service_run *r)
{
	char path[HISTORY_PATH_BYTES], text[HISTORY_PATH_BYTES + 512];
	size_t n = strlen(r->unit.name);
	bool is_found = false;

	for (int i = 0; i < HISTORY_DEFAULTS; i++) {
		struct listing_names names = {0};
		struct fault where;

		if (!history_default(i, path) ||
		    history_services(path, &names, &where) < 0)
			continue;
		for (size_t k = 0; k < names.count; k++) {
			/* a user's own unit has the user's number behind it */
			if (strncmp(names.names[k], r->unit.name, n) != 0 ||
			    (names.names[k][n] && names.names[k][n] != '%'))
				continue;
			(void)snprintf(text, sizeof(text), "seep report %s/%s",
			    path, names.names[k]);
			print_row(is_found ? "" : "history", text);
			is_found = true;
		}
		listing_release(&names);
	}
	if (!is_found)
		print_row("history",
		    "none: seep watch keeps one (systemctl enable --now "
		    "seep-watch)");
}

int
service_status(struct service_run *r)
{
	char *only = NULL;
	bool is_enabled;

	print_unit(r);
	is_enabled = print_dropin(r);
	print_environment(r, &only);
	if (!r->options.root && !r->unit.is_template) {
		print_processes(r, is_enabled, only);
		print_history(r);
	}
	free(only);
	unit_release(&r->unit);
	return output_flush();
}
