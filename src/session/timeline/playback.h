/* playback.h - replays the time line of a recording. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_PLAYBACK_H
#define SEEP_PLAYBACK_H

#include "recording/file/codec.h"
#include "segments/read/segment_copy.h"

enum {
	/*
	 * The limit of memory for all states: a fixed number of bytes plus a
	 * multiple of the bytes that were replayed, but never more than the
	 * last number. A new process takes three bytes in the recording and
	 * 9,000 here.
	 */
	PLAYBACK_FREE_BYTES = 64 << 20,
	PLAYBACK_TIMES = 64,
	PLAYBACK_MAX_BYTES = 512 << 20,
	PLAYBACK_LABEL_BYTES = 64,
};

/* The state of a process at the moment that the replay has reached. */
struct playback_process {
	uint64_t number;
	struct seg_header header; /* as at rows_us; strings end with a NUL */
	struct codec_sum totals;  /* as at totals_us */
	uint64_t begin_us, totals_us, rows_us;
	void *context; /* for the caller */
	struct playback_state *state;
};

struct playback_mark {
	uint64_t time_us;
	uint32_t kind; /* enum codec_mark */
	uint32_t pid;
	char label[PLAYBACK_LABEL_BYTES];
};

/* Each may be NULL. A negative result ends the replay and is returned. */
struct playback_hooks {
	void *context;
	int (*totals)(void *context, struct playback_process *p);
	int (*row)(void *context, struct playback_process *p, uint32_t id,
	    const struct codec_sum *sum, uint64_t time_us);
	int (*mark)(void *context, const struct playback_mark *mark);
	bool rows;         /* keep tables and ledger, else they are skipped */
	uint64_t until_us; /* later items are left out; 0: none */
};

struct playback;

/* -ENOMEM. */
int playback_new(const struct playback_hooks *hooks, struct playback **ret);

/* NULL is fine. */
void playback_free(struct playback *r);

/*
 * The next entry RECORDING_LINE. -EBADMSG: damaged, but earlier entries are
 * valid; -EFBIG: beyond the limit of memory; -ENOMEM.
 */
int playback_entry(struct playback *r, const void *bytes, size_t len);

/*
 * Processes are numbered 0 .. playback_count() - 1, in the order in which they
 * began.
 */
size_t playback_count(const struct playback *r);
struct playback_process *playback_process(const struct playback *r, size_t i);

/* The one with this number in the recording; NULL: there is none. */
struct playback_process *playback_find(const struct playback *r, uint64_t number);

/* The time of the last item. */
uint64_t playback_time_us(const struct playback *r);

/* The current sums of a site; zeros if nothing is known of it. */
struct codec_sum playback_sum(const struct playback_process *p, uint32_t id);

/*
 * The current state as a segment, for segment_copy_free(); without what only the end
 * state has (ages, sizes). Needs hooks.rows. -ENODATA: no header yet.
 */
int playback_segment(const struct playback_process *p, struct segment **ret);

/* ---- playback_parts: what the files of playback.h share ---- */

enum { PLAYBACK_BLOCK_BITS = 7, PLAYBACK_BLOCK_ROWS = 1 << PLAYBACK_BLOCK_BITS };

struct playback_block {
	struct codec_sum rows[PLAYBACK_BLOCK_ROWS];
};

/* Rows in the order in which they came. */
struct playback_patch {
	uint32_t kind, row_bytes, count;
	uint64_t first;
	uint8_t *rows;
};

struct playback_state {
	struct playback_block **blocks; /* by id >> PLAYBACK_BLOCK_BITS */
	size_t block_room;
	struct playback_patch *patches;
	size_t patch_count, patch_room;
};

#endif
