/* exit_wait.h - a process that ends waits until a reader has looked at it. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_EXIT_WAIT_H
#define SEEP_EXIT_WAIT_H

#include <stdint.h>

#include "format/format.h"

/*
 * Called only by the destructor, only with SEEP_LEAKS=1, and waits only while a
 * reader says that it is there (ctl_block.heartbeat). This is the only place
 * where the collector makes its host wait (I3's exception). It calls futex and
 * nothing else, on the control block, which is mapped read-only. `word` is the
 * command word of this process there.
 * The wait ends when the reader says so in that word, 2 s after its last beat,
 * after SEEP_LEAKS_WAIT seconds in all, or with a signal whose handler returns.
 */
void exit_wait(struct seg_header *h, const struct ctl_block *control, const uint32_t *word);

/* At the start: finds libc's number of threads. */
void exit_wait_start(void);

#endif
