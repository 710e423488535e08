/* callstack.h - the call stack of a site id of one process, as lines or JSON. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_REPORT_CALLSTACK_H
#define SEEP_REPORT_CALLSTACK_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "names/names.h"
#include "reader/process.h"

/*
 * The stack of an id, also of a site without figures (process.bare). False: the
 * process has no such site. p may be NULL.
 */
bool callstack_find(const struct process *p, uint32_t id, uint32_t *ret);

/* Has it a function that matches? */
bool callstack_matches(struct names *n, const struct process *p, uint32_t stack,
    bool (*is_match)(void *context, const char *function), void *context);

/*
 * The innermost function that is not operator new: its name, or module+offset,
 * or "?". The text belongs to the caller, for free(); NULL: out of memory.
 */
char *callstack_function(
    struct names *n, const struct process *p, uint32_t stack);

/* One line for each function, innermost first, behind `indent`. */
void callstack_print(FILE *out, const char *indent, struct names *n,
    const struct process *p, uint32_t stack);

/* A list of objects: function, file, line, module, offset. */
void callstack_json(
    FILE *out, struct names *n, const struct process *p, uint32_t stack);

#endif
