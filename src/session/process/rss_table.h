/* rss_table.h - an account of resident memory as a table of a snapshot. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_RSS_TABLE_H
#define SEEP_RSS_TABLE_H

#include "segments/read/segment_copy.h"
#include "recording/parts/rss_account.h"

/* Adds it to the copy of a segment. -ENOMEM, -EFBIG. */
int rss_table_put(struct segment *seg, const struct residence *r);

/* -ENODATA: there is none; -EBADMSG: it is damaged; -ENOMEM. */
int rss_table_take(const struct segment *seg, struct residence *ret);

#endif
