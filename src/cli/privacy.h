/* privacy.h - results are as private as the inputs that they are made of. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_CLI_PRIVACY_H
#define SEEP_CLI_PRIVACY_H

#include <sys/types.h>

#include "reader/session.h"

/*
 * From now on files with results have at most the permissions of this input: a
 * file that others may read gives a file that they may read. Anything else, a
 * directory or a process (NULL), gives files for the user alone. The mode of an
 * input of another group says nothing about ours.
 */
void privacy_note(const char *path);

/* The same of the snapshots that session_add_snapshots() has found. */
void privacy_note_snapshots(const struct session *s);

/* What this command writes is made to be shown to others. */
void privacy_lift(void);

/* The permissions that a result may have, before the umask. */
mode_t privacy_mode(void);

#endif
