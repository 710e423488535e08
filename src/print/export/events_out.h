/* events_out.h - the events of a process as other tools write them. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_EVENTS_OUT_H
#define SEEP_EVENTS_OUT_H

#include <stdio.h>

#include "session/events/events.h"
#include "view/sites/view.h"

/*
 * These tools know a block by its address. Where addresses were not logged, the
 * block's name stands for it. A realloc is a free and an allocation. A free is
 * written only if its allocation was, so that what remains is what lives.
 */
enum events_out_format {
	EVENTS_OUT_MEMTRAIL,  /* what memtrail dump prints */
	EVENTS_OUT_MMLEAK,    /* what mmleak.so logs */
	EVENTS_OUT_HEAPTRACK, /* heaptrack's file, version 3 */
};

struct events_out;

/*
 * For the process with this number in the view's session. The view has its sites
 * one by one; events of others of its sites are left out. Borrows all. -ENOMEM.
 */
int events_out_new(FILE *out, const struct view *v, uint32_t process, enum events_out_format format,
    const char *version, struct events_out **ret);
void events_out_free(struct events_out *o); /* NULL is fine */

/* Writes what comes before the first event. The first event does so as well. */
void events_out_begin(struct events_out *o);

/*
 * As events_each: -EIO if ferror(); -ENOMEM. Events of other processes are left
 * out.
 */
int events_out_put(void *out, const struct events_event *e);

/* Allocations and frees that were written. */
uint64_t events_out_written(const struct events_out *o);

/* Frees that are left out because their allocation was not written. */
uint64_t events_out_left_out(const struct events_out *o);

#endif
