/* walk.h - one step up a stack, with every load inside that stack. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_COLLECTOR_WALK_H
#define SEEP_COLLECTOR_WALK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cpu.h"
#include "collector/row.h"
#include "collector/thread.h"

/*
 * A position on a stack. All loads lie in [sp, hi): hi is the thread pointer
 * on a pthread's own stack (glibc puts the TCB above it), __libc_stack_end on
 * the first thread's. On any other stack (sigaltstack, coroutine) hi is the
 * end of a page that was probed with MADV_POPULATE_READ, and grows page by
 * page; where the kernel lacks that call such a stack is cut there.
 */
struct walk {
	uint64_t pc, sp, fp;
	uint64_t hi;
	bool exact;   /* pc is an interrupted instruction, no return address */
	bool foreign; /* not the thread's own stack */
};

/* The words that a step loaded, 0 where it loaded none. */
struct walk_slots {
	uint64_t ra, fp, aux;
};

enum walk_result {
	WALK_STEPPED,
	WALK_END, /* outermost frame */
	WALK_CUT, /* no way further; *ret_why says which count */
};

/* Once: where the first thread's stack ends, and its thread pointer. */
void walk_init(uint64_t main_stack_end, bool can_probe);

/* t may be NULL: then nothing is known of the stack. */
void walk_begin(struct walk *w, struct thread *t, const struct cpu_frame *c);

/* A walk that goes on below the inner frames; same stack, already bounded. */
void walk_resume(
    struct walk *w, struct thread *t, uint64_t pc, uint64_t sp, uint64_t fp);

/* Leaves the frame at *w by `row`. The position is changed on WALK_STEPPED. */
enum walk_result walk_step(struct walk *w, struct thread *t, struct row row,
    struct walk_slots *ret_slots, uint32_t *ret_why);

#endif
