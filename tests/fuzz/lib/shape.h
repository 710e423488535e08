/* shape.h - a recording taken apart, to be put together otherwise. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_FUZZ_SHAPE_H
#define SEEP_FUZZ_SHAPE_H

#include "recording/file/recording_bytes.h"
#include "recording/file/codec.h"

enum { SHAPE_ENTRIES = 64 }; /* what is beyond them is left out */

/* What is wrong with an entry's own bytes, whatever its content. */
enum shape_lie {
	SHAPE_HONEST,
	SHAPE_TYPE,     /* by value */
	SHAPE_FLAGS,    /* by value */
	SHAPE_LENGTH,   /* by value; the checksum of the head is right */
	SHAPE_CRC,      /* by value */
	SHAPE_HEAD_CRC, /* by value */
	SHAPE_RAW,      /* flagged as packed and is not */
	SHAPE_SIZELESS, /* a frame that does not tell its size */
	SHAPE_TWICE,    /* two frames */
	SHAPE_BOMB,     /* a few bytes that unpack to 500 MiB of zeros */
	SHAPE_CUT,      /* the frame without its last bytes */
	SHAPE_LIES,
};

struct shape_entry {
	uint32_t type;
	bool is_packed;
	struct codec_out content; /* unpacked */
	enum shape_lie lie;
	uint64_t value;
};

/* A segment is a shape, too: one content and nothing around it. */
struct shape {
	bool is_segment;
	struct recording_file_head head;
	struct shape_entry entries[SHAPE_ENTRIES];
	size_t count;
	bool loose; /* index and end stay as they are: offsets do not fit */
	size_t cut; /* bytes the file is short of */
	size_t add; /* bytes too many */
};

/* False: neither a recording nor a segment. */
bool shape_parse(struct shape *s, const uint8_t *bytes, size_t len);
void shape_copy(struct shape *to, const struct shape *from);
void shape_release(struct shape *s);

/* The file, with index, end and checksums made anew but for the lies. */
void shape_write(const struct shape *s, struct codec_out *ret);

/* Entries as a list; a full one stays as it is. */
void shape_drop(struct shape *s, size_t i);
void shape_insert(struct shape *s, size_t i, const struct shape_entry *e);

#endif
