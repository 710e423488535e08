/* events_out.h - the events of a process as other tools write them. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_EVENTS_OUT_H
#define SEEP_EVENTS_OUT_H

#include "base/std.h"
#include "kit/data/dict.h"
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

/* ---- events_out_parts: what events_out.c and its formats share ---- */

enum { EVENTS_OUT_NOWHERE = UINT32_MAX };

/* A block whose allocation was written. */
struct events_out_block {
	uint64_t key; /* address, or what stands for it */
	uint64_t size;
	uint32_t name;
	uint32_t site; /* number in the view, or EVENTS_OUT_NOWHERE */
};

/* How a format writes; each returns 0 or -ENOMEM. */
struct events_out_writer {
	int (*begin)(struct events_out *o);
	int (*at)(struct events_out *o, uint64_t ms); /* time; may be NULL */
	int (*come)(struct events_out *o, const struct events_out_block *b);
	int (*go)(struct events_out *o, const struct events_out_block *b);
	void (*release)(struct events_out *o);
};

struct events_out {
	FILE *out;
	const struct view *view;
	const struct process *process;
	uint32_t number; /* of the process */
	const char *version;
	const struct events_out_writer *writer;
	void *more;         /* of the writer */
	uint32_t *by_site;  /* by site of the process: number in the view + 1 */
	struct keyed live;  /* struct events_out_block */
	uint64_t stamp, ms; /* lines so far; time of the last event */
	uint64_t written;
	uint64_t left_out;
	bool has_begun;
};

extern const struct events_out_writer events_out_memtrail;
extern const struct events_out_writer events_out_mmleak;
extern const struct events_out_writer events_out_heaptrack;

#endif
