/* row.h - how to leave one frame: eight bytes per code address. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_COLLECTOR_ROW_H
#define SEEP_COLLECTOR_ROW_H

#include <stdint.h>

enum row_kind {
	ROW_STOP,     /* no unwind information here */
	ROW_SP,       /* CFA = sp + cfa */
	ROW_FP,       /* CFA = fp + cfa */
	ROW_FP_DEREF, /* CFA = *(fp + cfa): realigned stack */
	ROW_SIGNAL,   /* signal frame: all registers are in the ucontext */
	ROW_END,      /* outermost frame of the thread; cfa: enum row_end */
	ROW_OTHER,    /* a rule we do not know: the stack is cut, counted */
	ROW_BX, /* CFA = rbx + cfa: ld.so binds a symbol at its first use */
};

/* Which outermost frame: the one below a coroutine of makecontext()? */
enum row_end { ROW_END_OTHER, ROW_END_CONTEXT };

/* Where the caller's frame pointer register is. */
enum row_fp { ROW_FP_SAME, ROW_FP_AT_CFA, ROW_FP_AT_FP };

/* The return address is at CFA - 8 on x86-64, but for signal frames. */
struct row {
	uint8_t kind;   /* enum row_kind */
	uint8_t fp : 2; /* enum row_fp */
	/* the caller's rbx is at CFA - 8 * bx; 0: unchanged */
	uint8_t bx : 6;
	int16_t fp_offset;
	int32_t cfa;
};

enum { ROW_BX_LOST = 63 }; /* saved in a way that `bx` cannot tell */

_Static_assert(sizeof(struct row) == 8, "a row is one word");

#endif
