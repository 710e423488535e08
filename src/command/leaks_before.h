/* leaks_before.h - seep leaks --types --before: an earlier moment to compare with. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_LEAKS_BEFORE_H
#define SEEP_LEAKS_BEFORE_H

#include "session/load/session.h"
#include "findings/by_type.h"

/*
 * Adds the types in the file to t, as those of the other moment: a census that
 * `--types --format json` has written, or a recording that was made with
 * `record --types`, of which the process counts that runs the program of p and
 * had most bytes. Ends the program if the file has none.
 */
void leaks_before(const char *path, const struct process *p, struct by_type *t);

#endif
