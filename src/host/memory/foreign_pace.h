/* foreign_pace.h - rests between reads, so that a process need not wait for its memory map. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_FOREIGN_PACE_H
#define SEEP_FOREIGN_PACE_H

#include <stddef.h>
#include <stdint.h>

/*
 * Each call that reads pages takes the lock of the memory map for some
 * microseconds. A thread that maps memory meanwhile spins that long, and does
 * not notice. It is another matter if our call meets that thread: we sleep until
 * the lock is ours, and it is ours from the moment on in which the kernel wakes
 * us up. Until we run, which may take a hundred microseconds, the other one
 * waits. So after a call that has slept there is a rest of many times the time
 * that it took. A process that maps memory without end then waits for us in less
 * than one percent of its time; one that hardly does so costs no rest.
 *
 * These rests are bounded in total, so that a look comes to an end.
 */
struct foreign_pace {
	uint32_t rest_us;   /* for each FOREIGN_PACE_BYTES, in any case */
	uint64_t left_ns;   /* of rests because a call has slept */
	uint64_t batch_ns;  /* of them, in this batch */
	uint64_t due_ns;    /* a rest that is to be taken */
	uint64_t before_ns; /* when the call began */
	long slept;         /* how often we have slept, but for calls */
};

enum { FOREIGN_PACE_BYTES = 64 << 10 };

/* 0: no rests at all. */
void foreign_pace_init(struct foreign_pace *p, uint32_t rest_us);

/* A new batch begins: its rests are bounded, too, because somebody waits for it. */
void foreign_pace_batch(struct foreign_pace *p);

/* Around each call that takes the lock. */
void foreign_pace_begin(struct foreign_pace *p);
void foreign_pace_end(struct foreign_pace *p, size_t bytes);

#endif
