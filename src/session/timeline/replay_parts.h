/* replay_parts.h - what the files of replay.h share. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_REPLAY_PARTS_H
#define SEEP_REPLAY_PARTS_H

#include "session/timeline/replay.h"

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
