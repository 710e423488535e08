/* cmd_diff.c - seep diff: what changed from one input to another. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

#include "cli/cmd.h"
#include "cli/die.h"
#include "cli/input.h"
#include "cli/name_opts.h"
#include "cli/opts.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/view_opts.h"
#include "html/html.h"
#include "json/diff_json.h"

struct diff_options {
	struct view_opts view;
	int format; /* enum diff_format */
	bool full;
	const char *path;
	struct names_options naming;
	struct output_view show;
};

enum diff_format { DIFF_TEXT, DIFF_JSON, DIFF_HTML };

static struct session *
read_side(const char *input, struct diff_side *ret)
{
	struct session *s;

	progress_begin("reading", input);
	s = input_load(input);
	*ret = (struct diff_side){.name = input, .session = s};
	return s;
}

static int
write_html(FILE *out, const struct diff_side *old, const struct diff_side *new,
    struct names *names, const struct diff_options *o,
    const struct view_options *view)
{
	const struct html_session sides[] = {
	    {.session = old->session, .title = old->name},
	    {.session = new->session, .title = new->name},
	};
	const struct html_options options = {.version = SEEP_VERSION,
	    .metric = o->view.metric,
	    .full = o->full,
	    .compare = true};

	return html_write_sessions(out, sides, 2, names, view, &options);
}

static int
run(const struct cmd *self, int argc, char **argv)
{
	struct diff_options o = {.view = view_opts_default};
	struct diff_side old, new;
	struct session *before, *after;
	struct body_options body;
	struct terminal terminal;
	struct names *names;
	struct output out;
	int answer, err;

	(void)opts_parse(self, argc, argv, &o);
	/* start-up remainders are on both sides */
	o.view.no_suppress = true;
	view_opts_finish(self->name, &o.view, &body);
	if (o.format == DIFF_HTML)
		output_not_terminal(self->name, o.path);
	before = read_side(argv[1], &old);
	after = read_side(argv[2], &new);
	answer =
	    before->is_truncated || after->is_truncated ? CMD_INPUT : CMD_OK;
	names = name_opts_open(self->name, &o.naming);
	name_opts_gather(names, before);
	name_opts_gather(names, after);
	output_limit(o.show.max_bytes);
	output_open(&out, o.path);
	progress_begin("finding names", NULL);
	output_show(&out, &o.show, answer, &terminal);
	if (o.format == DIFF_HTML) {
		err = write_html(out.file, &old, &new, names, &o, &body.view);
	} else if (o.format == DIFF_JSON) {
		err = diff_json_write(
		    out.file, &old, &new, names, &body.view, SEEP_VERSION);
	} else {
		struct layout_lacks lacks = {0};
		const struct layout page = {.out = out.file,
		    .width = terminal.columns,
		    .colour = terminal.colour,
		    .utf8 = terminal.utf8,
		    .full_names = o.view.full_names,
		    .lacks = &lacks};

		err = diff_write(&page, &old, &new, names, &body);
		free(lacks.modules);
	}
	if (err == -ENOMEM)
		die(CMD_INPUT, "diff: out of memory");
	if (err == -ESRCH)
		die(CMD_INPUT, "diff: neither input has a process %u",
		    o.view.pid);
	progress_end();
	output_finish(&out);
	names_free(names);
	session_free(before);
	session_free(after);
	return answer;
}

#define AT(field) offsetof(struct diff_options, field)

static const struct opts_option output[] = {
    {"format", 0, OPTS_WORD, AT(format), 0, "text|json|html",
        "text for people (the default), json for programs, or html, one page "
        "for a browser"},
    {"full", 0, OPTS_FLAG, AT(full), 0, NULL,
        "put all sites into the page, even if there are very many"},
    {"output", 'o', OPTS_TEXT, AT(path), 0, "FILE",
        "write to FILE when complete"},
    {0},
};

static const struct opts_group options[] = {
    {"What to compare", view_opts_metrics, AT(view)},
    {"Which sites", view_opts_filters, AT(view)},
    {"How to show them", view_opts_shapes, AT(view)},
    {"Where names come from", name_opts_rows, AT(naming)},
    {"Output", output, 0},
    {"On a terminal", output_view_rows, AT(show)},
    {0},
};

const struct cmd cmd_diff = {
    .name = "diff",
    .summary = "show what changed from one input to another",
    .operands = "OLD NEW",
    .about =
        "Compares two inputs of whatever kind (recordings, segments, "
        "snapshots, directories of them, PIDs of running processes) and "
        "prints what the second has more or less of, with signs. Call stacks "
        "are matched by the names in them, so that OLD and NEW may come from "
        "two runs or two builds of a program; all processes of an input are "
        "taken together.",
    .options = options,
    .run = run,
};
