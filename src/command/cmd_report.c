/* cmd_report.c - seep report: shows which code allocated how much. */
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
#include "print/page/html.h"
#include "print/json/report_json.h"
#include "session/process/live_ages.h"
#include "view/sites/amount.h"
#include "print/text/report_text.h"
#include "print/text/body.h"
#include "print/text/table_parts.h"
#include "view/sites/enum_words.h"

struct report_options {
	struct view_opts view;
	int format; /* enum report_format */
	unsigned site;
	int frames; /* enum report_frames */
	bool full, rss, mappings, snapshots;
	const char *growth, *path;
	uint64_t older_ns; /* 0: not asked for */
	const char *at;    /* NULL: not asked for */
	bool lifetimes;
	unsigned within; /* UINT_MAX: not asked for */
	struct names_options naming;
	struct output_view show;
	/* made of the above */
	struct body_options body;
	struct moment_opts moments; /* of growth */
	struct growth_moment from, to;
	struct older *older;
	struct moment at_moment;
	struct lifetimes *lives;
};

enum report_frames { FRAMES_FULL, FRAMES_SHARED };

enum { JSON_LARGE = 100 << 20 }; /* bytes: above this, it is mentioned */

enum report_format { REPORT_TEXT, REPORT_JSON, REPORT_HTML };

struct report_inputs {
	struct session **sessions;
	size_t count;
	bool is_truncated;
};

/* Of options that need an event log. */
static void finish_events(struct report_options *o, int inputs)
{
	const char *name = o->at ? "--at" : o->lifetimes ? "--lifetimes" : "--within";

	if (!o->at && !o->lifetimes && o->within == UINT_MAX)
		return;
	if (inputs > 1)
		die(CMD_USAGE, "report: %s takes one INPUT", name);
	if (o->growth || o->snapshots || o->older_ns || o->mappings || o->rss ||
	    amount_is_resident(o->view.order))
		die(CMD_USAGE,
		    "report: %s is from an event log, and does not go with "
		    "other moments, ages or resident memory",
		    name);
	if ((o->at != NULL) + o->lifetimes + (o->within != UINT_MAX) > 1)
		die(CMD_USAGE,
		    "report: --at, --lifetimes and --within are three reports; "
		    "choose one");
	if (o->at && (o->site || (o->view.metric != VIEW_LIVE && o->view.metric != VIEW_ALLOCS)))
		die(CMD_USAGE,
		    "report: --at works with --live or --allocs, and not with "
		    "--site");
	if (o->within != UINT_MAX && (o->view.metric != VIEW_TEMPORARY || o->site))
		die(CMD_USAGE,
		    "report: --within goes with --temporary, and not with "
		    "--site");
	if (o->lifetimes &&
	    (o->format == REPORT_HTML || o->view.merge ||
	        (o->view.metric != VIEW_LIVE && o->view.metric != VIEW_ALLOCS)))
		die(CMD_USAGE,
		    "report: --lifetimes is a table of sites of its own, as "
		    "text or json");
	if (o->within != UINT_MAX && o->format == REPORT_HTML)
		die(CMD_USAGE, "report: --within works with text or json");
	if (o->at)
		event_opts_parse("report", o->at, &o->at_moment);
}

/* Options that would have no effect. */
static void finish_shape(const struct report_options *o)
{
	const char *idle = view_opts_for_text(&o->view);

	if (o->site && o->format == REPORT_JSON && !o->lifetimes)
		die_warn("report: --site is for text, and has no effect: json "
		         "has all sites, with their ids");
	if (o->lifetimes && (o->view.shape == BODY_TABLE || o->view.top_down || o->view.order >= 0))
		die_warn("report: --lifetimes is a table of its own, most "
		         "frees first; %s has no effect",
		    idle ? idle : "--sort");
	if (o->format != REPORT_TEXT && !o->lifetimes)
		view_opts_warn_text(
		    "report", &o->view, o->format == REPORT_JSON ? "json" : "the page");
}

/* Wrong options are reported before anything is read. */
static void finish(struct report_options *o, int inputs, char *const *names)
{
	finish_events(o, inputs);
	finish_shape(o);
	moment_opts_refuse("report", inputs, names,
	    o->at || o->lifetimes || o->within != UINT_MAX || o->growth || o->snapshots ||
	        o->older_ns || o->mappings || o->rss || amount_is_resident(o->view.order) ||
	        (o->view.metric != VIEW_LIVE && o->view.metric != VIEW_ALLOCS));
	o->moments.text = o->growth;
	moment_opts_parse("report", &o->moments);
	if (o->growth && o->view.metric != VIEW_LIVE && o->view.metric != VIEW_ALLOCS)
		die(CMD_USAGE,
		    "report: --growth works with --live or --allocs only, "
		    "because a time line has no other figures");
	if (o->growth && o->snapshots)
		die(CMD_USAGE, "report: --growth needs a recording, not snapshots");
	if (o->older_ns > 0 &&
	    (o->view.metric != VIEW_LIVE || o->growth || o->snapshots || o->site ||
	        o->view.pool.regexp))
		die(CMD_USAGE,
		    "report: --older-than works with live blocks of the heap "
		    "only, not with other figures or moments");
	if (o->older_ns > 0 && inputs > 1)
		die(CMD_USAGE, "report: --older-than takes one INPUT");
	if (o->mappings &&
	    (o->view.metric != VIEW_LIVE || o->growth || o->snapshots || o->site || o->older_ns ||
	        o->view.pool.regexp || o->format == REPORT_HTML))
		die(CMD_USAGE,
		    "report: --mappings shows what is mapped now, as text or "
		    "json, and nothing of the heap");
	if (o->frames == FRAMES_SHARED && (o->format != REPORT_JSON || o->growth || o->snapshots))
		die(CMD_USAGE,
		    "report: --frames shared works with --format json only, "
		    "without --growth and snapshots");
	if (o->format == REPORT_HTML && (o->growth || o->site))
		die(CMD_USAGE,
		    "report: the page has all moments and sites; choose them "
		    "there");
	if (o->format == REPORT_HTML)
		output_not_terminal("report", o->path);
	if (inputs > 1 && o->growth && !o->growth[0])
		die(CMD_USAGE,
		    "report: --growth takes one INPUT; a range follows --growth "
		    "and has two dots, as in --growth 10..60");
	if (inputs > 1 && !o->snapshots && o->format != REPORT_HTML)
		die(CMD_USAGE,
		    "report: several INPUTs need --snapshots; to compare two: seep diff "
		    "OLD NEW");
	/* start-up remainders are on both sides */
	o->view.no_suppress = o->view.no_suppress || o->growth;
	o->rss = o->rss || amount_is_resident(o->view.order);
	if (o->format != REPORT_TEXT || o->site)
		view_opts_finish_exact("report", &o->view, &o->body.view);
	else
		view_opts_finish("report", &o->view, &o->body);
	o->body.rss = o->rss;
}

/* `moments`: load the snapshots beside it, too */
static struct session *read_input(const char *name, bool moments)
{
	struct session *s = input_load(name);
	size_t notes = s->note_count;
	struct fault where;

	if (moments && session_add_snapshots(s, &where) < 0)
		die(CMD_INPUT, "report: %s", where.text);
	privacy_note_snapshots(s);
	for (size_t i = notes; i < s->note_count; i++)
		die_warn("%s", s->notes[i]);
	return s;
}

static void read_inputs(int count, char **names, bool moments, struct report_inputs *ret)
{
	size_t n = count > 0 ? (size_t)count : 1;

	*ret = (struct report_inputs){.sessions = calloc(n, sizeof(struct session *))};
	if (!ret->sessions)
		die(CMD_INPUT, "report: out of memory");
	for (size_t i = 0; i < n; i++) {
		const char *name = count > 0 ? names[i] : NULL;

		progress_begin("reading", name ? name : INPUT_DEFAULT);
		ret->sessions[i] = read_input(name, moments);
		ret->is_truncated |= ret->sessions[i]->is_truncated;
		ret->count++;
	}
}

static void free_inputs(struct report_inputs *in)
{
	for (size_t i = 0; i < in->count; i++)
		session_free(in->sessions[i]);
	free(in->sessions);
}

static int write_json(
    FILE *out, const struct report_inputs *in, struct names *names, const struct report_options *o)
{
	struct json_form form = {.shared = o->frames == FRAMES_SHARED};
	int err;

	if (o->snapshots)
		return moments_table_write(
		    out, in->sessions, in->count, o->body.view.pid, SEEP_VERSION);
	if (o->growth)
		return growth_json_write(
		    out, in->sessions[0], names, &o->body.view, &o->from, &o->to, SEEP_VERSION);
	err =
	    report_json_write_form(out, in->sessions[0], names, &o->body.view, SEEP_VERSION, &form);
	if (err == 0 && !form.shared && form.bytes > JSON_LARGE)
		die_warn("report: this is about %s of JSON; --frames shared writes "
		         "every frame once, which is much smaller",
		    WORDS_BYTES(form.bytes));
	return err;
}

/* Before anything is printed. */
static void check_size(
    const struct report_inputs *in, struct names *names, const struct report_options *o)
{
	uint64_t bytes;

	if (o->frames == FRAMES_SHARED || o->snapshots || o->growth)
		return;
	if (json_size(in->sessions[0], names, &o->body.view, output_max(), &bytes) < 0)
		die(CMD_INPUT, "report: out of memory");
	output_check_json("report", bytes);
}

/* Before anything is printed. */
static void find_moments(const struct report_inputs *in, struct report_options *o)
{
	uint64_t from_us, to_us;

	if (!o->growth)
		return;
	moment_opts_resolve("report", &o->moments, in->sessions[0], &from_us, &to_us);
	o->from = (struct growth_moment){.value = (double)from_us / 1e6};
	o->to = (struct growth_moment){.value = (double)to_us / 1e6};
}

/* Before anything is printed. */
static void find_older(const struct report_inputs *in, struct report_options *o)
{
	o->older = older_opts_find("report", in->sessions[0], o->older_ns);
	if (!o->older)
		return;
	o->body.older = o->older;
	if (o->format == REPORT_TEXT)
		o->body.view.figures = older_figures(o->older);
	else
		o->body.view.older = o->older;
}

/* Before anything is printed. */
static void find_events(struct report_inputs *in, const char *input, struct report_options *o)
{
	struct session *s = in->sessions[0];

	if (o->at)
		(void)event_opts_set_back(
		    "report", input, s, o->at, &o->at_moment, &in->is_truncated);
	if (o->lifetimes || o->within != UINT_MAX)
		o->lives = event_opts_lifetimes("report", o->lifetimes ? "--lifetimes" : "--within",
		    input, s, o->within, &in->is_truncated);
	if (o->lifetimes) {
		o->body.view.lifetimes = o->lives;
		o->body.view.id = o->site;
	} else {
		o->body.view.within = o->lives;
	}
}

/*
 * Which of the mappings are in memory; only a running process can say. An input
 * without any is sound, so that is the status of --rss without a reading: what
 * was asked for does not fit the input.
 */
static void read_mappings(const struct session *s, uint32_t pid, bool is_wanted)
{
	size_t asked = 0, known = 0;

	for (size_t i = 0; i < s->count; i++) {
		struct process *p = s->processes[i];
		int err;

		if (pid != VIEW_ANY && p->header.pid != pid)
			continue;
		asked++;
		known += mappings_text_has(p);
		err = mapped_pages_read(p);
		if (err == -ENOMEM)
			die(CMD_INPUT, "report: out of memory");
		if (err < 0 && err != -ESRCH && err != -ENODATA)
			die_warn("report: pid %u: its pages cannot be read, so "
			         "the resident part is not known: %s",
			    p->header.pid, strerror(-err));
	}
	if (is_wanted && asked > 0 && known == 0)
		die(CMD_USAGE,
		    "report: --mappings: no mappings by caller in this input; "
		    "seep record --mappings records them");
}

static int write_text(const struct layout *p, const struct report_inputs *in, struct names *names,
    const struct report_options *o)
{
	if (o->snapshots)
		return compare_text_snapshots(p, in->sessions, in->count, names, &o->body);
	if (o->growth)
		return compare_text_growth(p, in->sessions[0], names, &o->body, &o->from, &o->to);
	if (o->mappings)
		return mappings_text_write(p, in->sessions[0], names, &o->body);
	if (o->lifetimes)
		return table_lifetimes_write(p, in->sessions[0], names, &o->body, o->lives);
	if (o->site)
		return site_write(p, in->sessions[0], names, &o->body.view, o->site);
	return report_text_write(p, in->sessions[0], names, &o->body);
}

static int write_html(FILE *out, const struct report_inputs *in, char *const *titles,
    struct names *names, const struct report_options *o)
{
	const struct html_options options = {
	    .version = SEEP_VERSION, .metric = o->view.metric, .full = o->full, .older = o->older};
	struct html_session *list = calloc(in->count + 1, sizeof(*list));
	int err = list ? 0 : -ENOMEM;

	for (size_t i = 0; i < in->count && err == 0; i++)
		list[i] = (struct html_session){.session = in->sessions[i],
		    .title = in->sessions[i]->title ? in->sessions[i]->title
		        : in->count > 1             ? titles[i]
		                                    : NULL};
	if (err == 0)
		err = html_write_sessions(out, list, in->count, names, &o->body.view, &options);
	free(list);
	return err;
}

static void die_of(int err, const struct report_options *o)
{
	if (err == -ENOMEM)
		die(CMD_INPUT, "report: out of memory");
	if (err == -ESRCH)
		die(CMD_INPUT, "report: the input has no process %u", o->view.pid);
	if (err == -ENOENT)
		die(CMD_INPUT, "report: the input has no site %u, or filters leave it out",
		    o->site);
}

static int run(const struct cmd *self, int argc, char **argv)
{
	struct report_options o = {.view = view_opts_default, .within = UINT_MAX};
	struct layout_lacks lacks = {0};
	struct report_inputs in;
	struct names *names;
	struct terminal terminal;
	struct output out;
	struct layout page;
	int answer, n, err;

	n = opts_parse(self, argc, argv, &o);
	finish(&o, n, argv + 1);
	read_inputs(n, argv + 1, o.snapshots || o.format == REPORT_HTML, &in);
	find_moments(&in, &o);
	find_older(&in, &o);
	find_events(&in, n > 0 ? argv[1] : NULL, &o);
	for (size_t i = 0; (o.mappings || o.format == REPORT_HTML) && i < in.count; i++)
		read_mappings(in.sessions[i], o.view.pid, o.mappings);
	for (size_t i = 0; o.rss && i < in.count; i++)
		rss_opts_read(self->name, in.sessions[i], o.view.pid);
	answer = in.is_truncated ? CMD_INPUT : CMD_OK;
	names = name_opts_open(self->name, &o.naming);
	for (size_t i = 0; i < in.count; i++)
		name_opts_gather(names, in.sessions[i]);
	output_limit(o.show.max_bytes);
	progress_begin("finding names", NULL);
	if (o.format == REPORT_JSON)
		check_size(&in, names, &o);
	output_open(&out, o.path);
	output_show(&out, &o.show, answer, &terminal);
	page = (struct layout){.out = out.file,
	    .width = terminal.columns,
	    .colour = terminal.colour,
	    .utf8 = terminal.utf8,
	    .full_names = o.view.full_names,
	    .lacks = &lacks};
	if (o.format == REPORT_HTML)
		err = write_html(out.file, &in, argv + 1, names, &o);
	else if (o.format == REPORT_JSON)
		err = write_json(out.file, &in, names, &o);
	else
		err = write_text(&page, &in, names, &o);
	die_of(err, &o);
	progress_end();
	output_finish(&out);
	names_free(names);
	older_free(o.older);
	lifetimes_free(o.lives);
	free(lacks.modules);
	free_inputs(&in);
	return answer;
}

#define AT(field) offsetof(struct report_options, field)

static const struct opts_option over_time[] = {
    {"rss", 0, OPTS_FLAG, AT(rss), 0, NULL, RSS_OPTS_MEANING},
    {"older-than", 0, OPTS_TIME, AT(older_ns), 0, "TIME", OLDER_OPTS_MEANING},
    {"at", 0, OPTS_TEXT, AT(at), 0, "MOMENT", "show what was live at a moment " EVENT_OPTS_AT},
    {"lifetimes", 0, OPTS_FLAG, AT(lifetimes), 0, NULL,
        "show how long the blocks of each site live: quartiles and histogram, "
        "by time and by allocations of the same thread; needs an event log"},
    {"within", 0, OPTS_COUNT, AT(within), 0, "N",
        "with --temporary: blocks that a thread freed within N more "
        "allocations (0: before its next one, as heaptrack counts); needs an "
        "event log"},
    {"growth", 0, OPTS_RANGE, AT(growth), 0, "[FROM..TO]",
        "show what grew between two moments of a recording " MOMENT_OPTS_FORMS},
    {"snapshots", 0, OPTS_FLAG, AT(snapshots), 0, NULL,
        "treat every INPUT as a snapshot or a directory of snapshots, and show "
        "each moment"},
    {0},
};

static const struct opts_option output[] = {
    {"mappings", 0, OPTS_FLAG, AT(mappings), 0, NULL,
        "show who mapped memory with mmap, and how much of it is resident, "
        "instead of the heap (recorded with seep record --mappings)"},
    {"site", 0, OPTS_COUNT, AT(site), 0, "ID",
        "show one site of a table: its whole stack, sizes, ages and time line"},
    {"format", 0, OPTS_WORD, AT(format), 0, "text|json|html",
        "text for people (the default), json for programs, with all figures of "
        "all sites, or html, one page for a browser with flame graph, time "
        "line and table"},
    {"frames", 0, OPTS_WORD, AT(frames), 0, "full|shared",
        "in JSON, write the frames of each site (the default), or every frame "
        "once and its number with the sites, which is much smaller if there "
        "are many sites"},
    {"full", 0, OPTS_FLAG, AT(full), 0, NULL,
        "put all sites into the page, even if there are very many"},
    {"output", 'o', OPTS_TEXT, AT(path), 0, "FILE", "write to FILE when complete"},
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
    .summary = "show who allocated what, in a recording, segment or PID",
    .operands = "[INPUT...]",
    .about = "Shows who allocated the memory of a program. INPUT is a recording "
             "(default: " INPUT_DEFAULT "), a segment or snapshot "
             "file, a directory of them or of chapters, or the PID of a traced "
             "process "
             "(./1234 is a file of that name). " INPUT_MOMENT_HELP,
    .options = options,
    .run = run,
};
