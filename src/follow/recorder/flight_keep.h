/* flight_keep.h - the last events of a process go into the recording. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_FLIGHT_KEEP_H
#define SEEP_FLIGHT_KEEP_H

#include <stdbool.h>

#include "format/format.h"
#include "recording/file/recording.h"

/* Bytes of rings of one process that are kept at most. */
#define FLIGHT_KEEP_MAX (UINT64_C(256) << 20)

/*
 * Writes the rings of a process with SEEP_LOG=last as entries
 * (RECORDING_FLIGHT). `may_take` is asked before each entry whether so many bytes
 * may be written. What cannot be read is left out. -ENOMEM, or an error of the
 * recording.
 */
int flight_keep(const char *dir, const char *name, const struct seg_header *h,
    bool (*may_take)(void *context, uint64_t bytes), void *context, struct recording_writer *w);

#endif
