/* debuginfod.h - debug information from a server, if the user wants that. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_DEBUGINFOD_H
#define SEEP_DEBUGINFOD_H

#include <stddef.h>
#include <stdint.h>

/*
 * Asks the servers of DEBUGINFOD_URLS through libdebuginfod, which keeps files
 * in its own cache. Takes at most so many seconds. *ret: the file's path; the
 * caller frees it. -ENOSYS: the library is not installed; -EDESTADDRREQ: no
 * server is named; -ENOENT: no server has it; -ETIMEDOUT, or another network
 * error.
 */
int debuginfod_fetch(const uint8_t *build_id, size_t build_id_bytes, unsigned seconds, char **ret);

#endif
