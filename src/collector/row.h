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
	ROW_END,      /* outermost frame of the thread */
	ROW_OTHER,    /* a rule we do not know: the stack is cut, counted */
};

/* Where the caller's frame pointer register is. */
enum row_fp { ROW_FP_SAME, ROW_FP_AT_CFA, ROW_FP_AT_FP };

/* The return address is at CFA - 8 on x86-64, but for signal frames. */
struct row {
	uint8_t kind; /* enum row_kind */
	uint8_t fp;   /* enum row_fp */
	int16_t fp_offset;
	int32_t cfa;
};

_Static_assert(sizeof(struct row) == 8, "a row is one word");

#endif
