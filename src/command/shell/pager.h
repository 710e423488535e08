/* pager.h - shows long results through less, as git does. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_PAGER_H
#define SEEP_PAGER_H

#include <stdbool.h>

#include "command/shell/terminal.h"

/*
 * From here on stdout, and stderr if it is a terminal, go through the pager:
 * SEEP_PAGER, else PAGER, else less (with LESS=FRX unless LESS is set). Does
 * nothing where `t`, which describes stdout, is no terminal or a dumb one,
 * where the pager is "cat" or empty, or where less is not installed. In secure
 * mode (secure.h) less can start nothing, and as a rule nothing else is started.
 *
 * The program waits for the pager however it ends. When the user quits it
 * before all is written, the program ends at once, silently, with status
 * `answer`: that of the command were it read to its end. A signal stops the
 * writing, waits for the pager, and ends the program as it would have.
 *
 * At most once in a program. Not to be called while a file of ours must be
 * removed at exit: quitting runs no exit handlers.
 */
void pager_start(const struct terminal *t, int answer);

bool pager_runs(void);

#endif
