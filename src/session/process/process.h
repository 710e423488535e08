/* process.h - sums up and checks the segment of one process. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_PROCESS_H
#define SEEP_PROCESS_H

#include "base/std.h"
#include "session/process/cross_check.h"
#include "segments/read/segment_copy.h"
#include "session/process/stacks.h"

enum process_end { /* the numbers of enum recording_end */
	PROCESS_UNKNOWN = 0,
	PROCESS_RUNNING = 1,
	PROCESS_EXITED = 2,
	PROCESS_KILLED = 3, /* by a signal that somebody has seen */
	PROCESS_EXEC = 4,
	/*
	 * Never in a recording. The process has ended by _exit or a signal that
	 * nobody saw.
	 */
	PROCESS_GONE = 5,
};

/*
 * Sums do not wrap: they stop at the maximum. live = allocated - freed, >= 0.
 */
struct process_figures {
	uint64_t allocations, allocated_bytes;
	uint64_t frees, freed_bytes;
	uint64_t live_blocks, live_bytes;
	uint64_t peak_blocks, peak_bytes; /* share of the process's peak */
};

enum {
	PROCESS_AGES = SEG_AGE_BUCKETS + 1,
	PROCESS_STEPS = SEG_AGE_STEPS + 1, /* tick of the first of these */
	PROCESS_SIZES = SEG_SIZE_CLASSES,
	/*
	 * blocks freed earlier are temporary: within one tick, or two at most
	 */
	PROCESS_TEMPORARY_TICKS = 2,
};

/*
 * [0]: younger than SEG_YOUNG_TICKS; [i]: from 2^(3+i) ticks; the last has no
 * upper bound
 */
struct process_ages {
	uint64_t deaths[PROCESS_AGES]; /* [0] is filled by process_deaths() */
	uint64_t living[PROCESS_AGES];
	/* deaths[0] in steps: [i] from 2^(i-1) ticks; [0]: process_young() */
	uint64_t young[PROCESS_STEPS];
	uint32_t sizes[PROCESS_SIZES]; /* of live blocks, by seg_size_class() */
	/*
	 * Of live blocks, by seg_birth_slot() until process.births_until. The
	 * slots of two processes are different times, so process_add_ages()
	 * leaves them out.
	 */
	uint32_t births[SEG_BIRTH_SLOTS];
	bool live_ages_known; /* the destructor has folded the live map */
	bool sizes_known;     /* and has stored sizes, too */
	bool births_known;    /* and births */
};

/*
 * Who frees the blocks of a site: return addresses of free(), from a sample of
 * the frees. The most frequent first; counts are shares, not numbers of frees.
 */
struct process_freers {
	struct process_freer {
		uint64_t frame; /* a return address, as in stacks */
		uint64_t count;
	} at[SEG_FREERS];
	size_t count;
};

struct process_site {
	uint32_t id; /* the lowest id of those with this stack */
	uint32_t stack;
	uint8_t kind; /* enum seg_site_kind */
	uint8_t api;  /* enum seg_api */
	/* SEG_SITE_USER: number in process.pools; mapping: seg_mapping */
	uint32_t pool;
	uint32_t first_tick, last_tick;
	uint64_t size_min, size_max; /* 0, 0: not known */
	uint64_t samples;
	/* sampled: variance of the estimated bytes, else 0 */
	double variance_allocated, variance_live;
	struct process_figures figures;
	struct process_ages *ages;       /* NULL: all died young, none is known */
	struct process_freers *freed_by; /* NULL: none was seen */
};

/* A pool of seep_alloc(): resources of the program, apart from the heap. */
struct process_pool {
	char name[SEG_POOL_BYTES]; /* "" where it has none */
	size_t site_count;
	struct process_figures figures;
};

struct process_module {
	char *path; /* path from the loader; NULL: not known, or no module */
	/* only for a relative path, see family.h; else NULL */
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

/*
 * Maps an id to its site, because ids with equal stacks are one site. Sorted by
 * id.
 */
struct process_id {
	uint32_t id, site;
};

/* A site that has no figures: the stack of a free, see format/seg_flight.h. */
struct process_bare {
	uint32_t id, stack;
};

/* The heap at one moment of a recording. */
struct process_point {
	uint64_t time_us; /* since the recording began */
	uint64_t live_bytes, live_blocks;
	uint64_t allocations, allocated_bytes;
};

/* Names that came with a recording, encoded as in names/find/wire.h. */
struct process_names {
	uint8_t *bytes;
	size_t len;
	struct process_names *next; /* of the same recording */
	struct process_names *all;  /* the next one in the session's list */
	bool is_used;               /* by a process; see chapters.c */
};

/*
 * The root directory of a process that has ended, kept open by who makes the
 * struct process; its view is as of names/find/places.h. fd 0: none.
 */
struct process_root {
	uint64_t view;
	int fd;
};

/* What its event log adds, if it was read: session_log.h. */
struct process_log {
	bool is_read;
	bool has_moment;     /* the figures are those of a moment */
	bool is_past;        /* at which it had not ended */
	uint64_t at_ms;      /* that moment, after the first process started */
	uint64_t lost;       /* events up to then that the log does not have */
	uint64_t lost_later; /* and those later, or nobody knows when */
};

struct rss_account;
struct verdicts;
struct aging;
struct inventory;
struct score;

struct process {
	struct seg_header header;
	enum process_end end;
	int exit_status;       /* -1: not known */
	int signal;            /* 0: none, or not known */
	bool is_out_of_memory; /* the kernel killed it, for lack of memory */
	pid_t running_pid;     /* in our pid namespace while running, else 0 */
	uint64_t duration_ns;  /* from its start to the last we know of it */
	uint64_t rss_bytes;    /* resident, as the kernel says; 0: not known */
	bool rss_is_peak;      /* the maximum while it ran */
	uint64_t owner;        /* owner of its segment: uid + 1; 0: not known */
	uint64_t view;         /* from its recording; names/find/places.h */
	struct process_root root;
	uint64_t held_bytes; /* that its session counts for it */
	bool is_snapshot;
	bool is_cut; /* it has more modules or marks than the limit */
	bool peak_exact;
	struct process_log log;
	struct process_figures totals; /* of the heap's sites */
	struct process_figures mapped; /* of mappings by caller */
	struct mapped *resident;       /* session/process/live_ages.h; NULL: not read */
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
	struct process_bare *bare; /* by id; with a flight recorder alone */
	size_t bare_count;
	struct process_point *points; /* the time line; NULL: none */
	size_t point_count;
	struct fault doubt;        /* figures that cannot be (cross_check.h); or "" */
	struct fault unread;       /* why reading its memory failed, or "" */
	enum cross_check live_map; /* do live map and ledger agree? */
	/*
	 * Blocks that were freed at a younger age are temporary. This is
	 * PROCESS_TEMPORARY_TICKS; or SEG_YOUNG_TICKS if finer steps are not
	 * known; or 0 if no age of a freed block is known.
	 */
	uint32_t temporary_ticks;
	uint32_t births_until;             /* tick at which the births of sites end */
	bool ages_partial;                 /* some live blocks could not be read */
	bool is_unfinished;                /* its end state is missing in the recording */
	uint64_t as_of_us;                 /* if so, the figures are of this moment */
	const struct process_names *names; /* the session's; NULL: none */
	/* the result of looks, recording/parts/verdicts.h; freed here; NULL: none */
	struct verdicts *verdicts;
	/* ages that a recorder read, recording/parts/aging.h; freed here; NULL: none */
	struct aging *aging;
	/* of the last look, recording/parts/inventory.h; freed here; NULL: none */
	struct inventory *inventory;
	/* by site, from scores_of() on; freed here; NULL: none yet */
	struct score *scores;
	/* where its memory is, recording/parts/rss_account.h; freed here; NULL: none */
	struct rss_account *rss_account;
	/* of a recording: the readings before that, by time */
	struct rss_account *earlier;
	size_t earlier_count, earlier_room;
};

/* Takes what it needs from seg and frees seg. -ENOMEM. */
int process_new(const struct segment *seg, struct process **ret);

/*
 * The same for a list: header, totals and peak alone, which segment_copy_read_ledger()
 * is enough for. Blocks at the peak are not known. -ENOMEM.
 */
int process_new_brief(const struct segment *seg, struct process **ret);

struct recording_segment;

/* How it ended and whose it is, as its recording says. */
void process_set_recorded(struct process *p, const struct recording_segment *head);

/* NULL is fine. */
void process_free(struct process *p);

/* Frees its readings of resident pages. */
void process_drop_rss(struct process *p);

/*
 * Appends a reading; the one before becomes an earlier one. Takes what *r owns
 * on success. -ENOMEM.
 */
int process_add_rss(struct process *p, struct rss_account *r);

/*
 * Moves the readings of an earlier chapter before those of `to`. -ENOMEM: some
 * are lost.
 */
int process_join_rss(struct process *to, struct process *from);

/* Replaces the readings of `to` by those of `from`, which has none then. */
void process_take_rss(struct process *to, struct process *from);

/* A forked child that ended in its first events: has sums, but no stacks. */
bool process_ended_early(const struct process *p);

/* Is there a reason why nothing of it was recorded? See header.inert_reason. */
bool process_is_unseen(const struct process *p);

/* Adds figures; the sums do not wrap. */
void process_add(struct process_figures *to, const struct process_figures *from);

/* Adds a site of the heap to the totals, a mapping to the mappings. */
void process_count(struct process *p, const struct process_site *s);

/* Adds the ages and sizes of two sites; the sums do not wrap. */
void process_add_ages(struct process_ages *to, const struct process_ages *from);

/* Adds the births of two sites of one process. */
void process_add_births(struct process_ages *to, const struct process_ages *from);

/* Does it know the births of live blocks for one of its sites? */
bool process_knows_births(const struct process *p);

/*
 * Adds the callers of free() of two sites; if there are too many, the rarest
 * are dropped.
 */
void process_add_freers(struct process_freers *to, const struct process_freers *from);

/* Deaths by age, the young ones included; zeros if nothing is known. */
void process_deaths(const struct process_site *site, uint64_t ret_deaths[PROCESS_AGES]);

/*
 * Distributes `young` deaths below SEG_YOUNG_TICKS over the steps, as the steps
 * in ages say (NULL: all in the first). Their sum is `young`.
 */
void process_young(
    const struct process_ages *ages, uint64_t young, uint64_t ret_steps[PROCESS_STEPS]);

/* What an id is; NULL: it has none. */
const struct process_id *process_find_id(const struct process *p, uint32_t id);

/* The module of a frame; NULL if it is in none. */
const struct process_module *process_module(const struct process *p, uint64_t frame);

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
