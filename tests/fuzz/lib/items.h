/* items.h - rows of items (time line, names), taken apart and changed. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_FUZZ_ITEMS_H
#define SEEP_FUZZ_ITEMS_H

#include "chance.h"
#include "recording/file/codec.h"

/* One change by chance: an item, its tag, its length, a number in it. */
void items_twist(struct codec_out *content, struct chance *c);

/*
 * Counts *n down over the first numbers of the first items of every tag, with
 * each of these values; true: this was it, and it is changed.
 */
bool items_known(struct codec_out *content, const uint64_t *values, size_t count, size_t *n);

#endif
