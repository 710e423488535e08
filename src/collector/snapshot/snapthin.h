/* snapthin.h - keeps the snapshots of a process within their bounds. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_SNAPTHIN_H
#define SEEP_SNAPTHIN_H

#include <stdbool.h>
#include <stdint.h>

#include "collector/snapshot/snapfile.h"

/*
 * The first and the newest snapshot stay. Those between are thinned evenly: of
 * two neighbours one is removed, from the oldest pair on, and when the newest
 * pair has been reached it begins again. So the distance between two neighbours
 * is s or 2s, or longer if the process could not write. A file is removed after
 * a newer one has its name, so a process that is killed in between leaves one
 * file too many, never one too few.
 *
 * Only files of this process are removed: their names are known, and each must
 * be a regular file whose header has our uuid. A file that somebody has moved
 * away does not count any more.
 *
 * One thread thins at a time, and another one leaves that to it without waiting.
 * The first one counts the files that were left to it, and goes on until it has
 * seen them all. Only raw system calls are made. A signal handler may call this.
 */

/* Where to look: the directory of `file`, a buffer for its names. */
struct snapthin {
	const struct snapfile *file; /* open */
	const uint8_t *uuid;         /* of this process */
	uint8_t *buffer;             /* aligned to 8 bytes */
	uint32_t buffer_bytes;
};

/* Once, and again in a forked child, which has written nothing yet. */
void snapthin_start(uint32_t most_files, uint64_t most_bytes);

/* `file` has its name and so many bytes. Removes what is beyond the bounds. */
void snapthin_added(const struct snapthin *t, uint64_t bytes);

/*
 * Removes the next snapshot because `missing` bytes of room are missing. False:
 * none is left between the first and the newest, or all of them together are
 * too small.
 */
bool snapthin_give(const struct snapthin *t, uint64_t missing);

#endif
