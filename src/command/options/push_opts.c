/* push_opts.c - the options of pushing, for push and watch. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "command/options/serve_opts.h"

#include "base/std.h"
#include "command/cmd.h"
#include "command/shell/die.h"

#define SECOND_NS UINT64_C(1000000000)
#define DAY_S     UINT64_C(86400)

#define AT(field) offsetof(struct push_opts, field)

#define TOKEN_HELP \
	"send the token in the first line of FILE, which nobody else may be " \
	"able to read: as Bearer, or, if it is USER:PASSWORD, as Basic; the " \
	"file is read anew for each profile"

const struct opts_option push_opts_rows[] = {
    {"every", 0, OPTS_TIME, AT(every_ns), 0, "TIME",
        "push again and again, once in TIME (1s to 1d, 5m is good), until "
        "SIGTERM or SIGINT"},
    {"token-file", 0, OPTS_TEXT, AT(token_file), 0, "FILE", TOKEN_HELP},
    {"tenant", 0, OPTS_TEXT, AT(tenant), 0, "ID", "push as this tenant: X-Scope-OrgID"},
    {"label", 0, OPTS_LIST, AT(labels), 0, "NAME=VALUE",
        "add this label to all profiles; instance=VALUE replaces the host "
        "name; may be given several times"},
    {0},
};

const struct opts_option push_opts_watch[] = {
    {"push", 0, OPTS_TEXT, AT(url), 0, "URL",
        "push profiles of all services to the Pyroscope server at URL, "
        "http://HOST:PORT or https://HOST"},
    {"every", 0, OPTS_TIME, AT(every_ns), 0, "TIME", "push once in TIME (1s to 1d; default 5m)"},
    {"push-token-file", 0, OPTS_TEXT, AT(token_file), 0, "FILE", TOKEN_HELP},
    {"tenant", 0, OPTS_TEXT, AT(tenant), 0, "ID", "push as this tenant: X-Scope-OrgID"},
    {"label", 0, OPTS_LIST, AT(labels), 0, "NAME=VALUE",
        "add this label to all profiles that are pushed"},
    {0},
};

static void say(void *context, const char *text)
{
	(void)context;
	die_warn("%s", text);
}

void push_opts_finish(const char *command, const struct push_opts *o,
    const struct names_options *naming, const struct targets *targets, struct push_order *ret)
{
	if (o->every_ns && (o->every_ns < SECOND_NS || o->every_ns > DAY_S * SECOND_NS))
		die(CMD_USAGE, "%s: --every takes a time from 1s to 1d", command);
	*ret = (struct push_order){.url = o->url,
	    .token_file = o->token_file,
	    .tenant = o->tenant,
	    .labels = o->labels.items,
	    .label_count = o->labels.count,
	    .every_ns = o->every_ns,
	    .directories = targets->directories,
	    .pids = targets->pids,
	    .pid_count = targets->pid_count,
	    .naming = *naming,
	    .version = SEEP_VERSION,
	    .say = say};
}
