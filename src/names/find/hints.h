/* hints.h - sentences about modules whose names are missing. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_HINTS_H
#define SEEP_HINTS_H

#include "names/find/name_table.h"

/*
 * A sentence that says why frames of this object have no name, or less than
 * possible, and what to do about it; the caller frees it. NULL: there is
 * nothing to say. asked: frames that were looked up; unknown: those of them
 * without a name.
 */
char *hints_sentence(const struct name_table_key *key, const struct name_table_state *state,
    bool is_relative, size_t asked, size_t unknown);

/* The same about malformed lines in the map of a process. */
char *hints_map(const struct name_table_key *key, const struct name_table_state *state);

/* Is its sentence about missing names, and not about a bad file? */
bool hints_is_lack(const struct name_table_state *state);

#endif
