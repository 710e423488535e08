/* engine.h - the processes that are traced now, looked at again and again. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_ENGINE_H
#define SEEP_ENGINE_H

#include "base/std.h"
#include "segments/read/segfile.h"
#include "kit/os/fault.h"

/*
 * Names and all other text are what the process says of itself: untrusted, to be
 * printed by text_print() alone.
 *
 * The one engine of all readers that live long (top, watch, record, serve,
 * push). A roster finds the processes (roster.h), a pulse reads their counters
 * (pulse.h), and keeps the last looks. For each process the descriptor of its
 * segment and a pidfd are held, so that its end is known at once and its last
 * counters can be read after its directory is gone. Only system calls on our
 * side: the host is not touched.
 *
 * Memory, descriptors and time are bounded, whatever the number of processes
 * that ever lived: a process that has ended is forgotten LIVE_DEAD_MS later, or
 * when its user says so (engine_forget()).
 */

enum {
	LIVE_LOOKS = 120,     /* looks that are kept */
	LIVE_SITES = 2000,    /* sites of a process that have such a ring */
	LIVE_DEAD_MS = 10000, /* an ended process stays this long */
	LIVE_NAME = 256,      /* bytes of a name, with the zero */
};

enum engine_state {
	LIVE_RUNS,
	LIVE_OUT_OF_SIGHT, /* in a pid namespace that we do not see */
	LIVE_ENDED,
};

/* Why a process ended, as far as anybody can know. */
enum engine_cause {
	LIVE_CAUSE_UNKNOWN,
	LIVE_CAUSE_EXIT,   /* with `cause_number` as its status, -1: not known */
	LIVE_CAUSE_SIGNAL, /* by signal `cause_number` */
	LIVE_CAUSE_OOM,    /* out of memory: the kernel killed it */
	LIVE_CAUSE_EXEC,   /* it is another program now */
};

/* The counters of a process in one look. */
struct engine_totals {
	uint64_t at_ns; /* CLOCK_MONOTONIC */
	uint64_t allocations, allocated_bytes, frees, freed_bytes;
	uint64_t live_blocks, live_bytes, peak_bytes;
	uint64_t resident; /* bytes; 0: not known */
	uint64_t lost;     /* events that are not in these counters */
};

/* The counters of a site in the last look. */
struct engine_site {
	uint32_t id;  /* of the segment's rows */
	bool is_pool; /* of seep_alloc(), or mappings: not in totals */
	uint64_t allocations, allocated_bytes, frees, freed_bytes;
	/* as it was when the base was set (engine_set_base()) */
	uint64_t base_live_bytes, base_live_blocks, base_allocations;
	/* of the last looks; NULL: live bytes were the same in all of them */
	struct engine_trend *trend;
};

struct engine_process {
	uint64_t number; /* never used again by this engine */
	enum engine_state state;
	enum engine_cause cause;
	int cause_number;
	uint64_t ended_ns; /* CLOCK_MONOTONIC */
	bool is_silent;    /* out of sight, and its clock stands still */

	pid_t pid;       /* as we see it; 0: we do not see it */
	pid_t inner_pid; /* as it sees itself */
	uid_t uid;
	uint64_t start_ns;       /* since the boot */
	char program[LIVE_NAME]; /* as it was started: base name of argv[0] */
	char service[LIVE_NAME]; /* unit, else container, else program */
	bool has_unit, has_container;
	uint64_t limit, used; /* of its memory cgroup; 0: none */

	struct seg_header header; /* of the last look */
	struct engine_totals now, base;
	/*
	 * The last looks, by look number modulo LIVE_LOOKS. Looks are numbered
	 * from 0, and the last one is looks - 1.
	 */
	struct engine_totals ring[LIVE_LOOKS];
	uint64_t looks; /* made so far at this process */
	/*
	 * 0, or why the last look has read nothing, or not all: -EFBIG: the
	 * memory is used up; -ESTALE: its slot was given to another process;
	 * -EBADMSG: the segment is damaged.
	 */
	int look_err;
	size_t site_count;  /* sites in use, moved or not */
	size_t moved_count; /* of sites, since it was found */
	uint64_t unlisted;  /* sites that moved beyond LIVE_SITES */
};

struct engine;

struct engine_plan {
	/*
	 * Directories to look into, NULL at the end. NULL: SEEP_DIR if that is
	 * set, as for `seep ls`, else all that we may see on this machine.
	 */
	const char *const *directories;
	/* only these processes; NULL: all */
	const pid_t *pids;
	size_t pid_count;
	bool want_sites;    /* rows too, where they changed */
	size_t most_memory; /* bytes; 0: 48 MiB */
	/*
	 * For who must write them down: the ended stay until engine_forget(), and
	 * those that had ended before they were found are listed, too.
	 */
	bool keep_the_ended;
	size_t other_fds; /* descriptors that the caller needs beside the usual */
};

/* -ENOMEM, -EMFILE. */
int engine_new(const struct engine_plan *plan, struct engine **ret);
void engine_free(struct engine *l); /* NULL is fine */

/* Readable when somebody came or ended before the next look is due. */
int engine_wake_fd(const struct engine *l);

/* Finds who came and who ended, and reads the counters of all. -ENOMEM. */
int engine_look(struct engine *l);

/* Only who came and who ended: for when engine_wake_fd() is readable. */
int engine_look_at_roster(struct engine *l);

/*
 * How many files appeared, since engine_new(), whose process had ended before it
 * was looked for: such a process is never listed.
 */
uint64_t engine_came_dead(const struct engine *l);

/* Those that run, and those that have just ended, in order of number. */
size_t engine_count(const struct engine *l);
struct engine_process *engine_at(const struct engine *l, size_t i);

/* Calls `each` for all sites in use, by id, until it returns false. */
void engine_each_site(const struct engine *l, const struct engine_process *p,
    bool (*each)(void *context, const struct engine_site *s), void *context);

/*
 * Live bytes of a site in a look of the last LIVE_LOOKS; above 64 KiB rounded
 * down, by at most a 32768th of the largest one of the last 256 looks.
 */
uint64_t engine_site_then(
    const struct engine_process *p, const struct engine_site *s, uint64_t look);

/* What there was no room for. */
struct engine_missing {
	uint64_t processes; /* not listed */
	uint64_t files;     /* not looked into */
	uint64_t unkept;    /* listed, but opened anew for each look */
};
struct engine_missing engine_missing(const struct engine *l);

/*
 * For a child before it calls execve(): the limit of descriptors is again the
 * one that this process was started with.
 */
void engine_before_exec(void);

/* From now on "since" means since now: z of `seep top`. */
void engine_set_base(struct engine *l, struct engine_process *p);

/*
 * The file and slot of a process, open while the process is listed. NULL: there
 * are not enough descriptors for all, see engine_missing.unkept.
 */
const struct segfile *engine_segfile(
    const struct engine *l, const struct engine_process *p, int *ret_slot);

/*
 * Where the file is: a descriptor of its directory, which stays the engine's, and
 * its name there; both are valid until the next look. -1: it has no name any
 * more, or was found by the memory map of its process.
 */
int engine_directory(const struct engine *l, const struct engine_process *p, const char **ret_path,
    const char **ret_name);

/*
 * Somebody who knows says that this process has ended. It is listed as such, if
 * that has not been so before. For engine_plan.keep_the_ended. -ENOENT: its segment
 * is not there any more; -ENOBUFS: there is no room until others are forgotten;
 * -ENOMEM; errors as of segfile_open().
 */
int engine_has_ended(struct engine *l, const struct live_key *key);

/* Its user has what it wants: an ended process goes. */
void engine_forget(struct engine *l, struct engine_process *p);

#endif
