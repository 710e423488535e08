/* inspect_parts.h - what inspect.c and inspect_program.c share. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_RECORD_INSPECT_PARTS_H
#define SEEP_RECORD_INSPECT_PARTS_H

#include "record/inspect.h"

/* Keeps the first reason, and ignores others. */
void inspect_conclude(struct inspect *r, enum inspect_kind kind,
    const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/*
 * Judges r->program, which is read under the name `file`. is_foreign: a process
 * of another user runs it. Call this in a process that may hang.
 */
void inspect_program(struct inspect *r, const char *file, bool is_foreign);

#endif
