/* codec.h - the time line of a recording: its items as bytes. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_TRACE_CODEC_H
#define SEEP_TRACE_CODEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * An entry RECORDING_LINE is a row of items: tag (1 byte), length of the body
 * (varint), body. Told byte by byte in docs/RECORDING.md; a reader skips tags
 * it does not know. Numbers are LEB128 varints, signed ones zigzag.
 */
enum codec_tag {
	CODEC_TIME = 1,    /* of what follows: us since the recording began */
	CODEC_PROCESS = 2, /* number: one begins, all its figures are zero */
	CODEC_HEADER = 3,  /* number, words of the header that changed */
	CODEC_ROWS = 4,    /* number, new rows of a table */
	CODEC_LEDGER = 5,  /* number, sites whose sums changed */
	CODEC_TOTALS = 6,  /* number, sums over all sites */
	CODEC_MARK = 7,    /* kind, pid, label */
};

enum codec_mark {
	CODEC_MARK_START = 1, /* the command begins */
	CODEC_MARK_FORK = 2,
	CODEC_MARK_EXEC = 3,  /* a process goes on as another program */
	CODEC_MARK_EXIT = 4,  /* a process has ended */
	CODEC_MARK_END = 5,   /* the command has ended */
	CODEC_MARK_SPAWN = 6, /* a traced program begins, fork was not seen */
};

enum {
	CODEC_ENTRY_MAX = 64 << 20, /* bytes of one entry, unpacked */
	CODEC_NEW_PEAK = 1, /* flags of CODEC_LEDGER: the peak is another */
	CODEC_SAMPLES = 2,  /* and columns about samples are there */
	CODEC_WIDE = 4,     /* and more of them: variances of 128 bits */
	LINE_FLAGS = CODEC_NEW_PEAK | CODEC_SAMPLES | CODEC_WIDE,
	CODEC_COLUMNS = 6, /* without ids and samples */
	CODEC_SAMPLE_COLUMNS = 3,
	CODEC_WIDE_COLUMNS = CODEC_SAMPLE_COLUMNS + 2,
	CODEC_ALL_COLUMNS = 1 + CODEC_COLUMNS + CODEC_WIDE_COLUMNS,
};

/* Sums of one site over all arrays. */
struct codec_sum {
	uint64_t allocations, allocated_bytes, frees, freed_bytes;
	int64_t peak_bytes, peak_blocks; /* share of the process's peak */
	/* sampled mode: raw samples, and what the bytes vary by */
	uint64_t samples;
	unsigned __int128 variance_allocated, variance_freed;
};

/* What is put grows; failed: out of memory, all since is in doubt. */
struct codec_out {
	uint8_t *bytes;
	size_t len, room;
	bool failed;
};

void codec_put(struct codec_out *o, uint64_t n);
void codec_put_signed(struct codec_out *o, int64_t n);
void codec_put_bytes(struct codec_out *o, const void *bytes, size_t len);

/* An item whose body has been put elsewhere. */
void codec_put_item(
    struct codec_out *o, enum codec_tag tag, const struct codec_out *body);
void codec_release(struct codec_out *o);

/* bad: it ended too early, all got since is 0. */
struct codec_in {
	const uint8_t *at, *end;
	bool bad;
};

uint64_t codec_get(struct codec_in *in);
int64_t codec_get_signed(struct codec_in *in);

/* NULL: there are not so many. */
const uint8_t *codec_get_bytes(struct codec_in *in, uint64_t len);

/* The next item; false at the end, or where it is bad. */
bool codec_get_item(
    struct codec_in *in, uint32_t *ret_tag, struct codec_in *ret_body);

/*
 * How a row's columns differ from what it was; and back. With a new peak every
 * row's share is what is live now (codec_new_peak, for rows without columns),
 * but for the difference that is stored.
 */
void codec_encode(const struct codec_sum *was, const struct codec_sum *is,
    bool new_peak, int64_t ret[CODEC_COLUMNS]);
void codec_decode(
    struct codec_sum *row, bool new_peak, const int64_t column[CODEC_COLUMNS]);
void codec_new_peak(struct codec_sum *row);

/*
 * The same for what is known of samples. Without CODEC_WIDE the last two columns
 * are zero: all differences fit 64 bits, signed.
 */
void codec_encode_samples(const struct codec_sum *was,
    const struct codec_sum *is, int64_t ret[CODEC_WIDE_COLUMNS]);
void codec_decode_samples(
    struct codec_sum *row, const int64_t column[CODEC_WIDE_COLUMNS]);

/* How many columns about samples an item with these flags has. */
int codec_sample_columns(uint32_t flags);

#endif
