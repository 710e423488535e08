/* cmd_diff.c - seep diff: what changed from one input to another. */
/* SPDX-License-Identifier: Apache-2.0 */

#include "command/cmd.h"

#include "base/std.h"
#include "command/shell/die.h"
#include "command/options/event_opts.h"
#include "command/shell/input.h"
#include "command/options/view_opts.h"
#include "command/options/opts.h"
#include "command/shell/output.h"
#include "command/options/record_opts.h"
#include "print/text/body.h"
#include "print/page/html.h"
#include "print/json/report_json.h"
#include "view/sites/amount.h"

struct diff_options {
	struct view_opts view;
	int format; /* enum diff_format */
	bool full;
	const char *path;
	struct names_options naming;
	struct output_view show;
	struct moment_opts moments;
	struct opts_list at;     /* two moments, or none */
	struct moment at_two[2]; /* made of it */
};

enum diff_format { DIFF_TEXT, DIFF_JSON, DIFF_HTML };

static void read_side(const char *input, struct diff_side *ret)
{
	progress_begin("reading", input);
	ret->session = input_load(input);
	ret->name = ret->session->title ? ret->session->title : input;
}

/* One of two moments, from the event log. */
static void read_moment(
    const char *input, const struct diff_options *o, int which, struct diff_side *ret)
{
	const char *name = input ? input : INPUT_DEFAULT;
	struct session *s;
	uint64_t at_ms;
	char *title;
	bool is_damaged = false;

	progress_begin("reading", name);
	s = input_load(input);
	at_ms = event_opts_set_back(
	    "diff", input, s, o->at.items[which], &o->at_two[which], &is_damaged);
	s->is_truncated |= is_damaged;
	if (asprintf(&title, "%s at %.2f s", name, (double)at_ms / 1e3) < 0)
		die(CMD_INPUT, "diff: out of memory");
	*ret = (struct diff_side){.name = title, .session = s};
}

/* Two inputs, or two moments of one. */
static void read_sides(int count, char **inputs, const struct diff_options *o,
    struct diff_side *old, struct diff_side *new)
{
	struct moment_opts_pair pair;

	if (o->at.count > 0) {
		read_moment(count > 0 ? inputs[0] : NULL, o, 0, old);
		read_moment(count > 0 ? inputs[0] : NULL, o, 1, new);
		return;
	}

	if (!o->moments.text) {
		read_side(inputs[0], old);
		read_side(inputs[1], new);
		input_warn_swapped("diff", old->session, new->session);
		return;
	}
	moment_opts_load("diff", &o->moments, count > 0 ? inputs[0] : NULL, &pair);
	*old = (struct diff_side){.name = pair.old_title, .session = pair.old};
	*new = (struct diff_side){.name = pair.new_title, .session = pair.new};
}

/* Of --at, with the moments that it gives. */
static void check_at(int count, struct diff_options *o)
{
	if (o->at.count != 2 || o->moments.text || count > 1)
		die(CMD_USAGE,
		    "diff: two moments of one INPUT are compared: seep diff "
		    "INPUT --at T1 --at T2, without --growth");
	if (o->view.metric != VIEW_LIVE && o->view.metric != VIEW_ALLOCS)
		die(CMD_USAGE, "diff: --at works with --live or --allocs only");
	if (amount_is_resident(o->view.order))
		die(CMD_USAGE,
		    "diff: --at is from an event log, which says nothing of "
		    "resident memory");
	for (int i = 0; i < 2; i++)
		event_opts_parse("diff", o->at.items[i], &o->at_two[i]);
}

static void check_operands(int count, char *const *inputs, struct diff_options *o)
{
	moment_opts_refuse("diff", count, inputs,
	    o->at.count > 0 || o->moments.text || amount_is_resident(o->view.order) ||
	        (o->view.metric != VIEW_LIVE && o->view.metric != VIEW_ALLOCS));
	if (o->at.count > 0) {
		check_at(count, o);
		return;
	}
	if (!o->moments.text) {
		if (count != 2)
			die(CMD_USAGE,
			    "diff: arguments are missing: seep diff [OPTION...] "
			    "OLD NEW, or seep diff --growth FROM..TO INPUT "
			    "(see: seep diff --help)");
		return;
	}
	if (count > 1)
		die(CMD_USAGE, "diff: --growth compares two moments of one INPUT");
	if (o->view.metric != VIEW_LIVE && o->view.metric != VIEW_ALLOCS)
		die(CMD_USAGE,
		    "diff: --growth works with --live or --allocs only, "
		    "because a time line has no other figures");
	moment_opts_parse("diff", &o->moments);
}

static int write_html(FILE *out, const struct diff_side *old, const struct diff_side *new,
    struct names *names, const struct diff_options *o, const struct view_options *view)
{
	const struct html_session sides[] = {
	    {.session = old->session, .title = old->name},
	    {.session = new->session, .title = new->name},
	};
	const struct html_options options = {
	    .version = SEEP_VERSION, .metric = o->view.metric, .full = o->full, .compare = true};

	return html_write_sessions(out, sides, 2, names, view, &options);
}

static int run(const struct cmd *self, int argc, char **argv)
{
	struct diff_options o = {.view = view_opts_default};
	struct diff_side old, new;
	struct session *before, *after;
	struct body_options body;
	struct terminal terminal;
	struct names *names;
	struct output out;
	int answer, err, count;

	count = opts_parse(self, argc, argv, &o);
	check_operands(count, argv + 1, &o);
	/* start-up remainders are on both sides */
	o.view.no_suppress = true;
	view_opts_finish(self->name, &o.view, &body);
	if (o.format != DIFF_TEXT)
		view_opts_warn_text(
		    self->name, &o.view, o.format == DIFF_HTML ? "the page" : "json");
	if (o.format == DIFF_HTML)
		output_not_terminal(self->name, o.path);
	read_sides(count, argv + 1, &o, &old, &new);
	before = (struct session *)(uintptr_t)old.session;
	after = (struct session *)(uintptr_t) new.session;
	if (amount_is_resident(o.view.order)) {
		rss_opts_read(self->name, before, o.view.pid);
		rss_opts_read(self->name, after, o.view.pid);
	}
	answer = before->is_truncated || after->is_truncated ? CMD_INPUT : CMD_OK;
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
		err = diff_json_write(out.file, &old, &new, names, &body.view, SEEP_VERSION);
	} else {
		struct layout_lacks lacks = {0};
		const struct layout page = {.out = out.file,
		    .width = terminal.columns,
		    .colour = terminal.colour,
		    .utf8 = terminal.utf8,
		    .full_names = o.view.full_names,
		    .lacks = &lacks};

		err = compare_text_diff(&page, &old, &new, names, &body);
		free(lacks.modules);
	}
	if (err == -ENOMEM)
		die(CMD_INPUT, "diff: out of memory");
	if (err == -ESRCH)
		die(CMD_INPUT, "diff: neither input has a process %u", o.view.pid);
	progress_end();
	output_finish(&out);
	names_free(names);
	session_free(before);
	session_free(after);
	if (o.moments.text || o.at.count > 0) {
		free((void *)(uintptr_t)old.name);
		free((void *)(uintptr_t) new.name);
	}
	return answer;
}

#define AT(field) offsetof(struct diff_options, field)

static const struct opts_option over_time[] = {
    {"growth", 0, OPTS_RANGE, AT(moments.text), 0, "[FROM..TO]",
        "compare two moments of one recording or history " MOMENT_OPTS_FORMS},
    {"at", 0, OPTS_LIST, AT(at), 0, "MOMENT",
        "given twice: compare what was live at two moments of one INPUT " EVENT_OPTS_AT},
    {0},
};

static const struct opts_option output[] = {
    {"format", 0, OPTS_WORD, AT(format), 0, "text|json|html",
        "text for people (the default), json for programs, or html, one page "
        "for a browser"},
    {"full", 0, OPTS_FLAG, AT(full), 0, NULL,
        "put all sites into the page, even if there are very many"},
    {"output", 'o', OPTS_TEXT, AT(path), 0, "FILE", "write to FILE when complete"},
    {0},
};

static const struct opts_group options[] = {
    {"What to compare", view_opts_metrics, AT(view)},
    {"Over time", over_time, 0},
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
    .operands = "OLD [NEW]",
    .about = "Compares two inputs of whatever kind (recordings, segments, "
             "snapshots, directories of them, PIDs of running processes) and "
             "prints what the second has more or less of, with signs. Call stacks "
             "are matched by the names in them, so that OLD and NEW may come from "
             "two runs or two builds of a program; all processes of an input are "
             "taken together. With --growth there is one INPUT, a recording or "
             "history, and OLD and NEW are two moments of it; the same with two "
             "--at, which need an event log. " INPUT_MOMENT_HELP,
    .options = options,
    .run = run,
};
