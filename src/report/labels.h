/* labels.h - frames of a process as numbered texts; equal texts are one. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_REPORT_LABELS_H
#define SEEP_REPORT_LABELS_H

#include <stdio.h>

#include "names/names.h"

struct labels;

/* Borrows both; -ENOMEM. */
int labels_new(
    const struct process *p, struct names *names, struct labels **ret);

/* NULL is fine. */
void labels_free(struct labels *l);

/*
 * The stack of a site as label numbers: innermost first, inlined functions
 * as frames of their own, operator new left out, a sentence like "(no room)" at the end where frames are missing. More
 * than max frames (0: all) give way to "(callers beyond --depth)".
 * *ret_api: how it allocates. *ret_stack is valid until the next call.
 */
int labels_stack(struct labels *l, const struct process_site *site, size_t max,
    const uint32_t **ret_stack, size_t *ret_count, uint8_t *ret_api);

/* "function [module]" or "module+0x1234"; valid as long as l. */
const char *labels_text(const struct labels *l, uint32_t label);

/*
 * Prints a stack that labels_stack() gave, `between` two frames; after depth
 * frames (0: all) comes "...". Control bytes are escaped.
 */
void labels_print(FILE *out, const struct labels *l, const uint32_t *stack,
    size_t count, unsigned depth, const char *between);

#endif
