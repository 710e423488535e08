/* chapter_repair.h - completes a chapter whose writer was killed. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_CHAPTER_REPAIR_H
#define SEEP_CHAPTER_REPAIR_H

#include "names/find/names.h"
#include "follow/history/store.h"

/*
 * A killed watch leaves *.seep.part, a recording that is cut off. This copies
 * its whole entries, adds names and the end, and puts the result in the place
 * of the part, which is removed only when that is safe. A part that has no
 * process in it is removed; one whose writer is at work (-EBUSY), or for which
 * there is no room, stays. `folder` is the service's, `part` the file's name.
 * Negative errno.
 */
int chapter_repair(const struct store *s, const char *folder, const char *part,
    const struct names_options *naming);

#endif
