/* cmd_check.c - seep check: fails if a program leaks. */
/* SPDX-License-Identifier: Apache-2.0 */

#include "print/check/write.h"
#include "command/cmd.h"
#include "command/shell/die.h"
#include "command/shell/input.h"
#include "command/options/view_opts.h"
#include "command/options/opts.h"
#include "command/shell/output.h"
#include "view/sites/enum_words.h"
#include "kit/words/text.h"

enum { TOP = 20, TOLERANCE = 10 };

enum check_format { CHECK_TEXT, CHECK_JSON, CHECK_JUNIT, CHECK_SARIF };

struct check_command {
	uint64_t max_live, max_leaked, max_peak; /* UINT64_MAX: not given */
	const char *baseline, *write_baseline;
	double tolerance;
	uint64_t tolerance_bytes;
	bool list_suppressions;
	const char *write_suppressions;
	int dialect; /* enum write_dialect */
	bool any_live;
	struct opts_list fail_on;
	/* made of the above */
	bool fail_on_possible, fail_on_unjudged, fail_on_growth;
	struct view_opts sites;
	struct opts_regexp exe;
	int format; /* enum check_format */
	const char *path, *root;
	bool quiet, full_names;
	unsigned top, depth;
	struct names_options naming;
	struct output_view view;
};

static _Noreturn void die_memory(void)
{
	die(CMD_INPUT, "check: out of memory");
}

static struct check_limit limit(uint64_t bytes)
{
	return (struct check_limit){.given = bytes != UINT64_MAX, .bytes = bytes};
}

static void load_baseline(struct baseline *b, const char *path)
{
	struct fault where = {""};
	int err = baseline_load(b, path, &where);

	if (err == -ENOENT)
		die(CMD_INPUT,
		    "check: --baseline: %s; make it with: seep check "
		    "--write-baseline %s",
		    where.text, path);
	if (err < 0)
		die(CMD_INPUT, "check: --baseline: %s", where.text);
}

/* Sessions and views of all inputs; release_inputs() frees them. */
static struct check_input *load_inputs(const struct check_command *o, int count, char **names_of,
    struct names *names, struct suppress **ret_suppress)
{
	struct view_options view;
	struct check_input *inputs = calloc((size_t)count + 1, sizeof(*inputs));

	if (!inputs)
		die_memory();
	view_opts_finish_exact("check", &o->sites, &view);
	view.group = true;
	view.fold = true;
	view.merge = false; /* each process has its own verdict */
	*ret_suppress = view.suppress;
	for (int i = 0; i < (count ? count : 1); i++) {
		const char *name = count ? names_of[i] : NULL;

		progress_begin("reading", name ? name : INPUT_DEFAULT);
		inputs[i].name = name ? name : INPUT_DEFAULT;
		inputs[i].session = input_load(name);
		progress_begin("finding names", NULL);
		if (view_new(inputs[i].session, names, &view, &inputs[i].view) < 0)
			die_memory();
		if (!o->any_live && check_inherited_find(&inputs[i], names, &view) < 0)
			die_memory();
		inputs[i].suppress = view.suppress;
	}
	privacy_lift(); /* baselines are committed, verdicts are published */
	return inputs;
}

static void write_entries(const struct check *c, const struct check_command *o)
{
	struct output out;

	output_open(&out, strcmp(o->write_suppressions, "-") == 0 ? NULL : o->write_suppressions);
	(void)write_suppressions(out.file, c, (enum write_dialect)o->dialect);
	output_finish(&out);
}

static void release_inputs(struct check_input *inputs, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		check_inherited_release(&inputs[i]);
		view_free(inputs[i].view);
		session_free(inputs[i].session);
	}
	free(inputs);
}

/* The text goes to stdout if all other results go to files. */
static bool wants_text(const struct check_command *o)
{
	return !o->quiet && (o->path ? o->format != CHECK_TEXT : o->format == CHECK_TEXT);
}

static void write_baseline(const struct check *c, const char *path, bool quiet)
{
	static const char *const exact[] = {"fingerprint bytes blocks where", NULL};
	static const char *const sampled[] = {
	    "fingerprint bytes blocks where", "sampled: bytes and blocks are estimates", NULL};
	struct output out;

	if (c->is_damaged) {
		die_warn("check: %s: not written, because the input is incomplete", path);
		return;
	}
	output_open(&out, path);
	baseline_write(out.file, &c->now, c->sample_bytes ? sampled : exact);
	output_finish(&out);
	if (quiet)
		return;
	text_print(stdout, path);
	(void)printf(": %s written.\n", WORDS_COUNTED(c->now.count, "site"));
}

/*
 * Writes the verdict in the format and place of the options, and always as
 * text.
 */
static void write_verdict(const struct check *c, const struct check_command *o, int answer)
{
	static int (*const writers[])(FILE *, const struct check *,
	    const struct write_options *) = {[CHECK_TEXT] = write_text,
	    [CHECK_JSON] = write_json,
	    [CHECK_JUNIT] = write_junit,
	    [CHECK_SARIF] = write_sarif};
	char *here = o->root ? realpath(o->root, NULL) : getcwd(NULL, 0);
	struct write_options w = {.top = o->top,
	    .depth = o->depth,
	    .full_names = o->full_names,
	    .root = here,
	    .version = SEEP_VERSION,
	    .exit_status = answer};
	struct terminal terminal;
	struct output out;

	if (o->root && !here)
		die(CMD_USAGE, "check: --root: %s: %s", o->root, strerror(errno));
	if (o->path || o->format != CHECK_TEXT) {
		output_open(&out, o->path);
		(void)writers[o->format](out.file, c, &w);
		output_finish(&out);
	}
	if (wants_text(o)) {
		output_open(&out, NULL);
		output_show(&out, &o->view, answer, &terminal);
		w.colour = terminal.colour;
		(void)write_text(out.file, c, &w);
		output_finish(&out);
	}
	free(here);
}

/* Does a stack in the result have a frame of this module without a name? */
static bool is_lacking(void *context, const char *path)
{
	const struct check *c = context;

	for (size_t i = 0; c->lists_sites && i < c->failed_count; i++) {
		const struct check_site *x = &c->sites[i];
		size_t n =
		    view_without_start(x->view->frames, x->site->frames, x->site->frame_count);

		for (size_t k = 0; k < n; k++) {
			const struct frame *f = &x->view->frames[x->site->frames[k]];
			const char *module = f->module ? f->module : "";

			if (!f->function && !f->is_missing &&
			    (strcmp(module, path) == 0 ||
			        (*module && *module != '/' &&
			            strcmp(text_base(module), text_base(path)) == 0)))
				return true;
		}
	}
	return false;
}

static void add_name_notes(struct check *c, const struct names *names)
{
	char *const *notes;
	size_t n = names_notes_shown(names, is_lacking, c, &notes);

	for (size_t i = 0; i < n; i++)
		if (check_note(c, "%s", notes[i]) < 0)
			die_memory();
}

/* A command that only writes a baseline or suppressions needs no verdict. */
static bool wants_verdict(const struct check_command *o)
{
	if (o->write_suppressions && strcmp(o->write_suppressions, "-") == 0)
		return false;
	return !o->write_baseline || o->baseline || o->path || o->format != CHECK_TEXT;
}

static int answer_of(const struct check *c, const struct check_command *o)
{
	if (c->is_damaged)
		return CMD_INPUT;
	if (o->write_baseline && !o->baseline)
		return CMD_OK; /* from now on, everything in it is accepted */
	return c->fails ? CMD_YES : CMD_OK;
}

/* Was anybody seen for long enough to be judged by what grows? */
static bool has_scores(const struct check_input *inputs, size_t count)
{
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < inputs[i].session->count; k++)
			if (inputs[i].session->processes[k]->scores)
				return true;
	return false;
}

/* Reports wrong options before anything is read. */
static void take_fail_on(struct check_command *o)
{
	for (size_t i = 0; i < o->fail_on.count; i++) {
		const char *word = o->fail_on.items[i];

		if (strcmp(word, "possible") == 0)
			o->fail_on_possible = true;
		else if (strcmp(word, "unjudged") == 0)
			o->fail_on_unjudged = true;
		else if (strcmp(word, "growth") == 0)
			o->fail_on_growth = true;
		else
			die(CMD_USAGE,
			    "check: --fail-on takes possible, unjudged or "
			    "growth, not \"%s\"",
			    word);
	}
	if (o->any_live && o->fail_on.count > 0)
		die(CMD_USAGE,
		    "check: --fail-on is not possible with --any-live, which "
		    "ignores verdicts");
}

static int run(const struct cmd *self, int argc, char **argv)
{
	struct check_command o = {.max_live = UINT64_MAX,
	    .max_leaked = UINT64_MAX,
	    .max_peak = UINT64_MAX,
	    .tolerance = TOLERANCE,
	    .sites = view_opts_default,
	    .top = TOP};
	int answer, n = opts_parse(self, argc, argv, &o);
	struct baseline baseline = {0};
	struct check_options options;
	struct check_input *inputs;
	struct suppress *suppress;
	struct names *names;
	struct check *check;
	size_t count;

	if (o.sites.merge)
		die(CMD_USAGE,
		    "check: --merge is not possible, because each process is "
		    "judged by itself");
	take_fail_on(&o);
	if (o.list_suppressions) {
		suppress_print_builtin(stdout);
		return output_flush();
	}
	options = (struct check_options){.max_live = limit(o.max_live),
	    .max_leaked = limit(o.max_leaked),
	    .max_peak = limit(o.max_peak),
	    .baseline = o.baseline ? &baseline : NULL,
	    .tolerance_percent = o.tolerance,
	    .tolerance_bytes = o.tolerance_bytes,
	    .pid = o.sites.pid,
	    .exe = o.exe.regexp,
	    .any_live = o.any_live,
	    .fail_on_possible = o.fail_on_possible,
	    .fail_on_unjudged = o.fail_on_unjudged,
	    .fail_on_growth = o.fail_on_growth};
	if (o.baseline)
		load_baseline(&baseline, o.baseline);
	names = name_opts_open(self->name, &o.naming);
	output_limit(o.view.max_bytes);
	inputs = load_inputs(&o, n, argv + 1, names, &suppress);
	count = n ? (size_t)n : 1;
	if (check_new(inputs, count, &options, &check) < 0)
		die_memory();
	if (o.exe.regexp && check->left_out == check->process_count)
		die(CMD_INPUT,
		    "check: no program in the input has a path that matches "
		    "--exe '%s'; seep report lists the programs",
		    o.exe.source);
	if ((o.fail_on_possible || o.fail_on_unjudged) && check->by_verdict_count == 0)
		die(CMD_INPUT,
		    "check: --fail-on needs verdicts, but no command in the "
		    "input had a look at its exit; record it with: seep "
		    "record --leaks CMD");
	if (o.fail_on_growth && !has_scores(inputs, count))
		die(CMD_INPUT,
		    "check: --fail-on growth needs a process that was seen for "
		    "10 minutes or more, and the ages of its blocks");
	add_name_notes(check, names);
	progress_end();
	answer = answer_of(check, &o);
	if (o.write_baseline)
		write_baseline(check, o.write_baseline, o.quiet || !wants_text(&o));
	if (o.write_suppressions)
		write_entries(check, &o);
	if (wants_verdict(&o))
		write_verdict(check, &o, answer);
	check_free(check);
	release_inputs(inputs, count);
	suppress_free(suppress);
	names_free(names);
	baseline_release(&baseline);
	return answer;
}

#define AT(field) offsetof(struct check_command, field)

static const struct opts_option promises[] = {
    {"max-live", 0, OPTS_SIZE, AT(max_live), 0, "SIZE",
        "fail if all processes together have more than SIZE live at their ends"},
    {"max-leaked", 0, OPTS_SIZE, AT(max_leaked), 0, "SIZE",
        "fail if more than SIZE is live at the end that neither a suppression "
        "nor the baseline accepts"},
    {"max-peak", 0, OPTS_SIZE, AT(max_peak), 0, "SIZE",
        "fail if any process ever had more than SIZE live"},
    {"baseline", 0, OPTS_TEXT, AT(baseline), 0, "FILE",
        "fail only if a leak is not in FILE or has grown"},
    {"tolerance", 0, OPTS_PERCENT, AT(tolerance), 0, "PCT",
        "accept growth of PCT percent beyond the baseline (default "
        "10)"},
    {"tolerance-bytes", 0, OPTS_SIZE, AT(tolerance_bytes), 0, "SIZE",
        "accept growth of up to SIZE in any case"},
    {"fail-on", 0, OPTS_LIST, AT(fail_on), 0, "possible|unjudged|growth",
        "if there are verdicts, also fail on blocks that may be lost "
        "(possible), or on processes without a verdict (unjudged); fail on "
        "places that leak or probably leak by the ages of their blocks, not on "
        "blocks that are only live (growth)"},
    {"any-live", 0, OPTS_FLAG, AT(any_live), 0, NULL,
        "count every block that is live at the end, even if the recording has "
        "verdicts"},
    {0},
};

static const struct opts_option choice[] = {
    {"exe", 0, OPTS_REGEXP, AT(exe), 0, "RE",
        "judge only processes whose program has a matching path"},
    {"list-suppressions", 0, OPTS_FLAG, AT(list_suppressions), 0, NULL,
        "print the built-in list, with reasons"},
    {0},
};

static const struct opts_option output[] = {
    {"format", 0, OPTS_WORD, AT(format), 0, "text|json|junit|sarif",
        "for people (the default), or for programs"},
    {"output", 'o', OPTS_TEXT, AT(path), 0, "FILE",
        "write the result in that format to FILE when complete; the text still "
        "goes to stdout"},
    {"quiet", 'q', OPTS_FLAG, AT(quiet), 0, NULL, "print no text; the exit status is the answer"},
    {"root", 0, OPTS_TEXT, AT(root), 0, "DIR",
        "print source paths relative to DIR (default: the current "
        "directory)"},
    {"top", 0, OPTS_COUNT, AT(top), 0, "N", "print the N largest sites (default 20, 0: all)"},
    {"depth", 0, OPTS_COUNT, AT(depth), 0, "N", "print N frames of each stack (0: all)"},
    {"full-names", 0, OPTS_FLAG, AT(full_names), 0, NULL,
        "print C++ and Rust functions with all their arguments"},
    {"write-baseline", 0, OPTS_TEXT, AT(write_baseline), 0, "FILE",
        "write what leaks now to FILE; without --baseline, exit with 0"},
    {"write-suppressions", 0, OPTS_TEXT, AT(write_suppressions), 0, "FILE",
        "write an entry for each site that fails (-: to stdout)"},
    {"suppressions-for", 0, OPTS_WORD, AT(dialect), 0, "valgrind|lsan",
        "select the syntax of --write-suppressions"},
    {0},
};

static const struct opts_group options[] = {
    {"What must hold", promises, 0},
    {"What to judge", choice, 0},
    {"Which sites", view_opts_filters, AT(sites)},
    {"Output", output, 0},
    {"Where names come from", name_opts_rows, AT(naming)},
    {"On a terminal", output_view_rows, AT(view)},
    {0},
};

const struct cmd cmd_check = {
    .name = "check",
    .summary = "fail when a program leaks, or holds too much memory",
    .operands = "[INPUT...]",
    .about =
        "Exits with 1 if a block is live at the end of a process and neither a "
        "suppression nor a baseline accepts it, with 0 if there is no such "
        "block, and with 3 if the input is damaged or incomplete, because a "
        "leak may be missing then. If the recording was made with seep record "
        "--leaks and the command had a look at its exit, only blocks that are "
        "lost count (LEAK).\n\nINPUT is a recording "
        "(default: " INPUT_DEFAULT "), a segment or snapshot file, a directory of them or of "
        "chapters, or the PID of a "
        "traced process. " INPUT_MOMENT_HELP "\n\nIf a limit is given, only the limit counts. A "
        "baseline is a file to keep with the sources: it identifies leaks by "
        "the functions that allocate, so it still matches after a rebuild and "
        "when lines move.",
    .options = options,
    .run = run,
};
