/* cmd_report.c - seep report: who allocated what. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stddef.h>

#include "cli/cmd.h"
#include "cli/die.h"
#include "cli/input.h"
#include "cli/name_opts.h"
#include "cli/opts.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/view_opts.h"
#include "report/growth.h"
#include "report/json.h"
#include "report/text.h"

struct report_options {
	struct view_opts view;
	int format; /* enum report_format */
	const char *growth, *path;
	struct names_options naming;
	struct output_view show;
	/* made of the above */
	struct body_options body;
	struct growth_moment from, to;
};

enum report_format { REPORT_TEXT, REPORT_JSON };

/* Mistakes are told before anything is read. */
static void
finish(struct report_options *o)
{
	if (o->growth && !growth_parse(o->growth, &o->from, &o->to))
		die(CMD_USAGE,
		    "report: --growth takes FROM..TO in seconds or percent, as "
		    "10..60 or 30%%..100%%, not \"%s\"",
		    o->growth);
	if (o->format == REPORT_JSON)
		view_opts_finish_exact("report", &o->view, &o->body.view);
	else
		view_opts_finish("report", &o->view, &o->body);
}

static int
write_report(const struct page *page, const struct session *s,
    struct names *names, const struct report_options *o)
{
	int err;

	if (o->format == REPORT_JSON)
		return json_write(
		    page->out, s, names, &o->body.view, SEEP_VERSION);
	if (!o->growth)
		return text_write(page, s, names, &o->body);
	err = growth_write(page, s, names, &o->body, &o->from, &o->to);
	if (err == -ENODATA)
		die(CMD_INPUT,
		    "report: --growth needs a recording made over time; make "
		    "one with: seep record CMD");
	return err;
}

static int
run(const struct cmd *self, int argc, char **argv)
{
	struct report_options o = {.view = view_opts_default};
	struct session *session;
	struct names *names;
	struct terminal terminal;
	struct output out;
	struct page page;
	int answer, n, err;

	n = opts_parse(self, argc, argv, &o);
	finish(&o);
	progress_begin("reading", n ? argv[1] : INPUT_DEFAULT);
	session = input_load(n ? argv[1] : NULL);
	answer = session->is_truncated ? CMD_INPUT : CMD_OK;
	names = name_opts_open(self->name, &o.naming);
	name_opts_gather(names, session);
	output_open(&out, o.path);
	progress_begin("finding names", NULL);
	output_show(&out, &o.show, answer, &terminal);
	page = (struct page){.out = out.file,
	    .width = terminal.columns,
	    .colour = terminal.colour,
	    .utf8 = terminal.utf8};
	err = write_report(&page, session, names, &o);
	if (err == -ENOMEM)
		die(CMD_INPUT, "report: out of memory");
	if (err == -ESRCH)
		die(CMD_INPUT, "report: there is no process %u in it",
		    o.view.pid);
	progress_end();
	output_finish(&out);
	names_free(names);
	session_free(session);
	return answer;
}

#define AT(field) offsetof(struct report_options, field)

static const struct opts_option over_time[] = {
    {"growth", 0, OPTS_RANGE, AT(growth), 0, "[FROM..TO]",
        "what grew between two moments (10..60, 30%..90%)"},
    {0},
};

static const struct opts_option output[] = {
    {"format", 0, OPTS_WORD, AT(format), 0, "text|json",
        "for people (the default) or for programs: all figures of all sites"},
    {"output", 'o', OPTS_TEXT, AT(path), 0, "FILE",
        "write to FILE when complete"},
    {0},
};

static const struct opts_group options[] = {
    {"What to show", view_opts_metrics, AT(view)},
    {"Over time", over_time, 0},
    {"Which sites", view_opts_filters, AT(view)},
    {"How to show them", view_opts_shapes, AT(view)},
    {"Where names come from", name_opts_rows, AT(naming)},
    {"Output", output, 0},
    {"On a terminal", output_view_rows, AT(show)},
    {0},
};

const struct cmd cmd_report = {
    .name = "report",
    .summary = "who allocated what: a recording, segment or PID",
    .operands = "[INPUT]",
    .about = "Says who allocated the memory of a program, from INPUT: a "
             "recording (default: " INPUT_DEFAULT "), a segment or snapshot "
             "file, a directory of them, or the PID of a traced process "
             "(./1234 is a file of that name).",
    .options = options,
    .run = run,
};
