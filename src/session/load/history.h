/* history.h - the directory of seep watch: which folder of it is meant. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_HISTORY_H
#define SEEP_HISTORY_H

#include <stdbool.h>

#include "kit/os/listing.h"
#include "kit/os/fault.h"

/*
 * A history has a folder of chapters for each service, and a file that says
 * which version of seep may read it (recording/file/chapter_name.h).
 */

/*
 * The folder to read if a user names the directory `path`: for free(). It is
 * the only service of a history; or `path` itself, if that is a service, or no
 * history at all. -ENOTUNIQ: there are several services, which the text lists;
 * -ENODATA: there is none; -ENOTSUP: another version; -ENOMEM, or as open()
 * says.
 */
int history_find(const char *path, char **ret, struct fault *where);

/*
 * The services of a history that have chapters, for listing_release(). Folders
 * that are links are none. -EINVAL: no history; -ENOTSUP: another version;
 * -ENOMEM, or as open() says.
 */
int history_services(const char *path, struct listing_names *ret, struct fault *where);

enum { HISTORY_PATH_BYTES = 4096, HISTORY_DEFAULTS = 2 };

/*
 * Where seep watch keeps its history unless it is told otherwise. 0: that of
 * this user: $XDG_STATE_HOME/seep or ~/.local/state/seep; root has
 * /var/lib/seep. 1: that of root, which a group may be allowed to read; not for
 * root. False: there is none, or its name is too long.
 */
bool history_default(int which, char path[HISTORY_PATH_BYTES]);

#endif
