/* place_words.h - why the directory that was asked for was not used. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_PLACE_WORDS_H
#define SEEP_PLACE_WORDS_H

#include <stdbool.h>
#include <stddef.h>

#include "format/format.h"

enum { PLACE_WORDS_BYTES = SEG_ASKED_BYTES + 256 };

/*
 * The middle of a sentence: "/run/x belongs to uid 7". Not escaped: the process
 * wrote the path. False: the place that was asked for was used, or none was.
 */
bool place_words(const struct seg_header *h, char *text, size_t bytes);

/* The variable that asked for the place: "SEEP_DIR" or "SEEP_BASE". */
const char *place_words_setting(const struct seg_header *h);

/* One word of enum seg_place for programs, never renamed: "owner". */
const char *place_words_reason(uint32_t why);

#endif
