/* residence_table.h - an account of resident memory as a table of a snapshot. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_READER_RESIDENCE_TABLE_H
#define SEEP_READER_RESIDENCE_TABLE_H

#include "reader/segment.h"
#include "trace/residence.h"

/* Adds it to the copy of a segment. -ENOMEM, -EFBIG. */
int residence_table_put(struct segment *seg, const struct residence *r);

/* -ENODATA: there is none; -EBADMSG: it is damaged; -ENOMEM. */
int residence_table_take(const struct segment *seg, struct residence *ret);

#endif
