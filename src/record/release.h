/* release.h - gives back what a dead process has taken of the segment directory. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_RECORD_RELEASE_H
#define SEEP_RECORD_RELEASE_H

#include <stdbool.h>
#include <stdint.h>

#include "reader/segfile.h"

/*
 * Only for processes that have surely ended and whose counters are safe
 * elsewhere. What cannot be given back (another owner, a file system without
 * holes) stays as it is.
 */

/*
 * Empties the slot of a dead child, so that the next child can take it; if
 * `of_others` is set, as root also in files of other users.
 */
bool release_slot(int dir_fd, const char *name, const struct segfile *f,
    int slot, bool of_others);

/*
 * Removes NAME.seg and what belongs to it, if NAME.seg is still this file and
 * no process has it mapped.
 */
bool release_file(
    int dir_fd, const char *name, uint64_t device, uint64_t inode);

#endif
