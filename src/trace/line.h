/* line.h - the time line of a recording: its items as bytes. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_TRACE_LINE_H
#define SEEP_TRACE_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * An entry BUNDLE_LINE is a row of items: tag (1 byte), length of the body
 * (varint), body. Told byte by byte in docs/RECORDING.md; a reader skips tags
 * it does not know. Numbers are LEB128 varints, signed ones zigzag.
 */
enum line_tag {
	LINE_TIME = 1,    /* of what follows: us since the recording began */
	LINE_PROCESS = 2, /* number: one begins, all its figures are zero */
	LINE_HEADER = 3,  /* number, words of the header that changed */
	LINE_ROWS = 4,    /* number, new rows of a table */
	LINE_LEDGER = 5,  /* number, sites whose sums changed */
	LINE_TOTALS = 6,  /* number, sums over all sites */
	LINE_MARK = 7,    /* kind, pid, label */
};

enum line_mark {
	LINE_MARK_START = 1, /* the command begins */
	LINE_MARK_FORK = 2,
	LINE_MARK_EXEC = 3,  /* a process goes on as another program */
	LINE_MARK_EXIT = 4,  /* a process has ended */
	LINE_MARK_END = 5,   /* the command has ended */
	LINE_MARK_SPAWN = 6, /* a traced program begins, fork was not seen */
};

enum {
	LINE_ENTRY_MAX = 64 << 20, /* bytes of one entry, unpacked */
	LINE_NEW_PEAK = 1, /* flags of LINE_LEDGER: the peak is another */
	LINE_SAMPLES = 2,  /* and columns about samples are there */
	LINE_WIDE = 4,     /* and more of them: variances of 128 bits */
	LINE_FLAGS = LINE_NEW_PEAK | LINE_SAMPLES | LINE_WIDE,
	LINE_COLUMNS = 6, /* without ids and samples */
	LINE_SAMPLE_COLUMNS = 3,
	LINE_WIDE_COLUMNS = LINE_SAMPLE_COLUMNS + 2,
	LINE_ALL_COLUMNS = 1 + LINE_COLUMNS + LINE_WIDE_COLUMNS,
};

/* Sums of one site over all arrays. */
struct line_sum {
	uint64_t allocations, allocated_bytes, frees, freed_bytes;
	int64_t peak_bytes, peak_blocks; /* share of the process's peak */
	/* sampled mode: raw samples, and what the bytes vary by */
	uint64_t samples;
	unsigned __int128 variance_allocated, variance_freed;
};

/* What is put grows; failed: out of memory, all since is in doubt. */
struct line_out {
	uint8_t *bytes;
	size_t len, room;
	bool failed;
};

void line_put(struct line_out *o, uint64_t n);
void line_put_signed(struct line_out *o, int64_t n);
void line_put_bytes(struct line_out *o, const void *bytes, size_t len);

/* An item whose body has been put elsewhere. */
void line_put_item(
    struct line_out *o, enum line_tag tag, const struct line_out *body);
void line_release(struct line_out *o);

/* bad: it ended too early, all got since is 0. */
struct line_in {
	const uint8_t *at, *end;
	bool bad;
};

uint64_t line_get(struct line_in *in);
int64_t line_get_signed(struct line_in *in);

/* NULL: there are not so many. */
const uint8_t *line_get_bytes(struct line_in *in, uint64_t len);

/* The next item; false at the end, or where it is bad. */
bool line_get_item(
    struct line_in *in, uint32_t *ret_tag, struct line_in *ret_body);

/*
 * How a row's columns differ from what it was; and back. With a new peak every
 * row's share is what is live now (line_new_peak, for rows without columns),
 * but for the difference that is stored.
 */
void line_encode(const struct line_sum *was, const struct line_sum *is,
    bool new_peak, int64_t ret[LINE_COLUMNS]);
void line_decode(
    struct line_sum *row, bool new_peak, const int64_t column[LINE_COLUMNS]);
void line_new_peak(struct line_sum *row);

/*
 * The same for what is known of samples. Without LINE_WIDE the last two columns
 * are zero: all differences fit 64 bits, signed.
 */
void line_encode_samples(const struct line_sum *was, const struct line_sum *is,
    int64_t ret[LINE_WIDE_COLUMNS]);
void line_decode_samples(
    struct line_sum *row, const int64_t column[LINE_WIDE_COLUMNS]);

/* How many columns about samples an item with these flags has. */
int line_sample_columns(uint32_t flags);

#endif
