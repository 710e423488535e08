/* ls_history.h - seep ls: what seep watch has written down. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_LS_HISTORY_H
#define SEEP_LS_HISTORY_H

#include "findings/ls_row.h"

typedef void ls_history_show(void *context, const struct ls_row *r);

/*
 * Shows the processes of a history, or, if the path is NULL, of the default
 * ones. Returns how many chapters there was no time for. A history that cannot
 * be read ends the program with one line and exit 3, unless it is a default one
 * that is missing.
 */
uint64_t ls_history_list(const char *path, uint64_t until_ns, ls_history_show *show, void *context);

/* Below a list of segments: prints that there is a default history, if so. */
void ls_history_hint(void);

#endif
