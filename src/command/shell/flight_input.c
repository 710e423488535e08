/* flight_input.c - the flight recorders of INPUT, for the commands that show them. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "command/shell/input.h"

#include "command/cmd.h"
#include "command/shell/die.h"
#include "findings/who.h"
#include "view/sites/enum_words.h"

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
