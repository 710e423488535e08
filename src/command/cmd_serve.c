/* cmd_serve.c - seep serve: metrics, profiles and pages by HTTP. */
/* SPDX-License-Identifier: Apache-2.0 */

#include "command/cmd.h"

#include "base/std.h"
#include "command/shell/die.h"
#include "command/options/view_opts.h"
#include "command/shell/net.h"
#include "command/options/opts.h"
#include "command/options/serve_opts.h"
#include "command/shell/input.h"

struct serve_command {
	struct serve_opts serve;
	struct names_options naming;
};

static int run(const struct cmd *self, int argc, char **argv)
{
	struct serve_command o = {.serve = {0}};
	char **kept = net_keep(argc, argv);
	int count = opts_parse(self, argc, argv, &o);
	struct fault where = {""};
	struct targets targets;
	struct serve_plan plan;

	serve_opts_finish(self->name, &o.serve, &o.naming, &plan);
	name_opts_check(self->name, o.naming.debug_dirs);
	targets_take(self->name, argv + 1, (size_t)count, &targets);
	net_enter(self->name, kept);
	plan.pids = targets.pids;
	plan.pid_count = targets.pid_count;
	plan.directories = targets.directories;
	if (net_table->serve(&plan, &where) < 0)
		die(CMD_INPUT, "%s: %s", self->name, where.text);
	return CMD_OK;
}

#define AT(field) offsetof(struct serve_command, field)

static const struct opts_group options[] = {
    {NULL, serve_opts_rows, AT(serve)}, {"Where names come from", name_opts_rows, AT(naming)}, {0}};

const struct cmd cmd_serve = {
    .name = "serve",
    .summary = "answer Prometheus, pprof and browsers by HTTP",
    .operands = "[INPUT...]",
    .about = "Answers questions about the processes that are traced now: /metrics "
             "for Prometheus, /debug/pprof/heap for go tool pprof and all that "
             "scrape it, and pages for a browser. INPUT is a PID or a directory of "
             "segments; without INPUT all processes are served that seep ls lists. "
             "The processes are not disturbed: only their counters are read.\n\n"
             "It listens on 127.0.0.1:7337, where every user of this machine can "
             "ask. It runs in the foreground until SIGTERM or SIGINT. seep watch "
             "--listen does the same while it keeps a history.",
    .options = options,
    .run = run,
};
