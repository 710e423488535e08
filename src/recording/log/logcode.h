/* logcode.h - words of the event log as an entry of a recording: columns. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_LOGCODE_H
#define SEEP_LOGCODE_H

#include <stddef.h>
#include <stdint.h>

/*
 * A run is a part of one chunk (format/seg_log.h): words that follow each other. The
 * runs of a process are in an order in which every free comes after its
 * allocation, and in which time increases but for about 10 ms. An entry has a
 * head, its runs, and the words of all runs as columns, because equal things
 * together are small when packed; docs/RECORDING.md describes every byte.
 */
struct logcode_head {
	uint8_t uuid[16]; /* of the process's segment */
	uint32_t version; /* 1 */
	uint32_t mode;    /* enum log_mode */
	uint32_t runs, words;
	uint64_t first_tick, last_tick; /* in LOG_TICK_NS */
	uint64_t start_monotonic_ns;    /* tick 0 */
	uint32_t pid;
	uint32_t first_number; /* of a chunk of this process */
};

struct logcode_run {
	uint32_t number, index; /* chunk, and place of the first word in it */
	uint32_t thread, tid;
	uint32_t words;
	uint32_t reserved;
	uint64_t tick; /* of the first word */
};

_Static_assert(sizeof(struct logcode_head) == 64, "logcode_head");
_Static_assert(sizeof(struct logcode_run) == 32, "logcode_run");

enum {
	LOGCODE_VERSION = 1,
	LOGCODE_WORDS_MAX = 4 << 20, /* of an entry */
};

/* Runs and the words of all of them, one after the other. */
struct logcode {
	struct logcode_head head;
	struct logcode_run *runs;
	uint64_t *words;
	size_t run_room, word_room;
};

/* Behind the head: the bytes of the entry, for free(). -ENOMEM. */
int logcode_pack(const struct logcode *c, uint8_t **ret, size_t *ret_len);

/*
 * The whole entry. -EBADMSG: it is damaged; -ENOTSUP: another version; -ENOMEM.
 * `ret` may have the arrays of an earlier call, which are used again.
 */
int logcode_unpack(struct logcode *ret, const void *bytes, size_t len);

void logcode_release(struct logcode *c);

/* Appends a word to the last run. -ENOMEM. */
int logcode_add_run(struct logcode *c, const struct logcode_run *run);
int logcode_add_word(struct logcode *c, uint64_t word);

#endif
