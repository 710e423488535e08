/* cmd_push.c - seep push: profiles for a Pyroscope server. */
/* SPDX-License-Identifier: Apache-2.0 */

#include "command/cmd.h"

#include "base/std.h"
#include "command/shell/die.h"
#include "command/options/view_opts.h"
#include "command/shell/net.h"
#include "command/options/serve_opts.h"

struct push_command {
	struct push_opts push;
	struct names_options naming;
};

static int run(const struct cmd *self, int argc, char **argv)
{
	struct push_command o = {.push = {0}};
	char **kept = net_keep(argc, argv);
	int count = opts_parse(self, argc, argv, &o), err;
	struct fault where = {""};
	struct targets targets;
	struct push_order order;

	if (count < 1)
		die(CMD_USAGE, "push: needs the URL of a server");
	o.push.url = argv[1];
	name_opts_check(self->name, o.naming.debug_dirs);
	targets_take(self->name, argv + 2, (size_t)count - 1, &targets);
	push_opts_finish(self->name, &o.push, &o.naming, &targets, &order);
	net_enter(self->name, kept);
	err = net_table->push(&order, &where);
	if (err < 0)
		die(err == -EINVAL ? CMD_USAGE : CMD_INPUT, "push: %s", where.text);
	return CMD_OK;
}

#define AT(field) offsetof(struct push_command, field)

static const struct opts_group options[] = {
    {NULL, push_opts_rows, AT(push)}, {"Where names come from", name_opts_rows, AT(naming)}, {0}};

const struct cmd cmd_push = {
    .name = "push",
    .summary = "send profiles to a Pyroscope server",
    .operands = "URL [INPUT...]",
    .about = "Sends a profile of each service that is traced to the Pyroscope "
             "server at URL: all of its processes together, by call stack, with "
             "what is live now (inuse_*) and what was allocated (alloc_*). INPUT is "
             "a PID or a directory of segments; without INPUT all processes are "
             "read that seep ls lists.\n\n"
             "Without --every it pushes once, and alloc_* is since the start of "
             "each process. With it, alloc_* is since the last profile that the "
             "server has accepted: a push that fails loses no sums. Neither command "
             "lines nor pids are sent. seep watch --push does the same while it "
             "keeps a history.",
    .options = options,
    .run = run,
};
