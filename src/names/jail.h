/* jail.h - what the process that reads foreign files may do: very little. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_NAMES_JAIL_H
#define SEEP_NAMES_JAIL_H

#include <stdint.h>

/*
 * For a forked child, before it touches anything foreign: dies with its
 * parent, keeps no descriptor but keep_fd and stderr, may map so many bytes
 * more and compute so many seconds, makes no core file; may open files for
 * reading and write to what is open, and no more (where the kernel can see to
 * that). Never fails: what cannot be had is left out.
 */
void jail_enter(int keep_fd, uint64_t memory_bytes, unsigned seconds);

#endif
