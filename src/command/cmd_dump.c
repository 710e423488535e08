/* cmd_dump.c - seep dump: the events of a log, one line each. */
/* SPDX-License-Identifier: Apache-2.0 */

#include "command/cmd.h"

#include "base/std.h"
#include "command/shell/die.h"
#include "command/cmd_parts.h"
#include "command/shell/input.h"
#include "command/options/view_opts.h"
#include "command/options/opts.h"
#include "command/shell/output.h"
#include "command/shell/terminal.h"
#include "print/export/events_out.h"
#include "session/events/session_log.h"
#include "print/text/event_lines.h"
#include "findings/who.h"
#include "view/sites/enum_words.h"
#include "kit/data/capped.h"

enum { LINES = EVENT_LINES_CSV + 1 }; /* formats of event_lines.h */

struct dump_options {
	int format; /* enum event_lines_format, then enum events_out_format */
	bool stacks, last;
	uint64_t from_ns, to_ns, min_bytes;
	unsigned top, pid, thread, site;
	struct opts_regexp include;
	const char *path;
	uint64_t max_bytes;
	struct names_options naming;
};

/* Processes of a tree that have no log. */
static void say_lack(const struct session *session)
{
	char why[LOG_LACK_BYTES] = "", first[LOG_LACK_BYTES] = "";
	size_t count = 0;

	for (size_t i = 0; i < session->count; i++)
		if (log_lack_words(&session->processes[i]->header, count ? why : first))
			count++;
	if (count)
		die_warn("%s %s no event log: %s", WORDS_COUNTED(count, "process"),
		    words_has(count), first);
}

/* What is read of an entry depends on its time. */
struct dump_wish {
	struct events *events;
	uint64_t base_ns, from_ns, to_ns;
};

static int feed(void *context, const struct logcode *c)
{
	struct dump_wish *w = context;

	return events_feed(w->events, c);
}

static int skip(void *context, const struct logindex *x)
{
	struct dump_wish *w = context;

	return events_skip(w->events, x);
}

/* Later frees need the blocks of what is not listed. */
static enum eventlogs_way choose(void *context, const struct logindex *x)
{
	const struct logcode_head *h = &x->head.log;
	const struct dump_wish *w = context;

	if (events_time_ms(h, h->last_tick, w->base_ns) < w->from_ns / 1000000 ||
	    (w->to_ns != UINT64_MAX &&
	        events_time_ms(h, h->first_tick, w->base_ns) > w->to_ns / 1000000))
		return EVENTLOGS_SKIP;
	return EVENTLOGS_READ;
}

static int read_logs(const char *input, struct dump_wish *wish, bool *ret_damaged)
{
	const struct eventlogs_wish all = {
	    .each = feed, .choose = choose, .skip = skip, .context = wish};
	struct eventlogs_result result = {.is_damaged = false};
	int got = log_input_read("dump", input, &all, &result);

	*ret_damaged = result.is_damaged;
	return got;
}

/*
 * What the lines do not show by themselves. `is_whole`: all of the log was read, so
 * it is known what it lacks at its beginning and its end, where no word says so.
 */
static void say(
    const struct events *events, struct session *session, bool is_whole, bool is_damaged)
{
	struct events_sums s = events_sums(events);
	uint64_t lost = 0;

	if (is_whole)
		session_log_losses(session, events);
	for (size_t i = 0; i < session->count; i++) {
		const struct process *p = session->processes[i];

		lost = capped_sum(lost, is_whole ? p->log.lost : p->header.counts[SEG_LOG_LOST]);
	}
	s.lost = s.lost > lost ? s.lost : lost;

	if (s.lost)
		die_warn("%s %s not in the log: it had no room "
		         "(SEEP_LOG_POOL), it ended at its limit "
		         "(--log=LIMIT), or another reader has them",
		    WORDS_COUNTED(s.lost, "event"), words_was(s.lost));
	if (s.orphans)
		die_warn(
		    "%s of blocks that the log does not have", WORDS_COUNTED(s.orphans, "free"));
	if (s.strange)
		die_warn("%s of the log %s no meaning, and %s left out",
		    WORDS_COUNTED(s.strange, "word"), words_has(s.strange), words_was(s.strange));
	if (is_damaged)
		die_warn("a part of the log is missing or damaged");
	say_lack(session);
}

static void check(const struct dump_options *o)
{
	if (o->to_ns < o->from_ns)
		die(CMD_USAGE, "dump: --to is before --from");
	if (o->stacks && o->format == EVENT_LINES_CSV)
		die(CMD_USAGE,
		    "dump: --stacks works with text and jsonl, because a table "
		    "has one line for each event");
	if (o->stacks && o->format >= LINES)
		die(CMD_USAGE,
		    "dump: --stacks works with text and jsonl; what the format "
		    "of another tool has is fixed");
	output_not_packed("dump", o->path);
}

/* A format of another tool: the process that it shows. */
struct foreign {
	struct view *view;
	struct events_out *out;
};

static void open_foreign(const struct dump_options *o, const char *input, const struct session *s,
    struct names *names, FILE *out, struct foreign *ret)
{
	static const char *const formats[] = {"memtrail", "mmleak", "heaptrack"};
	const int format = o->format - LINES;
	struct view_options options = {.metric = VIEW_ALL, .all_frames = true};

	options.only = one_process_choose(s, o->pid, true, formats[format]);
	if (!options.only)
		log_input_none("dump", input, s);
	if (view_new(s, names, &options, &ret->view) < 0 ||
	    events_out_new(out, ret->view, one_process_number(s, options.only),
	        (enum events_out_format)format, SEEP_VERSION, &ret->out) < 0)
		die(CMD_INPUT, "dump: out of memory");
}

static void say_foreign(const struct foreign *f)
{
	uint64_t n = events_out_left_out(f->out);

	if (n)
		die_warn("%s %s left out, because the allocation is not there",
		    WORDS_COUNTED(n, "free"), words_was(n));
}

static int run(const struct cmd *self, int argc, char **argv)
{
	struct dump_options o = {.to_ns = UINT64_MAX};
	struct event_lines_options lines;
	struct foreign foreign = {0};
	struct event_lines *out_lines;
	struct dump_wish wish;
	struct events *events;
	struct session *session;
	struct names *names;
	struct output out;
	const char *input;
	bool is_damaged = false;
	int got, count;

	count = opts_parse(self, argc, argv, &o);
	check(&o);
	moment_opts_refuse(self->name, count, argv + 1, true);
	input = count > 0 ? argv[1] : NULL;
	lines = (struct event_lines_options){.format = (enum event_lines_format)o.format,
	    .stacks = o.stacks,
	    .from_ns = o.from_ns,
	    .to_ns = o.to_ns,
	    .min_bytes = o.min_bytes,
	    .columns = o.path ? 0 : terminal_columns(STDOUT_FILENO),
	    .top = o.top,
	    .pid = o.pid,
	    .thread = o.thread,
	    .site = o.site,
	    .include = o.include.regexp};
	if (o.last)
		return dump_last(&(struct dump_last){.input = input,
		    .lines = lines,
		    .path = o.path,
		    .max_bytes = o.max_bytes,
		    .naming = &o.naming});
	progress_begin("reading", input ? input : INPUT_DEFAULT);
	session = input_load(input);
	input_check_pid(self->name, session, o.pid);
	names = name_opts_open(self->name, &o.naming);
	name_opts_gather(names, session);
	output_limit(o.max_bytes);
	output_open(&out, o.path);
	progress_begin("finding names", NULL);
	if (o.format >= LINES) {
		open_foreign(&o, input, session, names, out.file, &foreign);
		lines.sink = events_out_put;
		lines.sink_context = foreign.out;
	}
	if (event_lines_new(out.file, session, names, &lines, &out_lines) < 0 ||
	    events_new(event_lines_put, out_lines, &events) < 0)
		die(CMD_INPUT, "dump: out of memory");
	progress_end();
	wish = (struct dump_wish){.events = events,
	    .base_ns = session_log_base_ns(session),
	    .from_ns = o.from_ns,
	    .to_ns = o.to_ns};
	got = read_logs(input, &wish, &is_damaged);
	if (got == 0)
		log_input_none("dump", input, session);
	if (foreign.out)
		events_out_begin(foreign.out);
	else
		event_lines_begin(out_lines);
	output_finish(&out);
	if ((foreign.out ? events_out_written(foreign.out) : event_lines_count(out_lines)) == 0)
		die_warn("no event is shown: the log has none in this time, or "
		         "none that the filters want");
	say(events, session, !o.top || event_lines_count(out_lines) < o.top, is_damaged);
	if (foreign.out)
		say_foreign(&foreign);
	events_out_free(foreign.out);
	view_free(foreign.view);
	events_free(events);
	event_lines_free(out_lines);
	names_free(names);
	is_damaged |= session->is_truncated;
	session_free(session);
	return is_damaged ? CMD_INPUT : CMD_OK;
}

#define AT(field) offsetof(struct dump_options, field)

static const struct opts_option which[] = {
    {"from", 0, OPTS_SINCE, AT(from_ns), 0, "SECONDS",
        "leave out events before SECONDS (12.34, or 340ms, 10m), counted from "
        "the start of the first process"},
    {"to", 0, OPTS_SINCE, AT(to_ns), 0, "SECONDS", "leave out events after SECONDS"},
    {"pid", 0, OPTS_COUNT, AT(pid), 0, "PID", "events of this process alone"},
    {"thread", 0, OPTS_COUNT, AT(thread), 0, "N",
        "events of this thread alone, by its tid or its number in the log"},
    {"site", 0, OPTS_COUNT, AT(site), 0, "ID",
        "events of blocks of this site alone, by its id in seep report"},
    {"include", 0, OPTS_REGEXP, AT(include), 0, "RE",
        "events of blocks whose call stack has a function that matches RE"},
    {"min-size", 0, OPTS_SIZE, AT(min_bytes), 0, "SIZE", "leave out blocks smaller than SIZE"},
    {"top", 0, OPTS_COUNT, AT(top), 0, "N",
        "stop after N events; with --last, the last N of each thread"},
    {"last", 0, OPTS_FLAG, AT(last), 0, NULL,
        "show what each thread did last, from the flight recorder of a "
        "program that was started with SEEP_LOG=last"},
    {0},
};

static const struct opts_option how[] = {
    {"stacks", 0, OPTS_FLAG, AT(stacks), 0, NULL, "show the call stack of each allocation"},
    {"format", 0, OPTS_WORD, AT(format), 0, "text|jsonl|csv|memtrail|mmleak|heaptrack",
        "text for people (the default), or jsonl or csv for programs; or what "
        "memtrail dump prints, what mmleak.so logs, or heaptrack's file, each "
        "of one process (--pid)"},
    {"output", 'o', OPTS_TEXT, AT(path), 0, "FILE", "write to FILE when complete"},
    {"max-output", 0, OPTS_SIZE, AT(max_bytes), 0, "SIZE", OUTPUT_MAX_HELP},
    {0},
};

static const struct opts_group options[] = {
    {"Which events", which, 0},
    {"How to show them", how, 0},
    {"Where names come from", name_opts_rows, AT(naming)},
    {0},
};

const struct cmd cmd_dump = {
    .name = "dump",
    .summary = "list every event of an event log",
    .operands = "[INPUT]",
    .about = "Lists the allocations and frees of an event log, one line for each: "
             "when, which process and thread, what, which block, its size, its "
             "site, its age when it was freed, and the function that allocated it. "
             "Blocks have names, numbers that stay the same when a block is "
             "resized; addresses are there if SEEP_LOG=addresses was set."
             "\n\n"
             "INPUT is a recording that seep record --log has written, or a "
             "directory, a segment or the PID of a program that was started with "
             "SEEP_LOG=1: then the newest events that are still in its log are "
             "shown. Times are exact to 10 ms. Events of one thread are in their "
             "order, and every free comes after its allocation; among threads the "
             "order is exact to about 10 ms.",
    .options = options,
    .run = run,
};
