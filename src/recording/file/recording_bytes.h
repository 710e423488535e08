/* recording_bytes.h - the bytes of a recording, for its reader and writer. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_RECORDING_BYTES_H
#define SEEP_RECORDING_BYTES_H

#include "base/std.h"

#include <zlib.h>

#define RECORDING_MAGIC UINT64_C(0x0143455250454553) /* "SEEPREC\1" */

struct recording_file_head {
	uint64_t magic;
	uint32_t version;
	uint32_t header_bytes; /* the first entry starts here */
	uint64_t features;     /* unknown bits: the file is refused */
	uint64_t reserved;
};
_Static_assert(sizeof(struct recording_file_head) == 32, "file head");

struct recording_entry_head {
	uint32_t type;
	uint32_t flags;    /* unknown bits: the entry is skipped */
	uint64_t length;   /* of the payload, without the padding to 8 */
	uint32_t crc;      /* crc32 of the payload */
	uint32_t head_crc; /* crc32 of the 20 bytes before */
};
_Static_assert(sizeof(struct recording_entry_head) == 24, "entry head");

/* entry_head.flags: the payload is one zstd frame that contains its size. */
enum { RECORDING_ZSTD = 1 };

/*
 * The limit for unpacked entries. Real ones shrink to about a tenth. Without a
 * limit a small file could ask for RECORDING_ENTRY_MAX of memory in each entry.
 */
enum { RECORDING_UNPACKED_FREE = 32 << 20, RECORDING_UNPACKED_TIMES = 256 };

static inline bool recording_may_unpack(uint64_t packed_bytes, uint64_t content_bytes)
{
	return content_bytes <= RECORDING_UNPACKED_FREE ||
	    (content_bytes - RECORDING_UNPACKED_FREE) / RECORDING_UNPACKED_TIMES <= packed_bytes;
}

/* The payload of RECORDING_END; version 1 had the first two. */
struct recording_entry_end {
	uint64_t entries;    /* entries before this one */
	uint64_t file_bytes; /* bytes before this one */
	uint64_t index;      /* offset of the last RECORDING_INDEX, 0: none */
};
enum { RECORDING_END_V1_BYTES = 16 };

/*
 * The payload of RECORDING_INDEX: previous (u64), then these, ordered by
 * offset.
 */
struct recording_index_item {
	uint64_t offset; /* of the entry's head */
	uint32_t type;
	uint32_t flags;
};
_Static_assert(sizeof(struct recording_index_item) == 16, "index item");

enum {
	RECORDING_HEAD_CRC_BYTES = offsetof(struct recording_entry_head, head_crc),
};

static inline uint64_t recording_padded(uint64_t length)
{
	return (length + 7) & ~UINT64_C(7);
}

/* crc32() takes 32-bit lengths; ours are below RECORDING_ENTRY_MAX. */
static inline uint32_t recording_crc_of(uint32_t crc, const void *bytes, size_t len)
{
	return len ? (uint32_t)crc32(crc, bytes, (uInt)len) : crc;
}

/* Reads exactly len bytes; -ENODATA when the file has become shorter. */
static inline int recording_read_at(int fd, void *to, size_t len, uint64_t offset)
{
	unsigned char *p = to;

	while (len > 0) {
		ssize_t n = pread(fd, p, len, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			return -ENODATA;
		p += n;
		offset += (uint64_t)n;
		len -= (size_t)n;
	}
	return 0;
}

/* Makes the buffer at least this large. Its contents are lost. */
static inline int recording_make_room(unsigned char **buffer, size_t *room, size_t len)
{
	if (*buffer && len <= *room)
		return 0;
	free(*buffer);
	*room = 0;
	*buffer = malloc(len ? len : 1);
	if (!*buffer)
		return -ENOMEM;
	*room = len;
	return 0;
}

#endif
