/* describe.h - what the header of a segment says about its process. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_DESCRIBE_H
#define SEEP_DESCRIBE_H

#include <stdint.h>

#include "collector/segment/slots.h"
#include "format/format.h"

enum { DESCRIBE_PATH_BYTES = 4096 }; /* of a path, with its NUL */

/* The path of the executable; empty if it is not known. Start-up. */
void describe_exe(char to[DESCRIBE_PATH_BYTES]);

/*
 * Pid, boot, working directory and command line of this process. `exe` is what
 * describe_exe() found, argv may be NULL. Start-up.
 */
void describe_process(struct seg_header *h, char **argv, const char *exe);

/*
 * The same for a forked child, from a private copy of its parent's header: no
 * system call is made. A pid of 0 means that it is not known. The number tells
 * children of one parent that have the same pid, each in a namespace of its own.
 */
void describe_child(
    struct seg_header *h, const struct seg_header *parent, uint32_t pid, uint32_t number);

/* Which directory was asked for, and could not be used. Start-up. */
void describe_place(struct seg_header *h);

/*
 * Where the live map, the table of our own memory and the control block are in
 * the memory of this process, for other processes.
 */
void describe_memory(struct seg_header *h);

/* Where the slots are: behind `segment_bytes` of the same file, if it has any. */
void describe_slots(struct seg_header *h, const struct slots *s, uint64_t segment_bytes);

#endif
