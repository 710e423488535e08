/* export.h - the formats of other tools, as a table. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_EXPORT_H
#define SEEP_EXPORT_H

#include "base/std.h"
#include "session/events/events.h"
#include "view/sites/view.h"

/* The view that a format needs, and the options that it supports. */
enum export_flags {
	EXPORT_GROUPED = 1,       /* equal functions and lines are one site */
	EXPORT_FOLDED = 2,        /* recursion is folded */
	EXPORT_MERGED = 4,        /* processes together; else each by itself */
	EXPORT_SINCE = 8,         /* can show differences: --since */
	EXPORT_BINARY = 16,       /* not for a terminal */
	EXPORT_DEAD = 32,         /* includes sites without live blocks */
	EXPORT_METRIC = 64,       /* --peak and --allocs, not only --live */
	EXPORT_ONE = 128,         /* shows one process only */
	EXPORT_KINDS = 256,       /* includes pools, not only the heap */
	EXPORT_DEPTH = 512,       /* the view cuts stacks, not the format: --depth */
	EXPORT_TOP = 1024,        /* can be limited to some rows: --top */
	EXPORT_MOMENTS = 2048,    /* includes snapshots beside the input */
	EXPORT_INCREMENTS = 4096, /* minus what earlier reports contain */
	EXPORT_PACKED = 8192,     /* copies files, not sites: see print/export/pack.h */
	EXPORT_AGES = 16384,      /* blocks above a certain age: --older-than */
	EXPORT_RESIDENT = 65536,  /* pages that sites hold: --rss */
	EXPORT_EVENTS = 131072,   /* has one line for each event of a log */
};

/* When the figures were read, for a server that orders profiles by that. */
struct export_moment {
	uint64_t now_ns;       /* since 1970 */
	uint64_t since_ns;     /* allocations were counted from then on */
	uint64_t period_bytes; /* of samples; 0: exact */
};

/* The events of a process, which its log has completely. */
struct export_events {
	uint32_t process; /* number in the session */
	/* calls `each` for every event: its result, or a negative errno */
	int (*read)(void *context, events_each *each, void *to);
	void *context;
};

struct export_options {
	int metric;          /* enum view_metric */
	unsigned depth;      /* frames of a stack; 0: the format's default */
	unsigned top;        /* rows; 0: all, or the format's default */
	const char *version; /* of seep */
	bool since;          /* the view compares: write differences */
	uint64_t since_ns;   /* between its two sides; 0: not known */
	bool full;           /* nothing is left out for being small */
	bool older;          /* the view has view_figures.older_* */
	/* the process that the view shows; 0 and NULL: all processes */
	uint32_t pid;
	const struct process *only;
	/* files of this format about the same process: EXPORT_INCREMENTS */
	char *const *previous;
	size_t previous_count;
	/*
	 * pprof for a server that keeps it, whose series labels would multiply:
	 * no labels, remarks or figures of the peak. NULL: for a file.
	 */
	const struct export_moment *moment;
	const struct export_events *events; /* EXPORT_EVENTS; NULL: none */
};

struct export_format {
	const char *name;
	const char *extension; /* of a file, with its dot */
	const char *what;      /* one line for the help */
	unsigned flags;        /* enum export_flags */
	/* 0, -ENOMEM, or -EIO if ferror(out). */
	int (*write)(FILE *out, const struct view *v, const struct export_options *o);
	/* instead of write, for formats that make views of their own */
	int (*write_session)(FILE *out, const struct session *s, struct names *names,
	    const struct view_options *options, const struct export_options *o);
};

/*
 * To add a format, write a file with a struct like these, and add a line here
 * and one in export.c.
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

/* Does the view include this process? */
bool export_has(const struct export_options *o, const struct process *p);

/* Has somebody read which pages are resident, so that sites hold pages? */
bool export_has_holds(const struct view *v, const struct export_options *o);

/* All formats, sorted by name; *ret_count of them. */
const struct export_format *const *export_formats(size_t *ret_count);

/* NULL: there is no format of that name. */
const struct export_format *export_find(const char *name);

/* ---- remarks: remarks about exported figures: estimates, losses, filters ---- */

/*
 * Sentences, one per line, without control bytes: the version of seep and the
 * program; which figures are estimates; what was lost, filtered or unreadable;
 * how figures of several processes are combined. For free(); NULL: out of
 * memory.
 */
char *remarks_of(const struct view *v, const struct export_options *o);

/* Writes them line by line, each between the two texts. */
void remarks_put(FILE *out, const char *remarks, const char *before, const char *after);

#endif
