/* moments_table.h - one process at several moments, as JSON. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_MOMENTS_TABLE_H
#define SEEP_MOMENTS_TABLE_H

#include "findings/snapshots.h"

/* One JSON object. Errors as of compare_text_snapshots(). */
int moments_table_write(
    FILE *out, struct session *const *sessions, size_t count, uint32_t pid, const char *version);

#endif
