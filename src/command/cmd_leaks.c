/* cmd_leaks.c - seep leaks: what a running program has lost. */
/* SPDX-License-Identifier: Apache-2.0 */

#include "command/cmd.h"

#include "base/std.h"
#include "command/shell/die.h"
#include "command/shell/input.h"
#include "command/options/view_opts.h"
#include "command/options/opts.h"
#include "command/shell/output.h"
#include "command/cmd_parts.h"
#include "session/process/family.h"
#include "view/sites/verdict.h"
#include "analysis/rss/rss_reading.h"
#include "analysis/leaks/judge.h"
#include "analysis/leaks/look.h"

enum { TOP = 20, LOOKS_LIMIT = 1000, HELD_LOOKS_MAX = 6 };

#define WAIT_NS UINT64_C(2000000000)

/* The numbers are those of enum leaks_census_format. */
enum leaks_format { LEAKS_TEXT, LEAKS_JSON, LEAKS_HTML };

struct leaks_command {
	unsigned looks; /* 0: as many as it takes */
	uint64_t wait_ns, max_memory;
	bool stop, swap;
	unsigned held; /* the id of a site; 0: not asked for */
	bool retained;
	bool types, insight;
	const char *before;
	struct view_opts sites;
	int format; /* enum leaks_format */
	const char *path;
	unsigned top;
	struct names_options naming;
	struct output_view view;
};

static _Noreturn void die_memory(void)
{
	die(CMD_INPUT, "leaks: out of memory");
}

/* ---- why not -------------------------------------------------------------- */

/* kernel.yama.ptrace_scope: 1, ancestors may look; 2, root may; 3, nobody. */
static int yama_scope(void)
{
	int fd = open("/proc/sys/kernel/yama/ptrace_scope", O_RDONLY | O_CLOEXEC);
	char digit = '0';

	if (fd < 0)
		return 0;
	if (read(fd, &digit, 1) != 1)
		digit = '0';
	(void)close(fd);
	return digit - '0';
}

static _Noreturn void die_no_right(pid_t pid, const char *why)
{
	int scope = yama_scope();

	if (strstr(why, "is traced by"))
		die(CMD_INPUT,
		    "leaks: process %d cannot be stopped: %s; try "
		    "without --stop",
		    (int)pid, why);
	if (scope == 3)
		die(CMD_INPUT,
		    "leaks: process %d: its memory may not be read: "
		    "kernel.yama.ptrace_scope is 3, which forbids it to "
		    "everybody until the next boot",
		    (int)pid);
	if (scope > 0 && geteuid() != 0)
		die(CMD_INPUT,
		    "leaks: process %d: its memory may not be read: "
		    "kernel.yama.ptrace_scope is %d%s; try as root%s",
		    (int)pid, scope, scope == 1 ? ", so only its ancestors and root may" : "",
		    scope == 1 ? ", or start it with: seep record --leaks CMD" : "");
	die(CMD_INPUT,
	    "leaks: process %d: its memory may not be read: it belongs to "
	    "another user, or has made itself unreadable (prctl "
	    "PR_SET_DUMPABLE); try as root",
	    (int)pid);
}

static _Noreturn void die_unjudged(pid_t pid, const struct verdicts *v, const struct judge_about *a)
{
	switch (v->reason) {
	case VERDICT_NO_RIGHT:
		die_no_right(pid, a->why.text);
	case VERDICT_OLD_CELLS:
		die(CMD_INPUT,
		    "leaks: process %d: no verdict: %s; start it with this "
		    "version of seep",
		    (int)pid, verdict_reason_words(v->reason));
	case VERDICT_TOO_LARGE:
		die(CMD_INPUT,
		    "leaks: process %d: no verdict: %s (--max-memory raises "
		    "the limit, which is a quarter of what is available)",
		    (int)pid, a->why.text);
	default:
		if (a->why.text[0] && v->reason != VERDICT_ENDED)
			die(CMD_INPUT, "leaks: process %d: no verdict: %s", (int)pid, a->why.text);
		die(CMD_INPUT, "leaks: process %d: no verdict: %s", (int)pid,
		    verdict_reason_words(v->reason));
	}
}

/* ---- looking -------------------------------------------------------------- */

static void rest(uint64_t ns)
{
	struct timespec t = {
	    .tv_sec = (time_t)(ns / 1000000000), .tv_nsec = (long)(ns % 1000000000)};

	while (clock_nanosleep(CLOCK_MONOTONIC, 0, &t, &t) == EINTR)
		;
}

static void look(const struct leaks_command *o, const struct process *p, pid_t pid,
    struct verdicts *ret, struct judge_about *about)
{
	const struct judge_options options = {
	    .max_bytes = o->max_memory, .with_swapped = o->swap, .stop = o->stop};
	unsigned most = o->looks ? o->looks : LOOKS_MAX;
	struct judge *j;

	if (judge_new(p, pid, &options, &j) < 0)
		die_memory();
	for (unsigned i = 0; i < most; i++) {
		progress_at(i, most);
		if (judge_look(j) < 0 || (!o->looks && judge_is_certain(j)))
			break;
		if (i + 1 < most)
			rest(o->wait_ns);
	}
	if (judge_finish(j, false, ret, about) < 0)
		die_memory();
	judge_free(j);
}

static struct process *find_process(const struct session *s, pid_t pid)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->processes[i]->running_pid == pid)
			return s->processes[i];
	die(CMD_INPUT, "leaks: process %d has ended: only one that runs can be looked at",
	    (int)pid);
}

/*
 * A process that runs is opened once. Whatever is wrong with it, input_load()
 * finds again, and says so.
 */
static struct session *load(const char *input)
{
	struct fault where = {0};
	struct session *s;
	pid_t pid;
	int err;

	if (!input || !input_is_pid(input, &pid))
		return input_load(input);
	err = forked_load(pid, &s, &where);
	if (err == -ETIMEDOUT)
		input_die_pid(pid, err, &where);
	if (err < 0)
		return input_load(input);
	privacy_note(NULL);
	for (size_t i = 0; i < s->note_count; i++)
		die_warn("%s", s->notes[i]);
	return s;
}

/* Looks at a process that runs; the verdicts are with it from now on. */
static void judge_process(const struct leaks_command *o, struct process *p, pid_t pid)
{
	struct judge_about about;

	p->verdicts = calloc(1, sizeof(*p->verdicts));
	if (!p->verdicts || leaks_growth_ages(p) < 0)
		die_memory();
	look(o, p, pid, p->verdicts, &about);
	if (p->verdicts->reason != VERDICT_JUDGED)
		die_unjudged(pid, p->verdicts, &about);
	p->verdicts->pause_ns = about.pause_ns;
	/* one line below the verdict, where it can be had */
	if (rss_reading_attach(p, NULL) == -ENOMEM)
		die_memory();
}

/* A PID is looked at; of all else stored verdicts are shown. */
static int show(const struct cmd *self, const struct leaks_command *o, struct session *s,
    const struct process *only, const struct view_options *view)
{
	const struct leaks_show what = {.command = self->name,
	    .session = s,
	    .only = only,
	    .view = view,
	    .growth = {.session = s,
	        .view = view,
	        .max_memory = o->max_memory,
	        .with_swapped = o->swap},
	    .top = o->top,
	    .as_json = o->format == LEAKS_JSON,
	    .path = o->path,
	    .output = &o->view};
	struct names *names = name_opts_open(self->name, &o->naming);
	int answer;

	progress_begin("finding names", NULL);
	answer = leaks_show(&what, names);
	names_free(names);
	return answer;
}

/* The look that says who holds what. */
static void look_at_holders(const struct leaks_command *o, const struct process *p, pid_t pid,
    struct root_notes *notes, struct judge **ret)
{
	const struct judge_options options = {
	    .max_bytes = o->max_memory, .with_swapped = o->swap, .stop = o->stop, .notes = notes};
	struct judge_about about;
	struct verdicts v;

	if (judge_new(p, pid, &options, ret) < 0)
		die_memory();
	(void)judge_look(*ret);
	if (judge_finish(*ret, false, &v, &about) < 0)
		die_memory();
	if (v.reason != VERDICT_JUDGED)
		die_unjudged(pid, &v, &about);
	verdicts_release(&v);
}

/*
 * One look says who holds what, unless pointers moved while it was taken;
 * whether something is lost takes several.
 */
static int show_held(const struct cmd *self, const struct leaks_command *o, const struct session *s,
    const struct process *p, pid_t pid, const char *input, const struct view_options *view)
{
	struct leaks_held what = {.command = self->name,
	    .session = s,
	    .process = p,
	    .pid = pid,
	    .id = o->held,
	    .retained = o->retained,
	    .view = view,
	    .top = o->top,
	    .as_json = o->format == LEAKS_JSON,
	    .title = o->format == LEAKS_HTML ? input : NULL,
	    .path = o->path,
	    .output = &o->view,
	    .was_stopped = o->stop};
	struct names *names = name_opts_open(self->name, &o->naming);
	int answer = LEAKS_HELD_AGAIN;

	for (unsigned i = 1; answer == LEAKS_HELD_AGAIN; i++) {
		struct root_notes notes = {0};

		look_at_holders(o, p, pid, &notes, &what.judge);
		what.notes = &notes;
		what.may_repeat = !o->stop && i < HELD_LOOKS_MAX;
		progress_begin("finding names", NULL);
		answer = leaks_held(&what, names);
		judge_free(what.judge);
		root_notes_release(&notes);
	}
	names_free(names);
	return answer;
}

/* Of a recording: what its last looks have kept. */
static int show_stored(const struct cmd *self, const struct leaks_command *o,
    const struct session *s, const char *input, const struct view_options *view)
{
	const struct leaks_stored what = {.command = self->name,
	    .input = input,
	    .session = s,
	    .view = view,
	    .id = o->held,
	    .retained = o->retained,
	    .types = o->types,
	    .before = o->before,
	    .top = o->top,
	    .format = o->format,
	    .path = o->path,
	    .output = &o->view};
	struct names *names = name_opts_open(self->name, &o->naming);
	int answer;

	progress_begin("finding names", NULL);
	answer = leaks_stored(&what, names);
	names_free(names);
	return answer;
}

static void check_options(const struct leaks_command *o)
{
	bool census = o->types || o->insight;

	if (o->looks > LOOKS_LIMIT)
		die(CMD_USAGE, "leaks: --looks takes a number up to %d", LOOKS_LIMIT);
	if (o->before && !o->types)
		die(CMD_USAGE, "leaks: --before is for --types");
	if (census && (o->held || o->retained))
		die(CMD_USAGE,
		    "leaks: --held and --retained do not go with --types and "
		    "--insight");
	if (o->format == LEAKS_HTML && !census && !o->retained)
		die(CMD_USAGE,
		    "leaks: --format html is for --types, --insight and "
		    "--retained; seep report --format html shows the verdicts "
		    "of a recording");
	if (census && (o->stop || o->swap || o->looks))
		die(CMD_USAGE,
		    "leaks: --looks, --stop and --swap are for verdicts, not "
		    "for --types and --insight");
	if (o->format == LEAKS_HTML)
		output_not_terminal("leaks", o->path);
}

/* --types, --insight: one reading of the live blocks, and no verdict. */
static int run_census(const struct cmd *self, const struct leaks_command *o,
    const struct session *s, const struct process *p, const char *input,
    const struct view_options *view)
{
	const struct leaks_census what = {.session = s,
	    .process = p,
	    .view = view,
	    .max_memory = o->max_memory,
	    .with_types = o->types,
	    .with_spare = o->insight,
	    .before = o->before,
	    .title = input,
	    .top = o->top,
	    .format = o->format,
	    .path = o->path,
	    .output = &o->view};
	struct names *names = name_opts_open(self->name, &o->naming);
	struct judge_about about = {.pause_ns = 0};
	struct verdicts v = {.looks = 0};
	int err = leaks_census(&what, p->running_pid, names, &about.why);

	if (err < 0) {
		v.reason = judge_reason(err, &p->header);
		die_unjudged(p->running_pid, &v, &about);
	}
	names_free(names);
	return CMD_OK;
}

static int run(const struct cmd *self, int argc, char **argv)
{
	struct leaks_command o = {.wait_ns = WAIT_NS, .sites = view_opts_default, .top = TOP};
	int n = opts_parse(self, argc, argv, &o), answer;
	const char *input = n > 0 ? argv[1] : NULL;
	struct process *p = NULL;
	struct session *s;
	struct view_options view;
	pid_t pid;

	moment_opts_refuse(self->name, n, argv + 1, true);
	check_options(&o);
	o.sites.no_suppress = true; /* what start-up leaves is not lost */
	view_opts_finish_exact("leaks", &o.sites, &view);
	view.group = true;
	view.fold = true;
	view.trim = true;
	progress_begin("looking at", input ? input : INPUT_DEFAULT);
	s = load(input);
	if (input && input_is_pid(input, &pid)) {
		p = find_process(s, pid);
		if (o.held || o.retained) {
			answer = show_held(self, &o, s, p, pid, input, &view);
			session_free(s);
			return answer;
		}
		if (!o.types && !o.insight)
			judge_process(&o, p, pid);
	} else if (o.insight) {
		die(CMD_INPUT,
		    "leaks: %s: --insight reads the memory of a process that "
		    "runs: give its PID",
		    input ? input : INPUT_DEFAULT);
	} else if (o.types || o.held || o.retained) {
		answer = show_stored(self, &o, s, input ? input : INPUT_DEFAULT, &view);
		session_free(s);
		return answer;
	} else if (!leaks_show_has(s)) {
		die(CMD_INPUT,
		    "leaks: %s: has no stored verdicts: make a recording that has "
		    "them with seep record --leaks CMD, or give the PID of a "
		    "traced process that runs. seep report has what leaks and "
		    "grows by the ages of blocks",
		    input ? input : INPUT_DEFAULT);
	}
	answer = o.types || o.insight ? run_census(self, &o, s, p, input, &view)
	                              : show(self, &o, s, p, &view);
	session_free(s);
	return answer;
}

#define AT(field) offsetof(struct leaks_command, field)

static const struct opts_option looking[] = {
    {"looks", 0, OPTS_COUNT, AT(looks), 0, "N",
        "look N times (default: 3 to 12 times, until two looks in a row "
        "change nothing)"},
    {"wait", 0, OPTS_TIME, AT(wait_ns), 0, "TIME", "wait so long between two looks (default 2s)"},
    {"stop", 0, OPTS_FLAG, AT(stop), 0, NULL,
        "look once, with all threads stopped (ptrace): registers are read, "
        "too. How long that took is printed. Some calls that wait then return "
        "EINTR: epoll_wait, recv with a time-out"},
    {"swap", 0, OPTS_FLAG, AT(swap), 0, NULL,
        "read memory that is swapped out: the kernel fetches it, so the "
        "process needs more memory"},
    {"held", 0, OPTS_COUNT, AT(held), 0, "ID",
        "print who holds the blocks of the site with this ID, whether they "
        "are lost or not: the variable, stack or mapping, the blocks between, "
        "and where they pile up. Looks once"},
    {"retained", 0, OPTS_FLAG, AT(retained), 0, NULL,
        "print what holds most memory, and how much each site retains: what "
        "could be freed if its blocks were. Looks once"},
    {"max-memory", 0, OPTS_SIZE, AT(max_memory), 0, "SIZE",
        "refuse to use more memory (default: a quarter of what is "
        "available)"},
    {0},
};

static const struct opts_option census[] = {
    {"types", 0, OPTS_FLAG, AT(types), 0, NULL,
        "count the live blocks by C++ type: by the vtable with which they "
        "begin, by the control block of a shared_ptr, or by the template "
        "arguments of the functions that allocated them"},
    {"before", 0, OPTS_TEXT, AT(before), 0, "FILE",
        "with --types: print the difference to an earlier moment. FILE is "
        "what --types --format json wrote, or a recording made with "
        "record --types"},
    {"insight", 0, OPTS_FLAG, AT(insight), 0, NULL,
        "list places whose blocks are copies of others, end with zeros, or "
        "have pages that were never written"},
    {0},
};

#define SITES(field) offsetof(struct view_opts, field)

static const struct opts_option filters[] = {
    {"include", 0, OPTS_REGEXP, SITES(include), 0, "RE",
        "include only stacks in which a function matches"},
    {"exclude", 0, OPTS_REGEXP, SITES(exclude), 0, "RE",
        "exclude stacks in which a function matches"},
    {"module", 0, OPTS_REGEXP, SITES(module), 0, "RE",
        "include only stacks that pass through a matching program or "
        "library"},
    {"exclude-module", 0, OPTS_REGEXP, SITES(exclude_module), 0, "RE",
        "exclude stacks that pass through a matching program or library"},
    {"suppress", 0, OPTS_LIST, SITES(suppress), 0, "FILE",
        "leave out what matches an entry of FILE, which is written as for "
        "LeakSanitizer or valgrind"},
    {0},
};

static const struct opts_option output[] = {
    {"format", 0, OPTS_WORD, AT(format), 0, "text|json|html",
        "for people (the default), for programs, or, with --types, "
        "--insight and --retained, one page for a browser"},
    {"output", 'o', OPTS_TEXT, AT(path), 0, "FILE", "write to FILE when complete"},
    {"top", 0, OPTS_COUNT, AT(top), 0, "N",
        "print the N largest places or types (default 20, 0: all)"},
    {0},
};

static const struct opts_group options[] = {
    {"How to look", looking, 0},
    {"Live blocks by type, and what is in them", census, 0},
    {"Which sites", filters, AT(sites)},
    {"Output", output, 0},
    {"Where names come from", name_opts_rows, AT(naming)},
    {"On a terminal", output_view_rows, AT(view)},
    {0},
};

const struct cmd cmd_leaks = {
    .name = "leaks",
    .summary = "list blocks that nothing points to any more",
    .operands = "[INPUT]",
    .about =
        "Reads the memory of a traced process from outside, several times, "
        "while it runs on, and prints the blocks to which nothing points any "
        "more: LEAK where that is proven, POSSIBLE where it is not, with the "
        "reason. INPUT is the PID of a traced process; of a recording that was "
        "made with --leaks (default: " INPUT_DEFAULT ") the verdicts in it are "
        "shown; of one that was made with --retained or --types, who held "
        "what, and live blocks by type.\n\nWith --types or --insight there is no verdict: the live "
        "blocks of a process that runs are read once and counted.\n\nOf a "
        "process that was seen for 10 minutes, the places that leak, grow or "
        "are steady by the ages of their blocks follow, and who holds what "
        "grows.\n\nExits "
        "with 0 when "
        "there is no LEAK of blocks to which nothing points, with 1 when "
        "there is one, and with 3 when the "
        "process could not be looked at.",
    .options = options,
    .run = run,
};
