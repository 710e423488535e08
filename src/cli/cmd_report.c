/* cmd_report.c - seep report: who allocated what. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>

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

static const char usage[] = "[INPUT] [OPTION...]";
static const char about[] =
    "Says who allocated the memory of a program, from INPUT: a recording\n"
    "(default: " INPUT_DEFAULT "), a segment or snapshot file, a directory of\n"
    "them, or the PID of a traced process (./1234 is a file of that name).";

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

int
cmd_report(int argc, char **argv)
{
	struct names_options naming = {0};
	struct text_options text = {.top = TOP, .threshold = 1};
	const char *format = "text", *path = NULL, *growth = NULL;
	unsigned depth = UINT32_MAX;
	struct output_view view = {0};
	const struct opts_option table[] = {
	    {"live", 0, OPTS_CHOICE, &text.metric, TEXT_LIVE, NULL,
	        "what is not freed (the default)"},
	    {"peak", 0, OPTS_CHOICE, &text.metric, TEXT_PEAK, NULL,
	        "what was live at the highest moment"},
	    {"allocs", 0, OPTS_CHOICE, &text.metric, TEXT_ALLOCS, NULL,
	        "all that was ever allocated"},
	    {"growth", 0, OPTS_RANGE, &growth, 0, "[FROM..TO]",
	        "what grew between two moments (10..60, 30%..90%)"},
	    {"tree", 0, OPTS_CHOICE, &text.shape, TEXT_TREE, NULL,
	        "functions and their callers (the default)"},
	    {"table", 0, OPTS_CHOICE, &text.shape, TEXT_TABLE, NULL,
	        "one line per site"},
	    {"top", 0, OPTS_COUNT, &text.top, 0, "N",
	        "the N heaviest (default 20, 0: all)"},
	    {"threshold", 0, OPTS_PERCENT, &text.threshold, 0, "PCT",
	        "leave out what is below PCT percent (default 1)"},
	    {"depth", 0, OPTS_COUNT, &depth, 0, "N",
	        "frames of a stack (0: all)"},
	    {"format", 0, OPTS_TEXT, &format, 0, "FORMAT", "text or json"},
	    {"output", 'o', OPTS_TEXT, &path, 0, "FILE",
	        "write to FILE when complete"},
	    NAME_OPTS_ROWS(&naming),
	    {"color", 0, OPTS_WORD, &view.colour, 0, TERMINAL_COLOURS,
	        "on a terminal (the default), or as said"},
	    {"no-pager", 0, OPTS_FLAG, &view.no_pager, 0, NULL,
	        "on a terminal too, all at once"},
	    {0},
	};
	struct session *session;
	struct names *names;
	struct terminal terminal;
	struct output out;
	bool json, damaged;
	int n, err;

	n = opts_parse(argc, argv, table, usage, about);
	if (n > 1)
		die(CMD_USAGE, "report: one INPUT at a time, not \"%s\" too",
		    argv[2]);
	json = strcmp(format, "json") == 0;
	if (!json && strcmp(format, "text") != 0)
		die(CMD_USAGE, "report: --format is text or json, not \"%s\"",
		    format);
	if (growth)
		check_range(growth);
	text.depth = depth;
	if (depth == UINT32_MAX)
		text.depth =
		    text.shape == TEXT_TABLE ? TABLE_FRAMES : TREE_FRAMES;
	progress_begin("reading", n ? argv[1] : INPUT_DEFAULT);
	session = input_load(n ? argv[1] : NULL);
	damaged = session->is_truncated;
	names = name_opts_open("report", &naming);
	output_open(&out, path);
	progress_begin("finding names", NULL);
	output_show(&out, &view, damaged ? CMD_INPUT : CMD_OK, &terminal);
	text.colour = terminal.colour;
	text.utf8 = terminal.utf8;
	if (json)
		err = json_write(out.file, session, names, SEEP_VERSION);
	else if (growth)
		err = write_growth(out.file, session, names, &text, growth);
	else
		err = text_write(out.file, session, names, &text);
	if (err == -ENOMEM)
		die(CMD_INPUT, "report: out of memory");
	progress_end();
	output_finish(&out);
	names_free(names);
	session_free(session);
	return damaged ? CMD_INPUT : CMD_OK;
}
