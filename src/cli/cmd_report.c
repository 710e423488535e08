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
#include "report/growth.h"
#include "report/json.h"
#include "report/text.h"

enum { TABLE_FRAMES = 3, TREE_FRAMES = 24, TOP = 20 };

struct report_options {
	struct text_options text;
	unsigned depth;
	int format; /* enum report_format */
	const char *growth, *path;
	struct names_options naming;
	struct output_view view;
};

enum report_format { REPORT_TEXT, REPORT_JSON };

static void
check_range(const char *range)
{
	struct growth_moment from, to;

	if (!growth_parse(range, &from, &to))
		die(CMD_USAGE,
		    "report: --growth takes FROM..TO in seconds or percent, as "
		    "10..60 or 30%%..100%%, not \"%s\"",
		    range);
}

static int
write_growth(FILE *out, const struct session *s, struct names *names,
    const struct text_options *text, const char *range)
{
	struct growth_options o = {.top = text->top,
	    .depth = text->depth,
	    .threshold = text->threshold,
	    .tree = text->shape == TEXT_TREE};
	int err;

	(void)growth_parse(range, &o.from, &o.to); /* it was checked */
	err = growth_write(out, s, names, &o);
	if (err == -ENODATA)
		die(CMD_INPUT,
		    "report: --growth needs a recording made over time; make "
		    "one with: seep record CMD");
	return err;
}

static int
run(const struct cmd *self, int argc, char **argv)
{
	struct report_options o = {
	    .text = {.top = TOP, .threshold = 1}, .depth = UINT32_MAX};
	struct session *session;
	struct names *names;
	struct terminal terminal;
	struct output out;
	int answer, n, err;

	n = opts_parse(self, argc, argv, &o);
	if (o.growth)
		check_range(o.growth);
	o.text.depth = o.depth;
	if (o.depth == UINT32_MAX)
		o.text.depth =
		    o.text.shape == TEXT_TABLE ? TABLE_FRAMES : TREE_FRAMES;
	progress_begin("reading", n ? argv[1] : INPUT_DEFAULT);
	session = input_load(n ? argv[1] : NULL);
	answer = session->is_truncated ? CMD_INPUT : CMD_OK;
	names = name_opts_open(self->name, &o.naming);
	output_open(&out, o.path);
	progress_begin("finding names", NULL);
	output_show(&out, &o.view, answer, &terminal);
	o.text.colour = terminal.colour;
	o.text.utf8 = terminal.utf8;
	if (o.format == REPORT_JSON)
		err = json_write(out.file, session, names, SEEP_VERSION);
	else if (o.growth)
		err = write_growth(out.file, session, names, &o.text, o.growth);
	else
		err = text_write(out.file, session, names, &o.text);
	if (err == -ENOMEM)
		die(CMD_INPUT, "report: out of memory");
	progress_end();
	output_finish(&out);
	names_free(names);
	session_free(session);
	return answer;
}

#define AT(field) offsetof(struct report_options, field)

static const struct opts_option what[] = {
    {"live", 0, OPTS_CHOICE, AT(text.metric), TEXT_LIVE, NULL,
        "what is not freed (the default)"},
    {"peak", 0, OPTS_CHOICE, AT(text.metric), TEXT_PEAK, NULL,
        "what was live at the highest moment"},
    {"allocs", 0, OPTS_CHOICE, AT(text.metric), TEXT_ALLOCS, NULL,
        "all that was ever allocated"},
    {"growth", 0, OPTS_RANGE, AT(growth), 0, "[FROM..TO]",
        "what grew between two moments (10..60, 30%..90%)"},
    {0},
};

static const struct opts_option shape[] = {
    {"tree", 0, OPTS_CHOICE, AT(text.shape), TEXT_TREE, NULL,
        "functions and their callers (the default)"},
    {"table", 0, OPTS_CHOICE, AT(text.shape), TEXT_TABLE, NULL,
        "one line per site"},
    {"top", 0, OPTS_COUNT, AT(text.top), 0, "N",
        "the N heaviest (default 20, 0: all)"},
    {"threshold", 0, OPTS_PERCENT, AT(text.threshold), 0, "PCT",
        "leave out what is below PCT percent (default 1)"},
    {"depth", 0, OPTS_COUNT, AT(depth), 0, "N", "frames of a stack (0: all)"},
    {0},
};

static const struct opts_option output[] = {
    {"format", 0, OPTS_WORD, AT(format), 0, "text|json",
        "for people (the default) or for programs"},
    {"output", 'o', OPTS_TEXT, AT(path), 0, "FILE",
        "write to FILE when complete"},
    {0},
};

static const struct opts_group options[] = {
    {"What to show", what, 0},
    {"How to show it", shape, 0},
    {"Where names come from", name_opts_rows, AT(naming)},
    {"Output", output, 0},
    {"On a terminal", output_view_rows, AT(view)},
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
