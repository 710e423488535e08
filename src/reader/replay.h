/* replay.h - the time line of a recording, played again. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_READER_REPLAY_H
#define SEEP_READER_REPLAY_H

#include "reader/segment.h"
#include "trace/codec.h"

enum {
	/*
	 * Of all states kept, our memory bound for any input: so much, and so
	 * many times what was played, but never more than the last. A process
	 * that begins has three bytes there and 9,000 here.
	 */
	REPLAY_FREE_BYTES = 64 << 20,
	REPLAY_TIMES = 64,
	REPLAY_MAX_BYTES = 512 << 20,
	REPLAY_LABEL_BYTES = 64,
};

/* The state of a process at the moment that the replay has reached. */
struct replay_process {
	uint64_t number;
	struct seg_header header; /* as of rows_us; strings end with a NUL */
	struct codec_sum totals;  /* as of totals_us */
	uint64_t begin_us, totals_us, rows_us;
	void *context; /* the caller's own */
	struct replay_state *state;
};

struct replay_mark {
	uint64_t time_us;
	uint32_t kind; /* enum codec_mark */
	uint32_t pid;
	char label[REPLAY_LABEL_BYTES];
};

/* All may be NULL. A negative result ends the replay and is handed back. */
struct replay_hooks {
	void *context;
	int (*totals)(void *context, struct replay_process *p);
	int (*row)(void *context, struct replay_process *p, uint32_t id,
	    const struct codec_sum *sum, uint64_t time_us);
	int (*mark)(void *context, const struct replay_mark *mark);
	bool rows;         /* keep tables and ledger, else they are skipped */
	uint64_t until_us; /* items after that are left out; 0: to the end */
};

struct replay;

/* -ENOMEM. */
int replay_new(const struct replay_hooks *hooks, struct replay **ret);

/* NULL is fine. */
void replay_free(struct replay *r);

/*
 * The next entry RECORDING_LINE. -EBADMSG: makes no sense, what came before
 * stands; -EFBIG: beyond our memory bound; -ENOMEM.
 */
int replay_entry(struct replay *r, const void *bytes, size_t len);

/* Processes by number, 0 .. replay_count() - 1, as they began. */
size_t replay_count(const struct replay *r);
struct replay_process *replay_process(const struct replay *r, size_t i);

/* Of the last item. */
uint64_t replay_time_us(const struct replay *r);

/* The sums of a site now; zeros where nothing is known of it. */
struct codec_sum replay_sum(const struct replay_process *p, uint32_t id);

/*
 * The state now as a segment, for segment_free(); without what only the end
 * state has (ages, sizes). Needs hooks.rows. -ENODATA: no header yet.
 */
int replay_segment(const struct replay_process *p, struct segment **ret);

#endif
