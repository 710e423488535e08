/* cmd_dump.c - seep dump: the events of a log, one line each. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/cmd.h"
#include "cli/die.h"
#include "cli/input.h"
#include "cli/name_opts.h"
#include "cli/opts.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "reader/eventlogs.h"
#include "report/event_lines.h"
#include "report/words.h"

struct dump_options {
	int format; /* enum event_lines_format */
	bool stacks;
	uint64_t from_ns, to_ns, min_bytes;
	unsigned top, pid, thread, site;
	struct opts_regexp include;
	const char *path;
	uint64_t max_bytes;
	struct names_options naming;
};

static int
feed(void *context, const struct logcode *c)
{
	return events_feed(context, c);
}

static int
read_logs(const char *input, struct events *events, bool *ret_damaged)
{
	struct fault where = {""};
	pid_t pid;
	int got;

	if (input && input_is_pid(input, &pid)) {
		got =
		    eventlogs_read_pid(pid, feed, events, ret_damaged, &where);
		if (got < 0 && got != -ENOMEM && got != -EIO)
			input_die_pid(pid, got, &where);
	} else {
		got = eventlogs_read(input ? input : INPUT_DEFAULT, feed,
		    events, ret_damaged, &where);
	}
	if (got == -ENOMEM)
		die(CMD_INPUT, "dump: out of memory");
	if (got < 0 && got != -EIO)
		die(CMD_INPUT, "%s", where.text);
	return got;
}

/* What the lines do not show by themselves. */
static void
say(const struct events *events, const struct session *session, bool is_damaged)
{
	struct events_sums s = events_sums(events);
	char text[WORDS_COUNTED];
	uint64_t lost = 0;

	/* at the end of a log there is no word that says so */
	for (size_t i = 0; i < session->count; i++)
		lost += session->processes[i]->header.counts[SEG_LOG_LOST];
	s.lost = s.lost > lost ? s.lost : lost;

	if (s.lost)
		die_warn("%s %s not in the log: it had no room at times "
		         "(SEEP_LOG_POOL), or nobody read it",
		    words_counted(text, s.lost, "event"), words_was(s.lost));
	if (s.orphans)
		die_warn("%s of blocks that the log does not have",
		    words_counted(text, s.orphans, "free"));
	if (s.strange)
		die_warn("%s of the log %s no meaning, and %s left out",
		    words_counted(text, s.strange, "word"),
		    words_has(s.strange), words_was(s.strange));
	if (is_damaged)
		die_warn("a part of the log is missing or damaged");
}

static void
check(const struct dump_options *o)
{
	if (o->to_ns < o->from_ns)
		die(CMD_USAGE, "dump: --to is before --from");
	if (o->stacks && o->format == EVENT_LINES_CSV)
		die(CMD_USAGE,
		    "dump: --stacks works with text and jsonl, because a table "
		    "has one line for each event");
}

static int
run(const struct cmd *self, int argc, char **argv)
{
	struct dump_options o = {.to_ns = UINT64_MAX};
	struct event_lines_options lines;
	struct event_lines *out_lines;
	struct events *events;
	struct session *session;
	struct names *names;
	struct output out;
	const char *input;
	bool is_damaged = false;
	int got, count;

	count = opts_parse(self, argc, argv, &o);
	check(&o);
	input = count > 0 ? argv[1] : NULL;
	lines = (struct event_lines_options){
	    .format = (enum event_lines_format)o.format,
	    .stacks = o.stacks,
	    .from_ns = o.from_ns,
	    .to_ns = o.to_ns,
	    .min_bytes = o.min_bytes,
	    .top = o.top,
	    .pid = o.pid,
	    .thread = o.thread,
	    .site = o.site,
	    .include = o.include.regexp};
	progress_begin("reading", input ? input : INPUT_DEFAULT);
	session = input_load(input);
	names = name_opts_open(self->name, &o.naming);
	name_opts_gather(names, session);
	output_limit(o.max_bytes);
	output_open(&out, o.path);
	progress_begin("finding names", NULL);
	if (event_lines_new(out.file, session, names, &lines, &out_lines) < 0 ||
	    events_new(event_lines_put, out_lines, &events) < 0)
		die(CMD_INPUT, "dump: out of memory");
	progress_end();
	got = read_logs(input, events, &is_damaged);
	if (got == 0)
		die(CMD_USAGE,
		    "dump: %s has no event log; record one with seep record "
		    "--log, or start the program with SEEP_LOG=1",
		    input ? input : INPUT_DEFAULT);
	event_lines_begin(out_lines);
	output_finish(&out);
	say(events, session, is_damaged);
	events_free(events);
	event_lines_free(out_lines);
	names_free(names);
	session_free(session);
	return is_damaged ? CMD_INPUT : CMD_OK;
}

#define AT(field) offsetof(struct dump_options, field)

static const struct opts_option which[] = {
    {"from", 0, OPTS_TIME, AT(from_ns), 0, "TIME",
        "leave out events before TIME (20ms, 1.5s, 10m), counted from the "
        "start of the first process"},
    {"to", 0, OPTS_TIME, AT(to_ns), 0, "TIME", "leave out events after TIME"},
    {"pid", 0, OPTS_COUNT, AT(pid), 0, "PID", "events of this process alone"},
    {"thread", 0, OPTS_COUNT, AT(thread), 0, "N",
        "events of this thread alone, by its tid or its number in the log"},
    {"site", 0, OPTS_COUNT, AT(site), 0, "ID",
        "events of blocks of this site alone, by its id in seep report"},
    {"include", 0, OPTS_REGEXP, AT(include), 0, "RE",
        "events of blocks whose call stack has a function that matches RE"},
    {"min-size", 0, OPTS_SIZE, AT(min_bytes), 0, "SIZE",
        "leave out blocks smaller than SIZE"},
    {"top", 0, OPTS_COUNT, AT(top), 0, "N", "stop after N events"},
    {0},
};

static const struct opts_option how[] = {
    {"stacks", 0, OPTS_FLAG, AT(stacks), 0, NULL,
        "show the call stack of each allocation"},
    {"format", 0, OPTS_WORD, AT(format), 0, "text|jsonl|csv",
        "text for people (the default), or jsonl or csv for programs"},
    {"output", 'o', OPTS_TEXT, AT(path), 0, "FILE",
        "write to FILE when complete"},
    {"max-size", 0, OPTS_SIZE, AT(max_bytes), 0, "SIZE", OUTPUT_MAX_HELP},
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
    .about =
        "Lists the allocations and frees of an event log, one line for each: "
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
