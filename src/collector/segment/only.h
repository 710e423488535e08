/* only.h - SEEP_ONLY: the programs that are traced. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_ONLY_H
#define SEEP_ONLY_H

#include <stdbool.h>

/*
 * Is this program left out by `list`, NAME[:NAME]? A name is compared with the
 * last part of the path of the executable and of the path that exec was given,
 * which may be a link (busybox) or a script; a name with a slash is compared with
 * the whole path. An empty name is skipped. *ret_ignored: there was no name at
 * all, so that nothing is left out. NULL paths are not compared.
 */
bool only_leaves_out(
    const char *list, const char *executable, const char *started_as, bool *ret_ignored);

#endif
