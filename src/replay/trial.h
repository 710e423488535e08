/* trial.h - runs of seep-replay-run, one for each allocator, and what they took. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_TRIAL_H
#define SEEP_TRIAL_H

#include "base/std.h"
#include "kit/os/fault.h"
#include "replay/compose.h"
#include "replay/script.h"

struct trial_plan {
	const char *performer; /* path of seep-replay-run */
	enum script_mode mode;
	int script;           /* descriptor; -1: none, with SCRIPT_PROBE */
	const char *preload;  /* LD_PRELOAD; NULL: libc's own malloc */
	const char *tunables; /* GLIBC_TUNABLES; NULL: none */
	uint64_t memory_max;  /* it is ended if it has more; 0: no limit */
	uint64_t idle_ns;     /* it is ended if it uses no CPU for so long */
};

enum trial_end {
	TRIAL_DONE,
	TRIAL_FAILED,  /* detail: errno, of the performer; 0: no answer */
	TRIAL_SIGNAL,  /* detail: the signal that ended it */
	TRIAL_STALLED, /* it did nothing, and was ended */
	TRIAL_MEMORY,  /* it needed too much memory, and was ended */
};

enum { TRIAL_SAID = 512 };

struct trial_outcome {
	enum trial_end end;
	int detail;
	struct script_result result; /* of TRIAL_DONE */
	char said[TRIAL_SAID];       /* on stderr, with SCRIPT_PROBE: its beginning */
};

/*
 * Runs it and waits. Settings of allocators in our environment hold, but
 * LD_PRELOAD, GLIBC_TUNABLES and SEEP_* do not. If we end, the run ends, too.
 * -errno: it cannot be started.
 */
int trial_run(const struct trial_plan *plan, struct trial_outcome *ret);

/* ---- allocator: the allocators that a replay compares ---- */

enum { ALLOCATOR_NAME = 32, ALLOCATOR_PATH = 4096, ALLOCATORS_MAX = 32 };

struct allocator {
	char name[ALLOCATOR_NAME];
	char preload[ALLOCATOR_PATH];    /* path or name of a library; or "" */
	char tunables[ALLOCATOR_PATH];   /* of glibc; or "" */
	char library[SCRIPT_PATH_BYTES]; /* which file has its malloc */
};

struct allocators {
	const char *performer; /* path of seep-replay-run */
	char libc[SCRIPT_PATH_BYTES];
	struct allocator *all;
	size_t count, room;
};

/* Finds out what libc is. -errno, with a text: the performer does not run. */
int allocator_begin(struct allocators *a, const char *performer, struct fault *where);

/*
 * Adds NAME=LIB, NAME=glibc:TUNABLES, or the NAME of one of those that are known.
 * -EINVAL, with a text: it is none, or cannot be loaded. -ENOMEM.
 */
int allocator_add(struct allocators *a, const char *text, struct fault *where);

/* Adds glibc, and those that the loader finds by their usual names. -ENOMEM */
int allocator_add_known(struct allocators *a);

void allocator_release(struct allocators *a);

/* ---- tally: what the runs of all allocators took: medians and intervals ---- */

enum tally_figure {
	TALLY_PEAK,  /* bytes: resident memory of the allocator */
	TALLY_FINAL, /* the same at the end */
	TALLY_CPU,   /* ns: the sum of the next two */
	TALLY_USER,
	TALLY_SYSTEM,
	TALLY_WALL,
	TALLY_FAULTS, /* pages: the sum of the next two */
	TALLY_MINOR,
	TALLY_MAJOR,
	TALLY_FIGURES,
};

enum { TALLY_RUNS_MAX = 1000 };

struct tally_row {
	const struct allocator *allocator;
	uint64_t *values[TALLY_FIGURES]; /* of each run */
	size_t runs;
	uint64_t refused;  /* allocations that it refused, in the last run */
	char failure[128]; /* why there are no more runs; "": there are all */
};

struct tally {
	struct compose_facts facts;
	uint32_t pid;
	const char *program; /* NULL: not known */
	uint64_t processes;  /* that have events in this input */
	bool as_recorded;
	unsigned runs;      /* that were asked for */
	uint64_t own_bytes; /* what the performer needs itself */
	struct tally_row *rows;
	size_t count;
};

/* Rows for these allocators, without runs. -ENOMEM. */
int tally_init(struct tally *t, const struct allocators *a, unsigned runs);
void tally_release(struct tally *t);

/* Adds a run, or the reason why there is none. */
void tally_add(struct tally *t, size_t row, const struct trial_outcome *o);

/* The order of reports: by the median of the peak, without runs at the end. */
void tally_sort(struct tally *t);

/* The lowest, median and highest of all runs. */
struct tally_spread {
	uint64_t low, median, high;
};
struct tally_spread tally_spread(const struct tally_row *r, enum tally_figure figure);

/* As text for people, and as JSON; foreign text is escaped. */
void tally_text(FILE *out, const struct tally *t);
void tally_json(FILE *out, const struct tally *t, const char *version);

#endif
