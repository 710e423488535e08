/* recorder.h - the life of one event from top to bottom; read this first. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_RECORDER_H
#define SEEP_RECORDER_H

#include <stdint.h>

#include "base/cpu/cpu.h"
#include "collector/heap/blocks.h"
#include "collector/heap/sites.h"
#include "collector/thread.h"
#include "format/format.h"

/*
 * An allocation is recorded after the real function has returned: the memo finds
 * the site of the call stack, the live map gets the block, the ledger counts it.
 * A free is recorded before the real free, because afterwards another thread may
 * get the address: the live map loses the block, the ledger counts.
 *
 * There are several functions for each, from the usual case to the rare ones. A
 * hook calls the first that may be right, and each leaves to the next what it
 * cannot do:
 *
 *   inline   recorder_hit.h: recorder_book() and the three steps of a free, for each
 *            sink (the event log, the flight recorder, none). They call nothing. The
 *            memo knows the stack, and all that has to be written is mapped.
 *   _ready   The thread was in the state of its sink and is busy now. Any stack, any
 *            size, a look at the clock, a new peak. Leaves the thread as it was.
 *   _last    is _ready as the last call of a hook: it takes arguments that are
 *            in registers and returns what the hook returns.
 *   _any     The thread is in any state: its first event, or that of a forked
 *            child; without a ledger array of its own; inside a hook (signal
 *            handlers); while recording is off; sampled.
 */

/* As `birth`: the block was born now. Otherwise `birth` is a tick. */
#define RECORDER_NOW UINT32_MAX

/*
 * `c` is the caller of the allocation function. `pc` is the return address of
 * the free, or 0 if it is not known.
 */
void recorder_alloc_any(
    const void *p, uint64_t size, const struct cpu_frame *c, enum seg_api api, uint32_t birth);
void recorder_free_any(const void *p, uint64_t pc);

/* The same with SEEP_LOG=last,frees: `c` is the caller of free. */
void recorder_free_at(const void *p, const struct cpu_frame *c);

/* _at: see memo_site_at(). A free has counted down. */
void *recorder_alloc_last(
    void *p, uint64_t size, uint64_t pc, uint64_t sp, uint64_t fp, enum seg_api api);
void recorder_alloc_at(struct thread *t, const void *p, uint64_t size, const struct cpu_frame *c,
    enum seg_api api, struct memo_chunk *e, uint32_t checks);
void recorder_alloc_ready(
    struct thread *t, const void *p, uint64_t size, const struct cpu_frame *c, enum seg_api api);
void recorder_free_ready(const void *p, uint64_t pc);

/*
 * After recorder_book(), if recorder_is_due(): looks at the clock, or notes a new
 * peak, and leaves the thread as it was. Returns p.
 */
void *recorder_after(void *p);

/* A sample point falls into this block. The thread is in SAMPLING. */
void recorder_sample(struct gate *g, const void *p, uint64_t size, const struct cpu_frame *c,
    enum seg_api api, uint32_t birth);

/* The filter of sampled blocks may contain p, which is about to be freed. */
void recorder_sampled_free(struct gate *g, const void *p, uint64_t pc);

/*
 * After realloc: `b` is the block that was taken out of the live map before the
 * call. If p is NULL and size is not 0, realloc has failed, and the old block is
 * put back.
 */
void recorder_resize_ready(struct thread *t, const void *old, struct block_entry b, const void *p,
    uint64_t size, const struct cpu_frame *c, enum seg_api api);
void recorder_resize(const void *old, struct block_entry b, const void *p, uint64_t size,
    const struct cpu_frame *c, enum seg_api api);

/*
 * Before and after dlclose. The loader frees its records of an object after it
 * has unmapped the object and before another thread can load one. So each free
 * of this thread in between makes all modules distrusted; then no event can be
 * attributed to an object that has gone. recorder_closed() takes what
 * recorder_closing() returns.
 */
struct gate *recorder_closing(void);
void recorder_closed(struct gate *g);

/*
 * The stack of a caller that is not an allocation function, as a site of its
 * own. 0 if recording is off or this thread has paused.
 */
struct site_id recorder_stack(const struct cpu_frame *c);

/* For the next owner of a block; and for the next state of its owner. */
void recorder_forget(struct thread *t);
void recorder_begin(struct thread *t);

/* Adds (1) or removes (-1) a reason not to record this thread. */
void recorder_pause(int by);

/*
 * Counts an allocation that is not recorded, and why, so that its free is not
 * reported as unknown.
 */
void recorder_passed_by(enum seg_count why);

/* The same without a reason. May be called before our own relocation. */
void recorder_unseen(void);

#endif
