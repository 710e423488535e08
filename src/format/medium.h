/* medium.h - where a segment may be, and how large: rules that all agree on. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_MEDIUM_H
#define SEEP_MEDIUM_H

#include <stdint.h>

#include "format/format.h"

/*
 * The collector decides by these numbers. The command explains its decisions
 * by the same ones.
 */
enum {
	MEDIUM_ROOM_MIN = 256 << 10, /* a smaller segment is of no use */
	MEDIUM_ROOM_MAX = 256 << 20, /* of one segment, without SEEP_BUDGET */
	MEDIUM_FREE_SHARE = 4,       /* a segment has 1/4 of what is free, */
	MEDIUM_FILE_SHARE = 4,       /* 1/4 of the limit on file sizes, */
	MEDIUM_SPACE_SHARE = 32,     /* 1/32 of the limit on address space, */
	MEDIUM_GROUP_SHARE = 16,     /* 1/16 of what its memory cgroup has left, */
	MEDIUM_GROUP_MIN = 1 << 20,  /* or this, if that is more */
	MEDIUM_DIRENT = 20,          /* what an entry adds to a tmpfs directory's size */
	MEDIUM_FILES_MAX = 3000,     /* in a directory on a half full medium */
	MEDIUM_FILES_MORE = 30000,   /* in one on a medium with more room */
};

/* statfs f_type */
#define MEDIUM_TMPFS UINT32_C(0x01021994)
#define MEDIUM_RAMFS UINT32_C(0x858458f6)
#define MEDIUM_EXT   UINT32_C(0xEF53)
#define MEDIUM_XFS   UINT32_C(0x58465342)
#define MEDIUM_F2FS  UINT32_C(0xF2F52010)

/*
 * On other file systems a store to memory may stall (network) or need new space
 * (copy-on-write): 0, never used. A disk is used only if SEEP_DIR says so.
 */
static inline unsigned medium_of_type(uint32_t type)
{
	switch (type) {
	case MEDIUM_TMPFS:
	case MEDIUM_RAMFS:
		return SEG_MEDIUM_TMPFS;
	case MEDIUM_EXT:
	case MEDIUM_XFS:
	case MEDIUM_F2FS:
		return SEG_MEDIUM_DISK;
	default:
		return 0;
	}
}

#endif
