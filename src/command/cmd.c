/* cmd.c - all commands, in the order in which help lists them. */
/* SPDX-License-Identifier: Apache-2.0 */

#include "command/cmd.h"

#include "base/std.h"
const struct cmd_shelf cmd_shelves[] = {
    {"Record a program",
        {
            &cmd_record,
            &cmd_snapshot,
            &cmd_watch,
            &cmd_service,
            &cmd_serve,
            &cmd_push,
            &cmd_on,
            &cmd_off,
        }},
    {"See what was recorded",
        {
            &cmd_top,
            &cmd_report,
            &cmd_view,
            &cmd_diff,
            &cmd_leaks,
            &cmd_check,
            &cmd_export,
            &cmd_dump,
            &cmd_who,
            &cmd_replay,
            &cmd_ls,
            &cmd_doctor,
        }},
    {"Help",
        {
            &cmd_help,
            &cmd_completions,
        }},
    {0},
};

const struct cmd *cmd_find(const char *name)
{
	for (const struct cmd_shelf *s = cmd_shelves; s->title; s++)
		for (const struct cmd *const *c = s->commands; *c; c++)
			if (strcmp((*c)->name, name) == 0)
				return *c;
	return NULL;
}
