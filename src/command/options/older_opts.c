/* older_opts.c - --older-than TIME: blocks by age. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "command/options/older_opts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "command/cmd.h"
#include "command/shell/die.h"
#include "view/sites/enum_words.h"

struct older *older_opts_find(const char *command, const struct session *s, uint64_t age_ns)
{
	char buffer[WORDS_MAX];
	struct older *o;
	int err;

	if (age_ns == 0)
		return NULL;
	err = older_new(s, age_ns, &o);
	if (err == -ERANGE)
		die(CMD_USAGE,
		    "%s: --older-than: below %s the ages of blocks are known "
		    "only while a process runs",
		    command, words_time(buffer, OLDER_MIN_NS));
	if (err < 0)
		die(CMD_INPUT, "%s: out of memory", command);
	return o;
}

void older_opts_warn(const char *command, const struct older *o)
{
	char *text = NULL, *rest, *line;
	struct older_about about;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	older_about(o, NULL, &about);
	if (out)
		older_remarks(out, &about);
	if (!out || fclose(out) != 0)
		die(CMD_INPUT, "%s: out of memory", command);
	rest = text;
	while ((line = strsep(&rest, "\n")) != NULL)
		if (*line)
			die_warn("%s: --older-than: %s", command, line);
	free(text);
}
