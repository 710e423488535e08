/* frame.h - packs a frame of a stack into one word and unpacks it. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_FRAME_H
#define SEEP_FRAME_H

#include <stdbool.h>

#include "format/format.h"

/* The bits are described beside SEG_FRAME_PC in format.h. */
enum { FRAME_MODULE_SHIFT = 48 };

/*
 * is_exact: the address of the instruction itself, not a return address. Module
 * 0: none.
 */
static inline uint64_t frame_pack(uint64_t pc, bool is_exact, uint32_t module)
{
	return SEG_FRAME_PC(pc) | (is_exact ? SEG_FRAME_EXACT : 0) |
	    (uint64_t)module << FRAME_MODULE_SHIFT;
}

/*
 * The address to look up: that of the call. The instruction after it may belong
 * to another line or another function.
 */
static inline uint64_t frame_code(uint64_t frame)
{
	return SEG_FRAME_PC(frame) - !(frame & SEG_FRAME_EXACT);
}

#endif
