/* privacy.h - makes results as private as their inputs. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_PRIVACY_H
#define SEEP_PRIVACY_H

#include <sys/types.h>

#include "session/load/session.h"

/*
 * From now on files with results have at most the permissions of this input: if
 * others may read it, they may read the result. Anything else, a directory or a
 * process (NULL), gives files for the user alone. If the input belongs to
 * another group, its mode says nothing about ours.
 */
void privacy_note(const char *path);

/* The same for the snapshots that session_add_snapshots() has found. */
void privacy_note_snapshots(const struct session *s);

/* The result of this command is meant to be shown to others. */
void privacy_lift(void);

/* The permissions that a result may have, before the umask. */
mode_t privacy_mode(void);

#endif
