/* snapthin.h - keeps the snapshots of a process within their bounds. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_COLLECTOR_SNAPTHIN_H
#define SEEP_COLLECTOR_SNAPTHIN_H

#include <stdbool.h>
#include <stdint.h>

#include "collector/snapfile.h"

/*
 * The first and the newest snapshot stay; those between are thinned evenly: of
 * two neighbours one goes, from the oldest pair on, and again when that is
 * through. So the distance of two neighbours is s or 2s, longer where the
 * process could not write. A file is removed after the newer one has its name:
 * whatever ends us in between leaves one too many, never one too few.
 *
 * Only files of this process are removed: their names are known, and each must
 * be a regular file whose header has our uuid. A file that somebody else has
 * moved away no longer counts.
 *
 * No lock, no state but counters, raw system calls alone: any number of threads
 * and signal handlers may be at it at once.
 */

/* Where to look: the directory of `file`, a buffer for its names. */
struct snapthin {
	const struct snapfile *file; /* open */
	const uint8_t *uuid;         /* of this process */
	uint8_t *buffer;             /* aligned to 8 bytes */
	uint32_t buffer_bytes;
};

/* Once, and in a forked child again: it has written nothing yet. */
void snapthin_start(uint32_t most_files, uint64_t most_bytes);

/* `file` has got its name and has so many bytes: removes what is too much. */
void snapthin_added(const struct snapthin *t, uint64_t bytes);

/*
 * Removes the next snapshot because `missing` bytes of room are missing. False:
 * none is left between the first and the newest, or all of ours would not do.
 */
bool snapthin_give(const struct snapthin *t, uint64_t missing);

#endif
