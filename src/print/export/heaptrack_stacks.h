/* heaptrack_stacks.h - names and stacks of a view as heaptrack's file has them. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_HEAPTRACK_STACKS_H
#define SEEP_HEAPTRACK_STACKS_H

#include <stdio.h>

#include "print/export/locations.h"
#include "print/export/modules.h"
#include "print/export/strings.h"

struct heaptrack_trace;

/* Every string, location and stack is written once, and then has a number. */
struct heaptrack_stacks {
	FILE *out;
	const struct view *view;
	struct strings strings; /* number + 1 in the file */
	struct locations locations;
	struct modules modules;
	struct heaptrack_trace *traces; /* number + 1 in the file */
	size_t trace_count, trace_room;
	struct dict index;
	int err; /* -ENOMEM */
};

/* -ENOMEM; heaptrack_stacks_release() in any case. */
int heaptrack_stacks_init(struct heaptrack_stacks *h, FILE *out, const struct view *v);
void heaptrack_stacks_release(struct heaptrack_stacks *h);

/* Writes what is new of a stack; its number in the file. 0: h->err. */
uint32_t heaptrack_stacks_put(struct heaptrack_stacks *h, const struct view_site *s);

#endif
