/* process.h - what one segment says of one process, summed and checked. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_READER_PROCESS_H
#define SEEP_READER_PROCESS_H

#include <sys/types.h>

#include "reader/cross_check.h"
#include "reader/segment.h"
#include "reader/stacks.h"

enum process_end { /* the numbers of enum recording_end */
	PROCESS_UNKNOWN = 0,
	PROCESS_RUNNING = 1,
	PROCESS_EXITED = 2,
	PROCESS_KILLED = 3, /* by a signal, which somebody has seen */
	PROCESS_EXEC = 4,
	/*
	 * Never in a recording. The process has ended by _exit or a signal that
	 * nobody saw.
	 */
	PROCESS_GONE = 5,
};

/* Sums saturate instead of wrapping round; live = allocated - freed, >= 0. */
struct process_figures {
	uint64_t allocations, allocated_bytes;
	uint64_t frees, freed_bytes;
	uint64_t live_blocks, live_bytes;
	uint64_t peak_blocks, peak_bytes; /* share of the process's peak */
};

enum {
	PROCESS_AGES = SEG_AGE_BUCKETS + 1,
	PROCESS_STEPS = SEG_AGE_STEPS + 1, /* of the first of these */
	PROCESS_SIZES = SEG_SIZE_CLASSES,
	/* what is freed earlier is temporary: within one tick, or two at most */
	PROCESS_TEMPORARY_TICKS = 2,
};

/* [0]: younger than SEG_YOUNG_TICKS; [i]: from 2^(3+i) ticks, the last open */
struct process_ages {
	uint64_t deaths[PROCESS_AGES]; /* [0] is filled by process_deaths() */
	uint64_t living[PROCESS_AGES];
	/* deaths[0] in steps: [i] from 2^(i-1) ticks; [0]: process_young() */
	uint64_t young[PROCESS_STEPS];
	uint32_t sizes[PROCESS_SIZES]; /* of the living, as seg_size_class() */
	/*
	 * Of the living, as seg_birth_slot() until process.births_until; of
	 * one process alone, so process_add_ages() leaves them out.
	 */
	uint32_t births[SEG_BIRTH_SLOTS];
	bool live_ages_known; /* the destructor has folded the live map */
	bool sizes_known;     /* and has told sizes, too */
	bool births_known;    /* and births */
};

/*
 * Who frees the blocks of a site: where free() returned to, of a sample of the
 * frees. The most frequent first; counts are shares, not numbers of frees.
 */
struct process_freers {
	struct process_freer {
		uint64_t frame; /* a return address, as in stacks */
		uint64_t count;
	} at[SEG_FREERS];
	size_t count;
};

struct process_site {
	uint32_t id; /* the lowest of those with this stack */
	uint32_t stack;
	uint8_t kind;  /* enum seg_site_kind */
	uint8_t api;   /* enum seg_api */
	uint32_t pool; /* SEG_SITE_USER: number in process.pools */
	uint32_t first_tick, last_tick;
	uint64_t size_min, size_max; /* 0, 0: not known */
	uint64_t samples;
	/* sampled: variance of the estimated bytes, else 0 */
	double variance_allocated, variance_live;
	struct process_figures figures;
	struct process_ages *ages; /* NULL: all died young, none is known */
	struct process_freers *freed_by; /* NULL: none was seen */
};

/* A pool of seep_alloc(): resources of the program, apart from the heap. */
struct process_pool {
	char name[SEG_POOL_BYTES]; /* "" where it has none */
	size_t site_count;
	struct process_figures figures;
};

struct process_module {
	char *path; /* as the loader has it; NULL: not known, or no module */
	/* of a relative path alone, see relative.h; else NULL */
	char *full;   /* below the directory in which the process started */
	char *mapped; /* where /proc/PID/maps had it, while it ran */
	uint64_t base, start, end;
	uint32_t generation;
	uint8_t build_id[32];
	uint8_t build_id_bytes;
	bool is_main;
	bool is_gone; /* it was found unloaded */
};

struct process_inherited {
	uint32_t id; /* a site of the parent */
	uint64_t frees, freed_bytes;
};

/* Which of the sites has an id: equal stacks are one. By id. */
struct process_id {
	uint32_t id, site;
};

/* The heap at one moment of a recording. */
struct process_point {
	uint64_t time_us; /* since the recording began */
	uint64_t live_bytes, live_blocks;
	uint64_t allocations, allocated_bytes;
};

/* Names that a recording brings along, as names/wire.h has them. */
struct process_names {
	uint8_t *bytes;
	size_t len;
	struct process_names *next; /* of the same recording */
	struct process_names *all;  /* the list that the session has of all */
	bool is_used;               /* by a process; see chapters.c */
};

struct verdicts;

struct process {
	struct seg_header header;
	enum process_end end;
	int exit_status;      /* -1: not known */
	int signal;           /* 0: none, or not known */
	pid_t running_pid;    /* in our pid namespace while running, else 0 */
	uint64_t duration_ns; /* from its start to the last we know of it */
	uint64_t rss_bytes;   /* resident, as the kernel says; 0: not known */
	bool rss_is_peak;     /* the most of it, while it ran */
	uint64_t owner;       /* of its segment: uid + 1; 0: not known */
	uint64_t view;        /* as its recording has it; names/view.h */
	uint64_t held_bytes;  /* that its session counts for it */
	bool is_snapshot;
	bool is_cut; /* it has more modules or marks than we take */
	bool peak_exact;
	struct process_figures totals; /* of the heap's sites */
	struct process_pool *pools;    /* each name once, as first seen */
	size_t pool_count;
	struct process_site *sites; /* by id */
	size_t site_count;
	struct process_module *modules; /* by number; 0 is none */
	size_t module_count;
	struct process_inherited *inherited;
	size_t inherited_count;
	struct seg_mark *marks; /* by sequence; labels end with a NUL */
	size_t mark_count;
	struct stacks *stacks;
	struct process_id *ids;
	size_t id_count;
	struct process_point *points; /* the time line; NULL: none */
	size_t point_count;
	struct fault doubt;  /* figures that cannot be (invariants.h); or "" */
	struct fault unread; /* why its memory gave us up; or "" */
	enum cross_check live_map; /* does it say what the ledger says? */
	/*
	 * Blocks that were freed at a younger age are temporary. This is
	 * PROCESS_TEMPORARY_TICKS; or SEG_YOUNG_TICKS if finer steps are not
	 * known; or 0 if no age of a freed block is known.
	 */
	uint32_t temporary_ticks;
	uint32_t births_until; /* tick at which the births of sites end */
	bool is_unfinished;    /* its end state is missing in the recording */
	uint64_t as_of_us;     /* then these are the figures of that moment */
	const struct process_names *names; /* the session's; NULL: none */
	/* what looks found, trace/verdicts.h; for free(); NULL: none */
	struct verdicts *verdicts;
};

/* Takes what it needs from seg and lets it go. -ENOMEM. */
int process_new(const struct segment *seg, struct process **ret);

/*
 * The same for a list: header, totals and peak alone, which segment_read_ledger()
 * is enough for. Blocks at the peak are not known. -ENOMEM.
 */
int process_new_brief(const struct segment *seg, struct process **ret);

/* NULL is fine. */
void process_free(struct process *p);

/* A forked child that ended in its first events: sums, but no stacks. */
bool process_ended_early(const struct process *p);

/* Is there a reason why nothing was seen of it? header.inert_reason. */
bool process_is_unseen(const struct process *p);

/* Adds figures up; sums saturate. */
void process_add(
    struct process_figures *to, const struct process_figures *from);

/* Adds up what two sites have; sizes saturate, too. */
void process_add_ages(struct process_ages *to, const struct process_ages *from);

/* Adds up who frees the blocks of two sites: of more than fit, the rarest go. */
void process_add_freers(
    struct process_freers *to, const struct process_freers *from);

/* Deaths by age, the young ones included; zeros where nothing is known. */
void process_deaths(
    const struct process_site *site, uint64_t ret_deaths[PROCESS_AGES]);

/*
 * How many of `young` deaths below SEG_YOUNG_TICKS were in which step, by the
 * steps that ages has (NULL: all in the first). Their sum is `young`.
 */
void process_young(const struct process_ages *ages, uint64_t young,
    uint64_t ret_steps[PROCESS_STEPS]);

/* The module of a frame, NULL where it is in none. */
const struct process_module *process_module(
    const struct process *p, uint64_t frame);

/* Nanoseconds since 1970 of a tick. */
uint64_t process_time_ns(const struct process *p, uint32_t tick);

/*
 * Half the width of the 95 % interval around an estimate with this variance;
 * 0 for an exact process, whose variances are 0.
 */
uint64_t process_error(double variance);

/* The variance of all sites together. */
double process_variance_live(const struct process *p);
double process_variance_allocated(const struct process *p);

#endif
