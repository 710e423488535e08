/* log_input.c - the event logs of INPUT of a command line. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "command/shell/input.h"

#include "command/cmd.h"
#include "command/shell/die.h"
#include "findings/who.h"
#include "segments/read/losses.h"
#include "view/sites/enum_words.h"

static int feed(void *context, const struct logcode *c)
{
	return events_feed(context, c);
}

/* Of functions that the caller has provided; a log is not the reason. */
static bool is_callers(int err)
{
	return err == -EIO || err == -ENOSPC || err == -EDQUOT;
}

static int read_of_pid(
    pid_t pid, const struct eventlogs_wish *wish, struct eventlogs_result *ret, struct fault *where)
{
	char directory[PATH_MAX];
	int got = eventlogs_read(NULL, pid, wish, ret, where);

	/* input_load() has found it, so if there is none, a history knows it */
	if (got == -ESRCH)
		got = input_dead_directory(pid, directory)
		    ? eventlogs_read(directory, pid, wish, ret, where)
		    : 0;
	return got;
}

int log_input_read(const char *command, const char *input, const struct eventlogs_wish *wish,
    struct eventlogs_result *ret)
{
	struct fault where = {""};
	pid_t pid = 0;
	int got;

	if (input && input_is_pid(input, &pid))
		got = read_of_pid(pid, wish, ret, &where);
	else
		got = eventlogs_read(input ? input : INPUT_DEFAULT, 0, wish, ret, &where);
	if (got == -ENOMEM)
		die(CMD_INPUT, "%s: out of memory", command);
	if (got >= 0 || is_callers(got))
		return got;
	if (pid)
		input_die_pid(pid, got, &where);
	die(CMD_INPUT, "%s", where.text);
}

int log_input_feed(const char *command, const char *input, struct events *events, bool *ret_damaged)
{
	const struct eventlogs_wish all = {.each = feed, .context = events};
	struct eventlogs_result result = {.is_damaged = false};
	int got = log_input_read(command, input, &all, &result);

	*ret_damaged = result.is_damaged;
	return got;
}

bool log_input_is_empty(const struct session *s)
{
	size_t logs = 0;

	for (size_t i = 0; i < s->count; i++) {
		const struct process *p = s->processes[i];

		if (p->header.log_state != SEG_LOG_ON)
			continue;
		logs++;
		if (p->totals.allocations > 0 || p->totals.frees > 0)
			return false;
	}
	return logs > 0;
}

void log_input_untraced(const char *command, const char *input, const struct session *s)
{
	for (size_t i = 0; i < s->count; i++)
		if (!process_is_unseen(s->processes[i]))
			return;
	if (s->count > 0)
		die(CMD_USAGE, "%s: no process of %s was traced; %u: %s", command,
		    input ? input : INPUT_DEFAULT, s->processes[0]->header.pid,
		    losses_inert(s->processes[0]->header.inert_reason));
}

_Noreturn void log_input_none(const char *command, const char *input, const struct session *s)
{
	const char *name = input ? input : INPUT_DEFAULT;
	char why[LOG_LACK_BYTES];

	for (size_t i = 0; i < s->count; i++)
		if (s->processes[i]->header.log_state == SEG_LOG_LAST)
			die(CMD_USAGE,
			    "%s: %s has no event log, but a flight recorder: "
			    "seep dump --last shows it",
			    command, name);
	log_input_untraced(command, input, s);
	if (log_input_is_empty(s))
		die(CMD_USAGE,
		    "%s: the event log of %s has no events, because the "
		    "program made none",
		    command, name);
	for (size_t i = 0; i < s->count; i++)
		if (log_lack_words(&s->processes[i]->header, why))
			die(CMD_USAGE, "%s: %s has no event log: %s", command, name, why);
	for (size_t i = 0; i < s->count; i++)
		if (s->processes[i]->header.log_state == SEG_LOG_ON)
			die(CMD_USAGE,
			    "%s: process %u had an event log, but it is not in "
			    "%s: its file (*.seg.log) is gone, or seep record "
			    "ran without --log",
			    command, s->processes[i]->header.pid, name);
	die(CMD_USAGE,
	    "%s: %s has no event log; record one with seep record --log, or "
	    "start the program with SEEP_LOG=1",
	    command, name);
}

/* ---- for export ---- */

struct sum {
	const uint8_t *uuid;
	uint64_t allocations, frees;
};

static int add(void *context, const struct events_event *e)
{
	struct sum *s = context;

	if (memcmp(e->process->uuid, s->uuid, 16) != 0)
		return 0;
	s->allocations += e->kind == EVENTS_ALLOC || e->kind == EVENTS_REALLOC;
	s->frees += e->was_found && (e->kind == EVENTS_FREE || e->kind == EVENTS_REALLOC);
	return 0;
}

static int read_events(void *context, events_each *each, void *to)
{
	const struct log_input *l = context;
	struct events *events;
	bool is_damaged;
	int err = events_new(each, to, &events);

	if (err < 0)
		return err;
	err = log_input_feed(l->command, l->input, events, &is_damaged);
	events_free(events);
	return err < 0 ? err : 0;
}

bool log_input_complete(struct log_input *ret, const struct session *s, uint32_t process)
{
	const struct process *p = s->processes[process];
	struct sum sum = {.uuid = p->header.uuid};

	ret->events =
	    (struct export_events){.process = process, .read = read_events, .context = ret};
	if (p->header.log_state != SEG_LOG_ON)
		return false;
	if (read_events(ret, add, &sum) < 0)
		die(CMD_INPUT, "%s: out of memory", ret->command);
	return sum.allocations == p->totals.allocations && sum.frees == p->totals.frees;
}

/* ---- flight_input: the flight recorders of INPUT, for the commands that show them ---- */

void flight_input_read(const char *command, const char *input, flights_each *each, void *context,
    struct flights_found *ret)
{
	char directory[PATH_MAX];
	struct fault where = {""};
	pid_t pid;
	int err;

	if (input && input_is_pid(input, &pid)) {
		err = flights_read(NULL, pid, each, context, ret, &where);
		if (err == -ESRCH)
			err = input_dead_directory(pid, directory)
			    ? flights_read(directory, pid, each, context, ret, &where)
			    : 0;
		if (err < 0 && err != -ENOMEM && err != -EIO)
			input_die_pid(pid, err, &where);
	} else {
		err = flights_read(input ? input : INPUT_DEFAULT, 0, each, context, ret, &where);
	}
	if (err == -ENOMEM)
		die(CMD_INPUT, "%s: out of memory", command);
	if (err < 0 && err != -EIO)
		die(CMD_INPUT, "%s", where.text);
}

_Noreturn void flight_input_none(const char *command, const char *input, const struct session *s,
    const struct flights_found *found)
{
	const char *name = input ? input : INPUT_DEFAULT;
	char why[LOG_LACK_BYTES];

	for (size_t i = 0; i < s->count; i++)
		if (s->processes[i]->header.log_state == SEG_LOG_LAST)
			die(found->is_damaged ? CMD_INPUT : CMD_USAGE,
			    "%s: process %u had a flight recorder, but it is "
			    "gone from %s, or damaged",
			    command, s->processes[i]->header.pid, name);
	if (found->is_damaged)
		die(CMD_INPUT, "%s: the flight recorder of %s is damaged", command, name);
	log_input_untraced(command, input, s);
	for (size_t i = 0; i < s->count; i++)
		if (log_lack_words(&s->processes[i]->header, why))
			die(CMD_USAGE, "%s: %s has no flight recorder: %s", command, name, why);
	die(CMD_USAGE,
	    "%s: %s has no flight recorder; start the program with "
	    "SEEP_LOG=last or SEEP_LOG=last,frees, or with seep record --last",
	    command, name);
}

int flight_input_say(const struct flights_found *found)
{
	if (found->strange)
		die_warn("%s of the flight recorder %s no meaning, and %s "
		         "left out",
		    WORDS_COUNTED(found->strange, "item"), words_has(found->strange),
		    words_was(found->strange));
	if (found->is_damaged)
		die_warn("a part of the flight recorder is missing or damaged");
	return found->is_damaged ? CMD_INPUT : CMD_OK;
}
