/* view.h - the sites of a session that a report shows, with named stacks. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_VIEW_H
#define SEEP_VIEW_H

#include "base/std.h"

#include <regex.h>

#include "session/load/session.h"
#include "view/stacks/frames.h"
#include "view/suppress/suppress.h"

/* The subject of a report; sites that have nothing of it are ignored. */
enum view_metric {
	VIEW_LIVE,
	VIEW_PEAK,
	VIEW_ALLOCS,
	VIEW_TEMPORARY, /* freed at an age below view.temporary_ticks */
	VIEW_ALL,       /* every site, as allocations */
};

struct older;
struct lifetimes;
struct verdict_found;

enum { VIEW_MERGED = UINT32_MAX, VIEW_ANY = 0 };

/* One side of a comparison. Only the session is required. */
struct view_side {
	const struct session *session;
	const struct process *only; /* NULL: all */
	/*
	 * by process, by site: used instead of the session's figures; NULL: not
	 */
	const struct process_figures *const *figures;
	/* by process: used instead of the process's own; NULL: not */
	const struct rss_account *const *rss_account;
};

/* All zero: every site of the heap by itself, with its whole stack. */
struct view_options {
	int metric;                    /* enum view_metric */
	const struct process *only;    /* NULL: all */
	uint32_t pid;                  /* VIEW_ANY */
	uint32_t id;                   /* of a site; VIEW_ANY */
	const regex_t *pool;           /* only objects of pools, not the heap */
	bool all_kinds;                /* also objects of pools */
	bool mappings;                 /* only mappings by caller */
	const regex_t *include;        /* some function matches */
	const regex_t *exclude;        /* none does */
	const regex_t *module;         /* the path of some module matches */
	const regex_t *exclude_module; /* none does */
	uint64_t min_size, max_size;   /* some block is so large; 0: any */
	struct suppress *suppress;     /* leave these out; NULL: none */
	bool keep_suppressed;          /* keep them, with its name */
	bool skip_wrappers;            /* innermost frames like xmalloc */
	const regex_t *wrapper;        /* these are wrappers, too */
	bool trim;                     /* no frames that only call main */
	bool all_frames;               /* keep blame.h */
	bool fold;                     /* recursion as one frame, or cycle */
	unsigned depth;                /* innermost frames; 0: all */
	bool depth_from_own;           /* counted from the user's own frame */
	bool by_api;                   /* stacks begin with malloc, calloc... */
	bool group;                    /* sites that look the same are one */
	bool by_function;              /* group also if lines differ */
	bool join_programs;            /* also if programs' names differ */
	bool brief_names;              /* frame.brief is the short name */
	bool merge;                    /* also across processes */
	bool with_holds;               /* changes of held pages count, too */
	/*
	 * by process, by site: used instead of the session's figures; NULL: not
	 */
	const struct process_figures *const *figures;
	/* by process: used instead of the process's own; NULL: not */
	const struct rss_account *const *rss_account;
	/* fills view_figures.older_*; NULL: do not */
	const struct older *older;
	/* what is temporary, by allocations in between; NULL: by age */
	const struct lifetimes *within;
	/* for who prints them; NULL: not asked for */
	const struct lifetimes *lifetimes;
	uint32_t temporary_ticks; /* at least; see view_temporary_ticks() */
	bool verdict_only;        /* only sites that have verdicts */
	bool score_only;          /* only sites that leak, grow or are steady */
	/*
	 * whose verdicts: a descendant of `only`; NULL: each process has its
	 * own
	 */
	const struct process *judged;
	uint32_t judged_below; /* if so, only for sites with lower ids */
	/* the side to compare with; implies group and merge. NULL: none */
	const struct view_side *before;
};

struct view_figures {
	struct process_figures all;
	uint64_t young_blocks; /* freed at an age below SEG_YOUNG_TICKS */
	uint64_t temporary_blocks;
	uint64_t temporary_bytes;                 /* estimated by the share of freed blocks */
	double variance_live, variance_allocated; /* of bytes; exact: 0 */
	/* of live blocks: see view_options.older */
	uint64_t older_blocks, older_bytes;
	uint64_t older_unknown_blocks, older_unknown_bytes;
	/* resident pages that it keeps, and its own bytes on them */
	uint64_t holds_bytes, held_bytes;
};

/* How exactly ages at death are known; for merged sites both may hold. */
enum view_ages {
	VIEW_AGES_COARSE = 1,  /* from SEG_YOUNG_TICKS on */
	VIEW_AGES_UNKNOWN = 2, /* the young ones may be of any age */
};

struct view_site {
	uint32_t process; /* number in the session, or VIEW_MERGED */
	uint32_t site;    /* number in the process, of the first site */
	uint32_t id;
	uint32_t count;    /* sites of the session in this one */
	uint8_t kind, api; /* enum seg_api; operator new is recognised */
	uint8_t age_flags; /* enum view_ages */
	const char *pool;  /* the pool; NULL: of the heap */
	struct view_figures figures;
	struct view_figures before; /* zeros if there is no comparison */
	uint64_t samples;
	uint64_t size_min, size_max; /* 0, 0: not known */
	uint64_t first_ns, last_ns;  /* first and last allocation, since 1970 */
	uint64_t now_ns;             /* the time of its figures, since 1970 */
	/* without young deaths: see ages_deaths(). NULL: not known */
	const struct process_ages *ages;
	struct process_ages *own_ages; /* where they are not a process's */
	uint32_t *frames;              /* numbers; innermost first */
	uint16_t *repeats;             /* by frame, how deep it recurs; NULL: none does */
	uint32_t frame_count;
	uint32_t own;                  /* position of the frame that heads the site */
	uint32_t stack_flags;          /* as from stacks_frames() */
	const char *suppression;       /* suppression that matched; NULL: none */
	struct verdict_found *verdict; /* view/sites/verdict.h; NULL: none */
	const struct score *score;     /* analysis/score/score.h; NULL: none */
};

struct view_sum {
	uint64_t sites; /* of the session, or of both */
	struct view_figures figures, before;
};

/*
 * chosen + filtered + suppressed = all sites of the session that the metric
 * finds; with keep_suppressed, suppressed is a part of chosen.
 */
struct view {
	const struct session *session;
	struct view_site *sites; /* by process, then id */
	size_t site_count;
	const struct frame *frames; /* by number */
	size_t frame_count;
	struct view_sum chosen, filtered, suppressed;
	uint32_t temporary_ticks;                   /* age that is temporary; 0: not known */
	const struct lifetimes *within, *lifetimes; /* as of the options */
	size_t unchanged;                           /* unchanged ones, left out */
	bool is_compared, is_grouped, is_merged, by_function;
	struct frames *table;      /* of the frames */
	struct view_chunk *chunks; /* memory of stacks */
};

/* All three arguments must outlive the view. -ENOMEM. */
int view_new(const struct session *s, struct names *names, const struct view_options *options,
    struct view **ret);

/* NULL is fine. */
void view_free(struct view *v);

/*
 * The age below which a block is temporary, if the same limit has to hold for
 * all selected processes: the highest of theirs, because finer steps can be
 * added up. 0: no process knows ages at death.
 */
uint32_t view_temporary_ticks(const struct session *s, const struct process *only, uint32_t pid);

/*
 * How many frames of a stack remain without the outer ones that only call main
 * or the function of a thread: _start, clone3, those of std::thread. `stack`
 * has numbers of `frames`, innermost first.
 */
size_t view_without_start(const struct frame *frames, const uint32_t *stack, size_t count);

/* The figure of a metric. */
uint64_t view_bytes(const struct view_figures *f, int metric);
uint64_t view_blocks(const struct view_figures *f, int metric);

/* Resident bytes beyond its own that its blocks keep: holds - held. */
uint64_t view_pins(const struct view_figures *f);

/* Variance of view_bytes(), for process_error(); exact: 0. */
double view_variance(const struct view_figures *f, int metric);

/* Adds a site to `to`: figures, sizes and times, but not ages and stacks. */
void view_join(struct view_site *to, const struct view_site *from);

/* Adds figures; the sums do not wrap. */
void view_add(struct view_figures *to, const struct view_figures *from);

#endif
