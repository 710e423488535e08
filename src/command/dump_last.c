/* dump_last.c - seep dump --last: the last events of each thread. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "command/cmd_parts.h"

#include "command/cmd.h"
#include "command/shell/die.h"
#include "command/shell/input.h"
#include "command/options/view_opts.h"
#include "command/shell/output.h"
#include "print/text/event_lines.h"
#include "view/sites/enum_words.h"

/* Threads of which nothing is kept. */
static void say_threads(const struct session *s)
{
	uint64_t n = 0;

	for (size_t i = 0; i < s->count; i++)
		n += s->processes[i]->header.counts[SEG_LOG_THREADS];
	if (n)
		die_warn("%s found no room for %s last events at first "
		         "(SEEP_LOG_POOL)",
		    WORDS_COUNTED(n, "thread"), n == 1 ? "its" : "their");
}

int dump_last(const struct dump_last *o)
{
	const char *input = o->input ? o->input : INPUT_DEFAULT;
	struct flights_found found;
	struct flight_lines *lines;
	struct session *session;
	struct names *names;
	struct output out;
	int answer;

	if (o->lines.format > EVENT_LINES_CSV)
		die(CMD_USAGE, "dump: --last works with the formats text, jsonl and csv");
	progress_begin("reading", input);
	session = input_load(o->input);
	input_check_pid("dump", session, o->lines.pid);
	names = name_opts_open("dump", o->naming);
	name_opts_gather(names, session);
	output_limit(o->max_bytes);
	output_open(&out, o->path);
	progress_begin("finding names", NULL);
	if (flight_lines_new(out.file, session, names, &o->lines, &lines) < 0)
		die(CMD_INPUT, "dump: out of memory");
	progress_end();
	flight_input_read("dump", o->input, flight_lines_put, lines, &found);
	if (found.processes == 0)
		flight_input_none("dump", o->input, session, &found);
	flight_lines_begin(lines);
	output_finish(&out);
	answer = flight_input_say(&found);
	if (session->is_truncated)
		answer = CMD_INPUT;
	say_threads(session);
	flight_lines_free(lines);
	names_free(names);
	session_free(session);
	return answer;
}
