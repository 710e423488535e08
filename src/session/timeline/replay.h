/* replay.h - replays the time line of a recording. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_REPLAY_H
#define SEEP_REPLAY_H

#include "recording/file/codec.h"
#include "segments/read/segment_copy.h"

enum {
	/*
	 * The limit of memory for all states: a fixed number of bytes plus a
	 * multiple of the bytes that were replayed, but never more than the
	 * last number. A new process takes three bytes in the recording and
	 * 9,000 here.
	 */
	REPLAY_FREE_BYTES = 64 << 20,
	REPLAY_TIMES = 64,
	REPLAY_MAX_BYTES = 512 << 20,
	REPLAY_LABEL_BYTES = 64,
};

/* The state of a process at the moment that the replay has reached. */
struct replay_process {
	uint64_t number;
	struct seg_header header; /* as at rows_us; strings end with a NUL */
	struct codec_sum totals;  /* as at totals_us */
	uint64_t begin_us, totals_us, rows_us;
	void *context; /* for the caller */
	struct replay_state *state;
};

struct replay_mark {
	uint64_t time_us;
	uint32_t kind; /* enum codec_mark */
	uint32_t pid;
	char label[REPLAY_LABEL_BYTES];
};

/* Each may be NULL. A negative result ends the replay and is returned. */
struct replay_hooks {
	void *context;
	int (*totals)(void *context, struct replay_process *p);
	int (*row)(void *context, struct replay_process *p, uint32_t id,
	    const struct codec_sum *sum, uint64_t time_us);
	int (*mark)(void *context, const struct replay_mark *mark);
	bool rows;         /* keep tables and ledger, else they are skipped */
	uint64_t until_us; /* later items are left out; 0: none */
};

struct replay;

/* -ENOMEM. */
int replay_new(const struct replay_hooks *hooks, struct replay **ret);

/* NULL is fine. */
void replay_free(struct replay *r);

/*
 * The next entry RECORDING_LINE. -EBADMSG: damaged, but earlier entries are
 * valid; -EFBIG: beyond the limit of memory; -ENOMEM.
 */
int replay_entry(struct replay *r, const void *bytes, size_t len);

/*
 * Processes are numbered 0 .. replay_count() - 1, in the order in which they
 * began.
 */
size_t replay_count(const struct replay *r);
struct replay_process *replay_process(const struct replay *r, size_t i);

/* The one with this number in the recording; NULL: there is none. */
struct replay_process *replay_find(const struct replay *r, uint64_t number);

/* The time of the last item. */
uint64_t replay_time_us(const struct replay *r);

/* The current sums of a site; zeros if nothing is known of it. */
struct codec_sum replay_sum(const struct replay_process *p, uint32_t id);

/*
 * The current state as a segment, for segment_copy_free(); without what only the end
 * state has (ages, sizes). Needs hooks.rows. -ENODATA: no header yet.
 */
int replay_segment(const struct replay_process *p, struct segment **ret);

/* ---- replay_parts: what the files of replay.h share ---- */

enum { REPLAY_BLOCK_BITS = 7, REPLAY_BLOCK_ROWS = 1 << REPLAY_BLOCK_BITS };

struct replay_block {
	struct codec_sum rows[REPLAY_BLOCK_ROWS];
};

/* Rows in the order in which they came. */
struct replay_patch {
	uint32_t kind, row_bytes, count;
	uint64_t first;
	uint8_t *rows;
};

struct replay_state {
	struct replay_block **blocks; /* by id >> REPLAY_BLOCK_BITS */
	size_t block_room;
	struct replay_patch *patches;
	size_t patch_count, patch_room;
};

#endif
