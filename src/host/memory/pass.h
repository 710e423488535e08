/* pass.h - one linear pass over the memory of a process. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_PASS_H
#define SEEP_PASS_H

#include <stddef.h>
#include <stdint.h>

#include "host/memory/foreign.h"

/*
 * Ranges of any size are gathered, read together, and shown in the order in
 * which they came. Of large ones it is asked first which pages are there, so
 * that reserves of many gigabytes cost next to nothing.
 */
struct pass_visitor {
	/* memory that was read: not 0 ends the pass */
	int (*scan)(void *context, int tag, uint64_t address, const uint8_t *bytes, size_t len);
	/* and that was not; kind: enum foreign_page, never FOREIGN_UNTOUCHED */
	void (*unread)(void *context, uint64_t address, uint64_t bytes, int kind);
	void *context;
};

struct pass;

/* Borrows all until pass_free(). -ENOMEM. */
int pass_new(struct foreign *memory, const struct pass_visitor *visitor, struct fault *where,
    struct pass **ret);

/* [start, end), of any alignment. Errors as of foreign_read(), or `scan`. */
int pass_add(struct pass *p, int tag, uint64_t start, uint64_t end);

/* The same for memory of which nearly all pages are there. */
int pass_add_dense(struct pass *p, int tag, uint64_t start, uint64_t end);

/* Reads what is left. */
int pass_flush(struct pass *p);
void pass_free(struct pass *p);

#endif
