/* serve_opts.c - the options of the server, for serve and watch. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "command/options/serve_opts.h"

#include "base/std.h"
#include "command/cmd.h"
#include "command/options/view_opts.h"
#include "command/shell/die.h"
#include "print/json/report_json.h"

#define ADDRESS_DEFAULT "127.0.0.1:7337"

enum { TOP_MAX = 100 };

#define AT(field) offsetof(struct serve_opts, field)

const struct opts_option serve_opts_rows[] = {
    {"listen", 0, OPTS_TEXT, AT(listen), 0, "ADDR",
        "answer HTTP on ADDR: a number and a port (seep serve: default "
        "127.0.0.1:7337), or unix:PATH for a socket that only this user can "
        "reach"},
    {"token-file", 0, OPTS_TEXT, AT(token_file), 0, "FILE",
        "answer only those who know the token in the first line of FILE, as "
        "\"Authorization: Bearer TOKEN\" or as password of Basic; nobody else "
        "may be able to read FILE"},
    {"no-auth", 0, OPTS_FLAG, AT(no_auth), 0, NULL,
        "answer anybody, also on an address that other machines can reach"},
    {"host", 0, OPTS_LIST, AT(hosts), 0, "NAME",
        "answer requests for http://NAME/, too, not only for numbers and "
        "localhost; not needed with a token"},
    {"per-process", 0, OPTS_FLAG, AT(per_process), 0, NULL,
        "give metrics of each process in addition to those of services"},
    {"top", 0, OPTS_COUNT, AT(top), 0, "N",
        "give metrics of the N sites of each service that hold most (at most "
        "100; default 0)"},
    {0},
};

static void list_process(
    const struct process *p, const struct source *file, const char *folder, const char *name)
{
	const struct ls_row row = {.process = p,
	    .owner = file->uid,
	    .stored_bytes = file->stored_bytes,
	    .folder = folder,
	    .name = name};

	ls_json_process(&row);
}

static void list_end(void)
{
	ls_json_end(&(struct ls_json_end){0});
}

static const struct serve_list list = {
    .begin = ls_json_begin, .process = list_process, .end = list_end};

static void say(void *context, const char *text)
{
	(void)context;
	die_warn("%s", text);
}

void serve_opts_finish(const char *command, const struct serve_opts *o,
    const struct names_options *naming, struct serve_plan *ret)
{
	struct fault where = {""};

	*ret = (struct serve_plan){.token_file = o->token_file,
	    .hosts = o->hosts.items,
	    .host_count = o->hosts.count,
	    .per_process = o->per_process,
	    .top = o->top,
	    .naming = *naming,
	    .version = SEEP_VERSION,
	    .list = &list,
	    .say = say};
	view_opts_finish_exact(command, &view_opts_default, &ret->view);
	ret->view.depth = 0;
	if (address_parse(o->listen ? o->listen : ADDRESS_DEFAULT, &ret->address, &where) < 0)
		die(CMD_USAGE, "%s: --listen %s", command, where.text);
	if (o->top > TOP_MAX)
		die(CMD_USAGE, "%s: --top takes a number up to %d", command, TOP_MAX);
	if (o->token_file && o->no_auth)
		die(CMD_USAGE, "%s: --token-file and --no-auth cannot be combined", command);
	if (!ret->address.is_loopback && !o->token_file && !o->no_auth)
		die(CMD_USAGE,
		    "%s: other machines can reach %s: it needs --token-file, "
		    "or --no-auth if anybody may ask",
		    command, ret->address.text);
}

/* ---- push_opts: the options of pushing, for push and watch ---- */

#define SECOND_NS UINT64_C(1000000000)
#define DAY_S     UINT64_C(86400)

#define PUSH_OPTS_AT(field) offsetof(struct push_opts, field)

#define TOKEN_HELP \
	"send the token in the first line of FILE, which nobody else may be " \
	"able to read: as Bearer, or, if it is USER:PASSWORD, as Basic; the " \
	"file is read anew for each profile"

const struct opts_option push_opts_rows[] = {
    {"every", 0, OPTS_TIME, PUSH_OPTS_AT(every_ns), 0, "TIME",
        "push again and again, once in TIME (1s to 1d, 5m is good), until "
        "SIGTERM or SIGINT"},
    {"token-file", 0, OPTS_TEXT, PUSH_OPTS_AT(token_file), 0, "FILE", TOKEN_HELP},
    {"tenant", 0, OPTS_TEXT, PUSH_OPTS_AT(tenant), 0, "ID", "push as this tenant: X-Scope-OrgID"},
    {"label", 0, OPTS_LIST, PUSH_OPTS_AT(labels), 0, "NAME=VALUE",
        "add this label to all profiles; instance=VALUE replaces the host "
        "name; may be given several times"},
    {0},
};

const struct opts_option push_opts_watch[] = {
    {"push", 0, OPTS_TEXT, PUSH_OPTS_AT(url), 0, "URL",
        "push profiles of all services to the Pyroscope server at URL, "
        "http://HOST:PORT or https://HOST"},
    {"every", 0, OPTS_TIME, PUSH_OPTS_AT(every_ns), 0, "TIME",
        "push once in TIME (1s to 1d; default 5m)"},
    {"push-token-file", 0, OPTS_TEXT, PUSH_OPTS_AT(token_file), 0, "FILE", TOKEN_HELP},
    {"tenant", 0, OPTS_TEXT, PUSH_OPTS_AT(tenant), 0, "ID", "push as this tenant: X-Scope-OrgID"},
    {"label", 0, OPTS_LIST, PUSH_OPTS_AT(labels), 0, "NAME=VALUE",
        "add this label to all profiles that are pushed"},
    {0},
};

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
