/* export_forms.h - what single formats need: heaptrack, massif, pprof. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_EXPORT_FORMS_H
#define SEEP_EXPORT_FORMS_H

#include "base/std.h"
#include "print/export/texts.h"
#include "session/process/process.h"
#include "view/sites/view.h"

/* ---- heaptrack_plan: invents events that add up to a site's figures ---- */

struct heaptrack_group {
	uint64_t blocks, bytes;
};

/*
 * The blocks of a site in four groups: live at the peak and at the end, at the
 * peak only, at the end only, at neither. The first two together are its share
 * of the peak, the first and the third are live at the end, all four are all
 * allocations; a group without blocks has no bytes. If figures contradict each
 * other (they are estimates, or were read from a running process), peak and
 * live figures are still right, and allocations may not be.
 */
struct heaptrack_plan {
	struct heaptrack_group both, peak, end, neither;
};

void heaptrack_plan(const struct process_figures *f, struct heaptrack_plan *ret);

/* ---- heaptrack_stacks: names and stacks of a view as heaptrack's file has them ---- */

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

/* ---- massif_tree: the heap at one moment as a tree of callers, in the form of massif ---- */

enum {
	MASSIF_DEPTH = 30,    /* massif's default; --depth changes it */
	MASSIF_PER_MILLE = 1, /* of the total; smaller branches are summed up */
};

struct massif_tree;

/* Frames of a stack up to `depth`; full: all of them, all branches. -ENOMEM. */
int massif_tree_new(const struct view *v, unsigned depth, bool full, struct massif_tree **ret);

/* NULL is fine. */
void massif_tree_free(struct massif_tree *t);

/*
 * `bytes` are those of the view's sites, by number; the whole may be more than
 * their sum. -ENOMEM.
 */
int massif_tree_write(struct massif_tree *t, FILE *out, const uint64_t *bytes, uint64_t whole);

/* ---- pprof_proto: protocol buffers, written field by field, compressed ---- */

/*
 * A message that is being written. Zeros: empty. If memory runs out, it stays
 * as it is and `failed` is set, so one check at the end is enough.
 */
struct proto {
	uint8_t *bytes; /* for free() */
	size_t len, room;
	bool failed;
};

/* Fields; a value of 0 is left out, as proto3 requires. */
void pprof_proto_uint(struct proto *m, unsigned field, uint64_t value);
void pprof_proto_int(struct proto *m, unsigned field, int64_t value);
void pprof_proto_bytes(struct proto *m, unsigned field, const void *bytes, size_t len);

/* A message inside; it is emptied. */
void pprof_proto_message(struct proto *m, unsigned field, struct proto *inner);

/* Packed numbers: add each one, then add m with pprof_proto_message(). */
void pprof_proto_packed(struct proto *m, uint64_t value);

/* A stream of gzip into a file; errors are kept for the end. */
struct pprof_proto_stream;

/* -ENOMEM. */
int pprof_proto_stream_new(FILE *out, struct pprof_proto_stream **ret);

/* A piece of the outermost message; m is emptied. */
void pprof_proto_stream_put(struct pprof_proto_stream *s, struct proto *m);

/*
 * Ends the stream, unless ret is an earlier failure, and frees it. Returns the
 * first failure: `ret`, -ENOMEM, -EIO.
 */
int pprof_proto_stream_end(struct pprof_proto_stream *s, int ret);

#endif
