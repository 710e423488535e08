/* callstack.h - the call stack of a site id of one process, as lines or JSON. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_CALLSTACK_H
#define SEEP_CALLSTACK_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "kit/json/json_put.h"
#include "names/find/names.h"
#include "session/process/process.h"

/*
 * The stack of an id, also of a site without figures (process.bare). False: the
 * process has no such site. p may be NULL.
 */
bool callstack_find(const struct process *p, uint32_t id, uint32_t *ret);

/* One function of a stack. */
struct callstack_line {
	const struct names_frame *frame;
	const char *module; /* path; NULL: in none */
	uint64_t offset;
};

/* Calls `put` for each function, innermost first, until it returns false. */
typedef bool callstack_put(void *context, const struct callstack_line *l);
void callstack_each(
    struct names *n, const struct process *p, uint32_t stack, callstack_put *put, void *context);

/* Its name, or module+offset, or "?". */
void callstack_print_function(FILE *out, const struct callstack_line *l);

/* Has it a function that matches? */
bool callstack_matches(struct names *n, const struct process *p, uint32_t stack,
    bool (*is_match)(void *context, const char *function), void *context);

/*
 * The innermost function that is not operator new: its name, or module+offset,
 * or "?". The text belongs to the caller, for free(); NULL: out of memory.
 * ret_name is the name as it is, which belongs to `n`, or NULL if it is not known.
 */
char *callstack_function(
    struct names *n, const struct process *p, uint32_t stack, const char **ret_name);

/* One line for each function, innermost first, behind `indent`. */
void callstack_print(
    FILE *out, const char *indent, struct names *n, const struct process *p, uint32_t stack);

/* A list of objects: function, file, line, module, offset. */
void callstack_json(
    struct json *out, const char *name, struct names *n, const struct process *p, uint32_t stack);

#endif
