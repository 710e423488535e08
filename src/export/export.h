/* export.h - what others' tools read: a table of formats. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_EXPORT_EXPORT_H
#define SEEP_EXPORT_EXPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "report/view.h"

/* What a format wants of the view it is given, and what it can show. */
enum export_flags {
	EXPORT_GROUPED = 1, /* equal functions and lines are one site */
	EXPORT_FOLDED = 2,  /* recursion is folded */
	EXPORT_MERGED = 4,  /* processes together; else each by itself */
	EXPORT_SINCE = 8,   /* can tell differences: --since */
	EXPORT_BINARY = 16, /* not for a terminal */
	EXPORT_DEAD = 32,   /* also sites of which nothing is left */
	EXPORT_METRIC = 64, /* of peak and allocations, too, not only live */
	EXPORT_ONE = 128,   /* of one process only */
	EXPORT_KINDS = 256, /* also pools, beside the heap */
	EXPORT_DEPTH = 512, /* the view cuts stacks, not the format: --depth */
	EXPORT_TOP = 1024,  /* has rows to choose from: --top */
	EXPORT_MOMENTS = 2048,    /* also snapshots that lie beside the input */
	EXPORT_INCREMENTS = 4096, /* less what reports before it have */
	EXPORT_PACKED = 8192, /* of files, not of sites: see record/pack.h */
	EXPORT_AGES = 16384,  /* what is older than some age: --older-than */
};

struct export_options {
	int metric;          /* enum view_metric */
	unsigned depth;      /* frames of a stack; 0: as the format has it */
	unsigned top;        /* rows; 0: all, or as the format has it */
	const char *version; /* ours */
	bool since;          /* the view compares: figures less before */
	bool full;           /* nothing is left out for being small */
	bool older;          /* the view has view_figures.older_* */
	/* what the view is of; 0 and NULL: all processes */
	uint32_t pid;
	const struct process *only;
	/* files of this format about the same process: EXPORT_INCREMENTS */
	char *const *previous;
	size_t previous_count;
};

struct export_format {
	const char *name;
	const char *extension; /* of a file, with its dot */
	const char *what;      /* one line for the help */
	unsigned flags;        /* enum export_flags */
	/* 0, -ENOMEM, or -EIO as ferror(out) tells. */
	int (*write)(
	    FILE *out, const struct view *v, const struct export_options *o);
	/* instead of it, for what makes views of its own */
	int (*write_session)(FILE *out, const struct session *s,
	    struct names *names, const struct view_options *options,
	    const struct export_options *o);
};

/*
 * To add a format: its file with a struct like these, a line here and one in
 * export.c.
 */
extern const struct export_format export_callgrind;
extern const struct export_format export_collapsed;
extern const struct export_format export_csv;
extern const struct export_format export_dhat;
extern const struct export_format export_dot;
extern const struct export_format export_gprof2dot;
extern const struct export_format export_heaptrack;
extern const struct export_format export_html;
extern const struct export_format export_json;
extern const struct export_format export_leaktrace;
extern const struct export_format export_maps;
extern const struct export_format export_massif;
extern const struct export_format export_memlog;
extern const struct export_format export_mmleak;
extern const struct export_format export_mmleak_html;
extern const struct export_format export_pprof;
extern const struct export_format export_seep;
extern const struct export_format export_speedscope;

/* Is the view also of this process? */
bool export_has(const struct export_options *o, const struct process *p);

/* All, by name; *ret_count of them. */
const struct export_format *const *export_formats(size_t *ret_count);

/* NULL: there is none of that name. */
const struct export_format *export_find(const char *name);

#endif
