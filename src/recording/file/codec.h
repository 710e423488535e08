/* codec.h - encodes and decodes the items of a recording's time line. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_CODEC_H
#define SEEP_CODEC_H

#include "base/std.h"
#include "recording/file/recording.h"

/*
 * An entry RECORDING_LINE is a sequence of items: tag (1 byte), length of the
 * body (varint), body. docs/RECORDING.md describes every byte. A reader skips
 * tags that it does not know. Numbers are LEB128 varints; signed ones use
 * zigzag.
 */
enum codec_tag {
	CODEC_TIME = 1,    /* us since the start, for the next items */
	CODEC_PROCESS = 2, /* number: a process begins, with zeros */
	CODEC_HEADER = 3,  /* number, words of the header that have changed */
	CODEC_ROWS = 4,    /* number, new rows of a table */
	CODEC_LEDGER = 5,  /* number, sites whose sums have changed */
	CODEC_TOTALS = 6,  /* number, sums over all sites */
	CODEC_MARK = 7,    /* kind, pid, label */
};

enum codec_mark {
	CODEC_MARK_START = 1, /* the command begins */
	CODEC_MARK_FORK = 2,
	CODEC_MARK_EXEC = 3,  /* a process has called exec */
	CODEC_MARK_EXIT = 4,  /* a process has ended */
	CODEC_MARK_END = 5,   /* the command has ended */
	CODEC_MARK_SPAWN = 6, /* a program begins, its fork was not seen */
};

enum {
	CODEC_ENTRY_MAX = 64 << 20, /* bytes of one entry, unpacked */
	CODEC_NEW_PEAK = 1,         /* flags of CODEC_LEDGER: there is a new peak */
	CODEC_SAMPLES = 2,          /* the columns about samples are there */
	CODEC_WIDE = 4,             /* also those for variances of 128 bits */
	LINE_FLAGS = CODEC_NEW_PEAK | CODEC_SAMPLES | CODEC_WIDE,
	CODEC_COLUMNS = 6, /* without ids and samples */
	CODEC_SAMPLE_COLUMNS = 3,
	CODEC_WIDE_COLUMNS = CODEC_SAMPLE_COLUMNS + 2,
	CODEC_ALL_COLUMNS = 1 + CODEC_COLUMNS + CODEC_WIDE_COLUMNS,
};

/* Sums of one site over all ledger arrays. */
struct codec_sum {
	uint64_t allocations, allocated_bytes, frees, freed_bytes;
	int64_t peak_bytes, peak_blocks; /* share of the process's peak */
	/* in sampled mode: raw samples, and the variance of the bytes */
	uint64_t samples;
	unsigned __int128 variance_allocated, variance_freed;
};

/*
 * A buffer that grows. failed: out of memory; what was put since then may be
 * missing.
 */
struct codec_out {
	uint8_t *bytes;
	size_t len, room;
	bool failed;
};

void codec_put(struct codec_out *o, uint64_t n);
void codec_put_signed(struct codec_out *o, int64_t n);
void codec_put_bytes(struct codec_out *o, const void *bytes, size_t len);

/* Appends an item whose body was put into another buffer. */
void codec_put_item(struct codec_out *o, enum codec_tag tag, const struct codec_out *body);
void codec_release(struct codec_out *o);

/* bad: the bytes ended too early; every value read since then is 0. */
struct codec_in {
	const uint8_t *at, *end;
	bool bad;
};

uint64_t codec_get(struct codec_in *in);
int64_t codec_get_signed(struct codec_in *in);

/* NULL if fewer bytes are left. */
const uint8_t *codec_get_bytes(struct codec_in *in, uint64_t len);

/* The next item; false at the end and after damage. */
bool codec_get_item(struct codec_in *in, uint32_t *ret_tag, struct codec_in *ret_body);

/*
 * Stores how the columns of a row differ from the previous ones, and reads them
 * back. With a new peak, the share of every row is what is live now
 * (codec_new_peak, for rows without columns) plus the difference that is
 * stored.
 */
void codec_encode(const struct codec_sum *was, const struct codec_sum *is, bool new_peak,
    int64_t ret[CODEC_COLUMNS]);
void codec_decode(struct codec_sum *row, bool new_peak, const int64_t column[CODEC_COLUMNS]);
void codec_new_peak(struct codec_sum *row);

/*
 * The same for the columns about samples. Without CODEC_WIDE the last two
 * columns are zero, because all differences fit into 64 bits with a sign.
 */
void codec_encode_samples(
    const struct codec_sum *was, const struct codec_sum *is, int64_t ret[CODEC_WIDE_COLUMNS]);
void codec_decode_samples(struct codec_sum *row, const int64_t column[CODEC_WIDE_COLUMNS]);

/* The number of columns about samples in an item with these flags. */
int codec_sample_columns(uint32_t flags);

/* ---- timeline_writer: gathers items of the time line and writes them as entries ---- */

/* The caller sets writer and start_ns; everything else is zero. */
struct timeline_writer {
	struct recording_writer *writer;
	uint64_t start_ns;      /* CLOCK_MONOTONIC: zero of the time line */
	struct codec_out out;   /* items not written yet; others may add */
	uint64_t time_us;       /* the last one put */
	bool has_time;          /* since the last flush */
	uint64_t written_bytes; /* of entries, as stored */
};

/* Times never decrease: an earlier time is replaced by the last one. */
void timeline_writer_time(struct timeline_writer *s, uint64_t monotonic_ns);

/* If the label is a path, its last part is written; at most 63 bytes. */
void timeline_writer_mark(
    struct timeline_writer *s, enum codec_mark kind, pid_t pid, const char *label);

/*
 * Writes the gathered items, in entries of bounded size that each begin with a
 * time. -ENOMEM, or as of the writer.
 */
int timeline_writer_flush(struct timeline_writer *s);

/* Drops the gathered items, because the time line has ended. */
void timeline_writer_drop(struct timeline_writer *s);

void timeline_writer_release(struct timeline_writer *s);

#endif
