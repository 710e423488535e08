/* moment_opts.c - FROM..TO of --growth, and what it means for an input. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "command/options/view_opts.h"

#include "command/cmd.h"
#include "command/shell/die.h"
#include "command/shell/input.h"
#include "session/load/session_moment.h"
#include "kit/os/clock.h"

void moment_opts_parse(const char *command, struct moment_opts *m)
{
	struct moment_fault fault;

	m->from = (struct moment){.kind = MOMENT_PERCENT, .percent = 100.0 / 3};
	m->to = (struct moment){.kind = MOMENT_PERCENT, .percent = 100};
	if (!m->text || m->text[0] == '\0' || moment_range(m->text, &m->from, &m->to, &fault))
		return;
	die(CMD_USAGE,
	    "%s: --growth takes FROM..TO, the earlier first, as 10..60, "
	    "30%%..100%%, -2h.. or 2026-11-15T12:00..now, not \"%s\": at "
	    "character %zu: %s",
	    command, m->text, fault.column, fault.words);
}

void moment_opts_resolve(const char *command, const struct moment_opts *m, const struct session *s,
    uint64_t *ret_from_us, uint64_t *ret_to_us)
{
	const struct moment_line line = {
	    .start_ns = s->start_ns, .until_us = s->until_us, .now_ns = clock_ns(CLOCK_REALTIME)};
	char text[SESSION_MOMENT_BYTES];
	int64_t from, to;

	if (s->title)
		die(CMD_USAGE, "%s: --growth names its moments itself, without INPUT@MOMENT",
		    command);
	if (!s->line)
		die(CMD_INPUT,
		    "%s: --growth needs a recording made over time; make one "
		    "with: seep record CMD",
		    command);
	if (!moment_resolve(&m->from, &line, &from) || !moment_resolve(&m->to, &line, &to))
		die(CMD_INPUT, "%s: --growth %s: the input does not say when it was made", command,
		    m->text);
	if (from > 0 && (uint64_t)from >= s->until_us && s->until_us > 0)
		die(CMD_USAGE,
		    "%s: --growth %s begins after the end of the recording, "
		    "which has %.1f s and ends at %s",
		    command, m->text, (double)s->until_us / 1e6,
		    session_moment_date(text, s, s->until_us));
	if (to < 0)
		die(CMD_USAGE, "%s: --growth %s ends before the recording begins, at %s", command,
		    m->text, session_moment_date(text, s, 0));
	if (from > to)
		die(CMD_USAGE, "%s: --growth %s runs backwards: it begins at %s", command, m->text,
		    session_moment_date(text, s, (uint64_t)from));
	*ret_from_us = from > 0 ? (uint64_t)from : 0;
	*ret_to_us = (uint64_t)to < s->until_us ? (uint64_t)to : s->until_us;
}

/* "INPUT at 2026-11-15T12:00:00+0100", for free(). */
static char *title(const char *command, const char *input, const struct session *s, uint64_t us)
{
	char text[SESSION_MOMENT_BYTES], *name;
	int n;

	if (s->start_ns > 0)
		n = asprintf(&name, "%s at %s", input, session_moment_date(text, s, us));
	else
		n = asprintf(&name, "%s after %.1f s", input, (double)us / 1e6);
	if (n < 0)
		die(CMD_INPUT, "%s: out of memory", command);
	return name;
}

static struct session *load(const char *input)
{
	progress_begin("reading", input ? input : INPUT_DEFAULT);
	return input_load(input);
}

static void set_back(const char *command, struct session *s, uint64_t us)
{
	int err = session_moment_set_back(s, us);

	if (err < 0)
		die(CMD_INPUT, "%s: the time line cannot be read: %s", command,
		    err == -ENOMEM ? "out of memory" : "an error of the disk");
}

void moment_opts_load(const char *command, const struct moment_opts *m, const char *input,
    struct moment_opts_pair *ret)
{
	const char *name = input ? input : INPUT_DEFAULT;
	struct session *old = load(input), *new;
	uint64_t from_us, to_us;

	moment_opts_resolve(command, m, old, &from_us, &to_us);
	new = load(input);
	ret->old_title = title(command, name, old, from_us);
	ret->new_title = title(command, name, new, to_us);
	set_back(command, old, from_us);
	set_back(command, new, to_us);
	ret->old = old;
	ret->new = new;
}

void moment_opts_refuse(const char *command, int count, char *const *inputs, bool is_other)
{
	struct moment m;
	char *input;

	for (int i = 0; i < count && is_other; i++) {
		input = input_of_moment(inputs[i], &m);
		if (input)
			die(CMD_USAGE,
			    "%s: %s: a reading has what is live and what was allocated, and "
			    "nothing else: no events, peaks, ages, verdicts or resident memory",
			    command, inputs[i]);
	}
}
