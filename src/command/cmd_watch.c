/* cmd_watch.c - seep watch: keeps a history of all processes that are traced. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <grp.h>

#include "command/cmd.h"

#include "base/std.h"
#include "command/shell/die.h"
#include "command/options/view_opts.h"
#include "command/shell/net.h"
#include "command/options/opts.h"
#include "command/options/serve_opts.h"
#include "command/shell/input.h"
#include "follow/serve/metrics.h"
#include "follow/history/watch.h"

#define DAY_NS UINT64_C(86400000000000)

enum {
	SIZE_MIN = 1 << 20,
	KEEP_DAYS = 30,
};
#define SIZE_DEFAULT (UINT64_C(256) << 20)
#define KEEP_MIN_NS  UINT64_C(60000000000)
#define KEEP_MAX_NS  (3650 * DAY_NS)

struct watch_options {
	const char *history, *group;
	uint64_t size_bytes, keep_ns;
	bool once, no_symbols;
	const char *debug_dirs, *command;
	struct opts_list rules;
	struct serve_opts serve;
	struct push_opts push;
};

#define AT(field) offsetof(struct watch_options, field)

static const struct opts_option history_rows[] = {
    {"history", 0, OPTS_TEXT, AT(history), 0, "DIR",
        "write to DIR (default /var/lib/seep for root, else "
        "$XDG_STATE_HOME/seep or ~/.local/state/seep)"},
    {"group", 0, OPTS_TEXT, AT(group), 0, "GROUP", "let the members of GROUP read the history"},
    {"size", 0, OPTS_SIZE, AT(size_bytes), 0, "SIZE",
        "keep at most SIZE of a service (default 256MiB); the oldest chapter "
        "goes first"},
    {"keep", 0, OPTS_TIME, AT(keep_ns), 0, "TIME",
        "keep chapters for TIME (default 30d); with SIZE it determines how "
        "detailed the time line is"},
    {"no-symbols", 0, OPTS_FLAG, AT(no_symbols), 0, NULL,
        "do not keep the names of functions: a report then needs the "
        "programs that ran"},
    {"debug-dir", 0, OPTS_PATHS, AT(debug_dirs), 0, "DIR",
        "search DIR for debug information and modules"},
    {0},
};

static const struct opts_option rows[] = {
    {"once", 0, OPTS_FLAG, AT(once), 0, NULL,
        "make one round and exit, for a timer: write the state of all "
        "processes, and give back what the dead ones have taken"},
    {0},
};

static const struct opts_option rule_rows[] = {
    {"rule", 0, OPTS_LIST, AT(rules), 0, "RULE",
        "when RULE is broken, write a snapshot into the history and a line to "
        "standard error, at most once an hour for each service: 'live > 2GiB', "
        "'growth > 64MiB/10m', 'room < 10%' (of the memory cgroup or "
        "RLIMIT_AS), each with 'for 5m' and 'in redis*'"},
    {"exec", 0, OPTS_TEXT, AT(command), 0, "CMD",
        "then also run CMD, without a shell, with SEEP_RULE, SEEP_PID, "
        "SEEP_SERVICE, SEEP_VALUE and SEEP_SNAPSHOT in its environment; it "
        "is killed after 30 s"},
    {0},
};

static const struct opts_group options[] = {{NULL, rows, 0}, {"History", history_rows, 0},
    {"Rules", rule_rows, 0}, {"HTTP, as seep serve", serve_opts_rows, AT(serve)},
    {"Profiles for Pyroscope, as seep push", push_opts_watch, AT(push)}, {0}};

static void say(void *context, const char *text)
{
	(void)context;
	die_warn("%s", text);
}

static gid_t find_group(const char *name)
{
	const struct group *g = getgrnam(name);
	char *end;
	unsigned long number;

	if (g)
		return g->gr_gid;
	number = strtoul(name, &end, 10);
	if (*name < '0' || *name > '9' || *end || number >= UINT32_MAX)
		die(CMD_USAGE, "watch: there is no group \"%s\"", name);
	return (gid_t)number;
}

static void check_numbers(const struct watch_options *o)
{
	if (o->size_bytes < SIZE_MIN)
		die(CMD_USAGE, "watch: --size takes a size from 1MiB on");
	if (o->keep_ns < KEEP_MIN_NS || o->keep_ns > KEEP_MAX_NS)
		die(CMD_USAGE, "watch: --keep takes a time from 1m to 3650d");
}

/* Kept as long as the program runs. */
static void take_rules(const struct watch_options *o, struct watch_plan *plan)
{
	struct rule *rules = calloc(o->rules.count + 1, sizeof(*rules));

	if (!rules)
		die(CMD_INPUT, "watch: out of memory");
	for (size_t i = 0; i < o->rules.count; i++) {
		struct rule_fault fault;

		if (!watch_rule_parse(o->rules.items[i], &rules[i], &fault))
			die(CMD_USAGE, "watch: --rule '%s', character %zu: %s", o->rules.items[i],
			    fault.column, fault.words);
	}
	if (o->command && o->rules.count == 0)
		die(CMD_USAGE, "watch: --exec needs a --rule");
	plan->rules = rules;
	plan->rule_texts = o->rules.items;
	plan->rule_count = o->rules.count;
	plan->command = o->command;
}

/* The server, if it is asked for; it begins with the loop. */
static void take_server(const struct cmd *self, const struct watch_options *o,
    const struct names_options *naming, struct serve_plan *ret)
{
	const struct serve_opts *s = &o->serve;

	if (!s->listen) {
		if (s->token_file || s->no_auth || s->per_process || s->top || s->hosts.count)
			die(CMD_USAGE,
			    "watch: --token-file, --no-auth, --host, "
			    "--per-process and --top need --listen");
		return;
	}
	if (o->once)
		die(CMD_USAGE, "watch: --once and --listen cannot be combined");
	serve_opts_finish(self->name, s, naming, ret);
}

#define PUSH_EVERY_NS (UINT64_C(300) * 1000000000)

/* What pushes, if it is asked for; it begins with the loop. */
static void take_pusher(const struct cmd *self, struct watch_options *o,
    const struct names_options *naming, const struct targets *targets, struct push_order *ret)
{
	struct push_opts *p = &o->push;

	if (!p->url) {
		if (p->token_file || p->tenant || p->labels.count || p->every_ns)
			die(CMD_USAGE,
			    "watch: --every, --push-token-file, --tenant and "
			    "--label need --push");
		return;
	}
	if (o->once)
		die(CMD_USAGE, "watch: --once and --push cannot be combined");
	if (p->every_ns == 0)
		p->every_ns = PUSH_EVERY_NS;
	push_opts_finish(self->name, p, naming, targets, ret);
}

static int run(const struct cmd *self, int argc, char **argv)
{
	struct watch_options o = {.size_bytes = SIZE_DEFAULT, .keep_ns = KEEP_DAYS * DAY_NS};
	struct watch_plan plan = {.say = say};
	char **kept = net_keep(argc, argv);
	struct fault where = {""};
	struct serve_plan serve;
	struct push_order push;
	struct metrics_source source = {0};
	struct targets targets;
	struct guest guest;
	int count, err;

	count = opts_parse(self, argc, argv, &o);
	check_numbers(&o);
	name_opts_check(self->name, o.debug_dirs);
	plan.store = (struct store_plan){
	    .path = o.history, .size_bytes = o.size_bytes, .keep_ns = o.keep_ns};
	if (o.group) {
		plan.store.has_group = true;
		plan.store.group = find_group(o.group);
	}
	plan.once = o.once;
	plan.naming =
	    (struct names_options){.debug_dirs = o.debug_dirs, .no_symbols = o.no_symbols};
	take_rules(&o, &plan);
	take_server(self, &o, &plan.naming, &serve);
	targets_take(self->name, argv + 1, (size_t)count, &targets);
	plan.pids = targets.pids;
	plan.pid_count = targets.pid_count;
	plan.directories = targets.directories;
	take_pusher(self, &o, &plan.naming, &targets, &push);
	if (o.serve.listen || o.push.url)
		net_enter(self->name, kept);
	if (o.push.url) {
		err = net_table->push_guest(&push, &guest, &where);
		if (err < 0)
			die(err == -EINVAL ? CMD_USAGE : CMD_INPUT, "watch: %s", where.text);
		plan.guests[plan.guest_count++] = guest;
	}
	if (o.serve.listen) {
		if (o.push.url) {
			source.put = net_table->push_metrics;
			serve.sources = &source;
			serve.source_count = 1;
		}
		if (net_table->serve_guest(&serve, &guest, &where) < 0)
			die(CMD_INPUT, "watch: %s", where.text);
		plan.guests[plan.guest_count++] = guest;
	}
	err = watch_run(&plan, &where);
	if (err < 0)
		die(CMD_INPUT, "watch: %s", where.text);
	return CMD_OK;
}

const struct cmd cmd_watch = {
    .name = "watch",
    .summary = "keep a history of all processes that are traced",
    .operands = "[INPUT...]",
    .about = "Follows the processes that are traced, whoever started them, and "
             "writes what they allocate to a history: a folder for each service, in "
             "it a recording for each day. INPUT is a PID or a directory of "
             "segments; without INPUT all processes are followed that seep ls "
             "lists, and those in containers.\n\n"
             "A process that has ended is written down and what it has taken of "
             "the segment directory is given back. Only segments of the user who "
             "watches, and those below /run/seep, are removed; a segment whose "
             "seep record runs is left to that. It runs in the foreground until "
             "SIGTERM or SIGINT.",
    .options = options,
    .run = run,
};
