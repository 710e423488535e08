/* exit.h - the exit of a process: what still lives goes into its segment. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_EXIT_H
#define SEEP_EXIT_H

/*
 * By our destructor. Ages and sizes of the blocks that live are known to the
 * live map alone, which dies with the process, so they are added to the
 * segment, for 50 ms at most. Events go on afterwards and are recorded. With
 * SEEP_LEAKS=1 it waits before that until a reader has looked at the process.
 */
void exit_process(void);

/* At the start: finds libc's number of threads. */
void exit_wait_start(void);

#endif
