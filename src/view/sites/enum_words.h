/* enum_words.h - numbers of the format as words. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_ENUM_WORDS_H
#define SEEP_ENUM_WORDS_H

#include "base/std.h"
#include "session/process/process.h"
#include "kit/words/words.h"

/* Never NULL; "unknown" for numbers of later versions. */
const char *enum_words_kind(uint8_t kind);
const char *enum_words_api(uint8_t api);
const char *enum_words_end(enum process_end end);
/*
 * For people: "ended" if it called _exit or was killed by a signal, "oom" if it
 * was killed for lack of memory.
 */
const char *enum_words_ended(const struct process *p);
const char *enum_words_mode(uint32_t mode);
const char *enum_words_state(uint32_t state);
const char *enum_words_medium(uint32_t medium);
const char *enum_words_cross_check(enum cross_check a); /* NULL: not known */
const char *enum_words_mark(uint32_t kind);             /* enum codec_mark */
const char *enum_words_snapshot(uint32_t reason);       /* enum seg_snapshot */

/* "complete", "truncated", "outer_dropped", "no_room", "cut", "unknown". */
const char *enum_words_stack(uint32_t flags);

/* "(no room)" and the like for missing frames; NULL: none is missing. */
const char *enum_words_no_frame(uint32_t flags);

enum { WORDS_LOSS = 6 * WORDS_MAX };

/*
 * A count with the words of segments/read/losses.h, which are plural: "1 event not
 * recorded", "2 forked children without room".
 */
const char *enum_words_loss(char buffer[WORDS_LOSS], uint64_t n, const char *words);

#endif
