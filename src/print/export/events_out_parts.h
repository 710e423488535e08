/* events_out_parts.h - what events_out.c and its formats share. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_EVENTS_OUT_PARTS_H
#define SEEP_EVENTS_OUT_PARTS_H

#include "print/export/events_out.h"
#include "kit/data/keyed.h"

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
