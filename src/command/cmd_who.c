/* cmd_who.c - seep who: the block that holds, or last held, an address. */
/* SPDX-License-Identifier: Apache-2.0 */

#include "command/cmd.h"

#include "base/std.h"
#include "command/shell/die.h"
#include "command/shell/input.h"
#include "command/options/view_opts.h"
#include "command/options/opts.h"
#include "command/shell/output.h"
#include "findings/who.h"

#define ADDRESS_END (UINT64_C(1) << 47) /* of a process */

enum { NOT_KNOWN = 1 }; /* exit status */

struct who_options {
	int format; /* text, json */
	unsigned pid;
	const char *path;
	uint64_t max_bytes;
	struct names_options naming;
};

/*
 * 0x7f12 or 7f12, as debuggers print it; or a decimal number, as seep dump has it in
 * JSON. Digits alone are hexadecimal, unless a process can have no such address.
 */
static uint64_t parse_address(const char *text)
{
	const bool may_be_decimal = strspn(text, "0123456789") == strlen(text);
	char *end;
	uint64_t v;

	errno = 0;
	v = strtoull(text, &end, 16);
	if (may_be_decimal && (errno || v >= ADDRESS_END)) {
		errno = 0;
		v = strtoull(text, &end, 10);
	}
	if (errno || end == text || *end || text[0] == '-' || text[0] == '+' || text[0] == ' ')
		die(CMD_USAGE,
		    "who: %s is no address; write it as a debugger does, for "
		    "example 0x55f0c8a2b2a0",
		    text);
	return v;
}

static bool is_asked(const struct who_options *o, const struct process *p)
{
	return !o->pid || p->header.pid == o->pid;
}

/* Returns how many processes know the address. */
static size_t print_all(FILE *out, const struct who *w, const struct session *s,
    struct names *names, const struct who_options *o, uint64_t address)
{
	struct json list;
	size_t known = 0;

	if (o->format) {
		list = json_begin(out, SEEP_VERSION);
		json_number(&list, "address", address);
		json_list(&list, "processes");
	}
	for (size_t i = 0; i < s->count; i++) {
		struct who_block b;

		if (!is_asked(o, s->processes[i]) || (!who_answer(w, i, &b) && !b.again.is_known))
			continue;
		if (known++ && !o->format)
			(void)putc('\n', out);
		if (o->format)
			who_print_json(&list, names, address, &b);
		else
			who_print(out, names, address, &b);
	}
	if (o->format)
		(void)json_finish(&list, 0);
	return known;
}

static int run(const struct cmd *self, int argc, char **argv)
{
	struct who_options o = {0};
	const char *input, *shown;
	struct flights_found found;
	struct session *session;
	struct names *names;
	struct output out;
	struct who *w;
	uint64_t address;
	size_t known;
	int count = opts_parse(self, argc, argv, &o), maps, answer;

	address = parse_address(argv[1]);
	moment_opts_refuse(self->name, count - 1, argv + 2, true);
	input = count > 1 ? argv[2] : NULL;
	if (input && strncmp(input, "0x", 2) == 0 && access(input, F_OK) < 0)
		die(CMD_USAGE,
		    "who: %s is no INPUT; the address comes first: seep who %s "
		    "%s",
		    input, input, argv[1]);
	shown = input ? input : INPUT_DEFAULT;
	progress_begin("reading", shown);
	session = input_load(input);
	input_check_pid(self->name, session, o.pid);
	names = name_opts_open(self->name, &o.naming);
	name_opts_gather(names, session);
	if (who_new(session, address, &w) < 0)
		die(CMD_INPUT, "who: out of memory");
	flight_input_read("who", input, who_look, w, &found);
	maps = who_look_at_maps(w, o.pid);
	progress_end();
	if (maps < 0)
		die(CMD_INPUT, "who: out of memory");
	if (found.processes == 0 && maps == 0)
		flight_input_none("who", input, session, &found);
	output_limit(o.max_bytes);
	output_open(&out, o.path);
	known = print_all(out.file, w, session, names, &o, address);
	output_finish(&out);
	answer = flight_input_say(&found);
	if (session->is_truncated)
		answer = CMD_INPUT;
	if (known == 0)
		die_warn("no block at 0x%" PRIx64 " is known: none holds it, "
		         "and no event that is kept is about it",
		    address);
	who_free(w);
	names_free(names);
	session_free(session);
	return known == 0 && answer == CMD_OK ? NOT_KNOWN : answer;
}

#define AT(field) offsetof(struct who_options, field)

static const struct opts_option how[] = {
    {"pid", 0, OPTS_COUNT, AT(pid), 0, "PID", "ask this process alone"},
    {"format", 0, OPTS_WORD, AT(format), 0, "text|json",
        "text for people (the default), or json for programs"},
    {"output", 'o', OPTS_TEXT, AT(path), 0, "FILE", "write to FILE when complete"},
    {"max-output", 0, OPTS_SIZE, AT(max_bytes), 0, "SIZE", OUTPUT_MAX_HELP},
    {0},
};

static const struct opts_group options[] = {
    {"What to show", how, 0},
    {"Where names come from", name_opts_rows, AT(naming)},
    {0},
};

const struct cmd cmd_who = {
    .name = "who",
    .summary = "say which block an address belongs to, or last belonged to",
    .operands = "ADDRESS [INPUT]",
    .about = "Names the block that holds ADDRESS, or held it last: its size, the "
             "call stack that allocated it and when, and, if it was freed, when, "
             "by which thread, and by which call stack. ADDRESS may be inside of "
             "the block. So a crash by a double free or by the use of a freed "
             "block is explained after the fact."
             "\n\n"
             "INPUT is a directory, a segment or the PID of a program that was "
             "started with SEEP_LOG=last or SEEP_LOG=last,frees, or a recording "
             "of it. The flight recorder has the last events of each thread, and "
             "a process that crashed or was killed has left them. Blocks of a "
             "running process are found without it, too, as long as they are in "
             "use."
             "\n\n"
             "The exit status is 0 if a block is known, and 1 if none is.",
    .options = options,
    .run = run,
};
