/* logindex_build.h - makes the index of an entry of an event log. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_LOGINDEX_BUILD_H
#define SEEP_LOGINDEX_BUILD_H

#include "recording/log/logindex.h"

/*
 * The head, without `bytes` and `crc`, and the bytes behind it, for free().
 * 1: there is an index; 0: it would not be much smaller than the entry, or words of
 * the entry contradict each other; -ENOMEM.
 */
int logindex_build(
    const struct logcode *c, struct logindex_head *ret, unsigned char **ret_bytes, size_t *ret_len);

#endif
