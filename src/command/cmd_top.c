/* cmd_top.c - seep top: what traced processes hold now, and who makes it grow. */
/* SPDX-License-Identifier: Apache-2.0 */

#include "command/cmd.h"

#include "base/std.h"
#include "command/shell/die.h"
#include "command/shell/input.h"
#include "command/options/view_opts.h"
#include "command/options/opts.h"
#include "command/shell/output.h"
#include "command/shell/terminal.h"
#include "follow/engine/engine.h"
#include "segments/find/proc.h"
#include "session/load/session.h"
#include "follow/top/browse.h"
#include "follow/top/top_print.h"
#include "kit/data/room.h"

#define SECOND_NS  UINT64_C(1000000000)
#define LONGEST_NS (86400 * SECOND_NS)
#define ENDLESS    UINT_MAX /* no --count */
enum { TABLE_SITES = 20 };

struct top_options {
	uint64_t interval_ns;
	int sort, format, colour;
	struct opts_regexp include, exclude, module;
	bool plain, once;
	unsigned count; /* ENDLESS: not given */
	unsigned top;
	struct names_options naming;
};

enum top_format { TOP_TEXT, TOP_JSON };

/* What the operands name: processes, or directories. */
struct top_targets {
	pid_t *pids;
	size_t pid_count, pid_room;
	const char **directories; /* NULL at the end */
	size_t directory_count;
};

/* ---- operands ---- */

static void add_pid(struct top_targets *t, pid_t pid)
{
	if (room_make(&t->pids, &t->pid_room, t->pid_count, sizeof(pid_t)) < 0)
		die(CMD_INPUT, "top: out of memory");
	t->pids[t->pid_count++] = pid;
}

/* One that cannot be looked at is reported before the screen is taken. */
static void take_pid(struct top_targets *t, pid_t pid)
{
	struct fault where = {""};
	struct segfile *f;
	char path[4096];
	int slot, err = proc_open(pid, &f, &slot, path, &where);

	if (err < 0)
		input_die_pid(pid, err, &where);
	segfile_close(f);
	add_pid(t, pid);
}

/* All processes of a segment file that run. */
static void take_file(struct top_targets *t, const char *path)
{
	struct fault where = {""};
	struct session *s;
	size_t before = t->pid_count;
	int err = session_load(path, &s, &where);

	if (err < 0)
		die(CMD_INPUT, "%s: cannot be read: %s", path,
		    where.text[0] ? where.text : strerror(-err));
	for (size_t i = 0; i < s->count; i++)
		if (s->processes[i]->running_pid > 0)
			add_pid(t, s->processes[i]->running_pid);
	session_free(s);
	if (t->pid_count == before)
		die(CMD_INPUT,
		    "%s: none of its processes runs; to see what it has: seep "
		    "report %s",
		    path, path);
}

static void take_input(struct top_targets *t, const char *text)
{
	struct stat st;
	pid_t pid;

	if (input_is_pid(text, &pid)) {
		take_pid(t, pid);
	} else if (stat(text, &st) < 0) {
		die(CMD_INPUT, "%s: %s", text, strerror(errno));
	} else if (S_ISDIR(st.st_mode)) {
		if (access(text, R_OK | X_OK) < 0)
			die(CMD_INPUT, "%s: %s", text, strerror(errno));
		t->directories[t->directory_count++] = text;
	} else {
		take_file(t, text);
	}
}

static void take_inputs(struct top_targets *t, int count, char **texts)
{
	t->directories = calloc((size_t)count + 1, sizeof(const char *));
	if (!t->directories)
		die(CMD_INPUT, "top: out of memory");
	for (int i = 0; i < count; i++)
		take_input(t, texts[i]);
	if (t->pid_count > 0 && t->directory_count > 0)
		die(CMD_USAGE, "top: takes processes or directories, not both");
}

/* ---- options ---- */

static void check(const struct top_options *o)
{
	if (o->interval_ns < BROWSE_LEAST_NS || o->interval_ns > LONGEST_NS)
		die(CMD_USAGE,
		    "top: --interval is 100ms at least and 24h at "
		    "most");
	if (o->count == 0)
		die(CMD_USAGE, "top: --count is 1 at least");
	if (o->once && o->count != ENDLESS)
		die(CMD_USAGE, "top: --once and --count cannot be combined");
	name_opts_check("top", o->naming.debug_dirs);
}

static void copy_filter(char to[NAMER_TEXT], const struct opts_regexp *from, const char *option)
{
	const char *source = from->source ? from->source : "";

	if (strlen(source) >= NAMER_TEXT)
		die(CMD_USAGE, "top: --%s is longer than %d bytes", option, NAMER_TEXT - 1);
	(void)strcpy(to, source);
}

static struct namer_filter filter_of(const struct top_options *o)
{
	struct namer_filter f = {.wrappers = false};

	copy_filter(f.include, &o->include, "include");
	copy_filter(f.exclude, &o->exclude, "exclude");
	copy_filter(f.module, &o->module, "module");
	return f;
}

/* ---- what keys do: the other commands, in a child ---- */

static int run_with_pid(const struct cmd *c, pid_t pid)
{
	char name[16], digits[16], *argv[] = {name, digits, NULL};

	(void)snprintf(name, sizeof(name), "%s", c->name);
	(void)snprintf(digits, sizeof(digits), "%d", (int)pid);
	return c->run(c, 2, argv);
}

static int take_snapshot(pid_t pid)
{
	return run_with_pid(&cmd_snapshot, pid);
}

static int turn(pid_t pid, bool on)
{
	return run_with_pid(on ? &cmd_on : &cmd_off, pid);
}

/* ---- the command ---- */

static int show(struct engine *l, const struct top_options *o, const struct terminal *t)
{
	const struct browse_plan plan = {.interval_ns = o->interval_ns,
	    .order = fields_order_of(o->sort),
	    .filter = filter_of(o),
	    .naming = &o->naming,
	    .actions = {.snapshot = take_snapshot, .turn = turn},
	    .colour = t->colour,
	    .utf8 = t->utf8};
	int err = browse_run(l, &plan);

	if (err == -ENOTTY)
		die(CMD_USAGE,
		    "top: stdin is no terminal, so there are no keys; for a "
		    "table a look: --plain");
	if (err == -ENOENT)
		die(CMD_USAGE,
		    "top: the terminal \"%s\" (from TERM) is unknown here; set "
		    "TERM to another one, or use --plain",
		    getenv("TERM"));
	if (err == -ELIBACC)
		die(CMD_USAGE,
		    "top: libncursesw.so.6 cannot be loaded; install it, or "
		    "use --plain");
	return err;
}

static int print(
    struct engine *l, const struct top_options *o, const struct terminal *t, bool is_named)
{
	const struct pages_plan plan = {.out = stdout,
	    .interval_ns = o->interval_ns,
	    .count = o->once          ? 1
	        : o->count == ENDLESS ? 0
	                              : o->count,
	    .is_json = o->format == TOP_JSON,
	    .is_named = is_named,
	    .order = fields_order_of(o->sort),
	    .filter = filter_of(o),
	    .naming = &o->naming,
	    .version = SEEP_VERSION,
	    .columns = t->columns,
	    .top = o->top,
	    .utf8 = t->utf8};

	return top_print_run(l, &plan);
}

static int run(const struct cmd *self, int argc, char **argv)
{
	struct top_options o = {.interval_ns = SECOND_NS, .count = ENDLESS, .top = TABLE_SITES};
	struct top_targets top_targets = {0};
	struct engine_plan plan = {.want_sites = true};
	struct terminal terminal;
	struct engine *l;
	int n, err;

	n = opts_parse(self, argc, argv, &o);
	check(&o);
	take_inputs(&top_targets, n, argv + 1);
	if (top_targets.pid_count > 0) {
		plan.pids = top_targets.pids;
		plan.pid_count = top_targets.pid_count;
	}
	if (top_targets.directory_count > 0)
		plan.directories = top_targets.directories;
	err = engine_new(&plan, &l);
	if (err < 0)
		die(CMD_INPUT, "top: %s", strerror(-err));
	terminal_look(STDOUT_FILENO, o.colour, &terminal);
	if (o.plain || o.once || o.count != ENDLESS || o.format == TOP_JSON ||
	    !terminal.is_terminal || terminal.is_dumb)
		err = print(l, &o, &terminal, top_targets.pid_count > 0);
	else
		err = show(l, &o, &terminal);
	engine_free(l);
	free(top_targets.pids);
	free(top_targets.directories);
	if (err < 0 && ferror(stdout))
		output_failed(-err);
	if (err < 0)
		die(CMD_INPUT, "top: %s", strerror(-err));
	return CMD_OK;
}

#define AT(field) offsetof(struct top_options, field)

static const struct opts_option rows[] = {
    {"interval", 'i', OPTS_TIME, AT(interval_ns), 0, "TIME",
        "look again every TIME (default 1s, at least 100ms)"},
    {"sort", 0, OPTS_WORD, AT(sort), 0, FIELDS_KEYS,
        "sort by this column, the largest first (default live); names and "
        "pids in their own order"},
    {"include", 0, OPTS_REGEXP, AT(include), 0, "RE",
        "include only sites in whose stack a function matches"},
    {"exclude", 0, OPTS_REGEXP, AT(exclude), 0, "RE",
        "exclude sites in whose stack a function matches"},
    {"module", 0, OPTS_REGEXP, AT(module), 0, "RE",
        "include only sites whose stack passes through a matching program or "
        "library"},
    {"color", 0, OPTS_WORD, AT(colour), 0, TERMINAL_COLOURS,
        "use colours (default auto: on a terminal, unless NO_COLOR is set)"},
    {0},
};
static const struct opts_option plain_rows[] = {
    {"plain", 0, OPTS_FLAG, AT(plain), 0, NULL,
        "print a table for each look (the default if stdout is no terminal, or "
        "TERM is dumb)"},
    {"once", 0, OPTS_FLAG, AT(once), 0, NULL, "take two looks, print one table and exit"},
    {"count", 0, OPTS_COUNT, AT(count), 0, "N", "print N tables and exit"},
    {"top", 0, OPTS_COUNT, AT(top), 0, "N",
        "print the first N sites of each PID that was named (default 20, 0: "
        "all)"},
    {"format", 0, OPTS_WORD, AT(format), 0, "text|json",
        "print tables, or one JSON object a line for each look"},
    {0},
};
static const struct opts_group options[] = {{NULL, rows, 0}, {"Without a terminal", plain_rows, 0},
    {"Where names come from", name_opts_rows, AT(naming)}, {0}};

const struct cmd cmd_top = {
    .name = "top",
    .summary = "watch what running processes allocate",
    .operands = "[INPUT...]",
    .about = "Shows the traced processes that run, and how their memory changes. "
             "INPUT is the PID of a process, or a directory of segments; without "
             "one, all traced processes are shown that the user may look at. The "
             "processes are not disturbed: only their counters are read.\n\n"
             "Enter shows the sites of a process, and Enter again the stack of a "
             "site; ? lists all keys. GROWTH/s and ALLOCS/s are of the last five "
             "looks, SINCE is the change since the start or since the key z was "
             "pressed. A process that has ended is shown for ten more seconds, with "
             "the cause of its end.",
    .options = options,
    .run = run,
};
