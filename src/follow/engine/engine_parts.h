/* engine_parts.h - what the files of engine.h share. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_ENGINE_PARTS_H
#define SEEP_ENGINE_PARTS_H

#include "follow/engine/engine.h"
#include "host/proc/procfs_group.h"
#include "follow/engine/pulse.h"
#include "segments/find/roster_places.h"
#include "segments/find/proc.h"

#define LIVE_MS UINT64_C(1000000)
#define LIVE_S  UINT64_C(1000000000)

enum { LIVE_BUCKETS = 4096 };

/* A slot of a file, or its own segment, whose header has been read. */
struct engine_slot {
	int slot;
	bool is_bound;   /* a listed process reads it */
	bool was_listed; /* its process is, or was; it is not listed again */
	/*
	 * No process was found, by what was read of /proc when the segment may
	 * have been new: to be looked at again.
	 */
	bool is_suspect;
	uint8_t uuid[16];
};

/* A segment file. It is known as long as it has a name, or a process. */
struct engine_file {
	struct engine_file *next; /* in its bucket */
	uint64_t device, inode;
	uint64_t place;       /* number of its directory; 0: found by a map */
	char *name;           /* in the directory; else a path from our root */
	pid_t pid;            /* whose map it was found by, or 0 */
	uint64_t seen;        /* when the directory was listed */
	bool is_gone;         /* it has no name any more */
	bool is_bad;          /* not a segment that we can read */
	uint8_t tries;        /* to read it, while nothing was found */
	struct segfile *open; /* kept open; NULL: it is not */
	size_t users;         /* processes that are listed */
	struct engine_slot *slots;
	size_t slot_count, slot_room;
	uint16_t *by_number; /* in slots[], + 1; NULL: no child so far */
};

/* A process with its public part first. */
struct engine_member {
	struct engine_process shown;
	struct engine_file *file;
	int slot;
	bool is_early;    /* a line of a child in its first events */
	bool is_lost;     /* the slot is not its own any more */
	int pidfd;        /* -1: none */
	bool is_settled;  /* its cause is known for good */
	bool has_claimed; /* an OOM kill of its group */
	struct pulse *pulse;
	struct memory_group *group;
	uint64_t start_jiffies, code_start, stack_start; /* 0: not known */
	uint64_t moved_ns;     /* when its counters or its clock last changed */
	uint64_t next_rows_ns; /* a huge ledger is read less often */
};

struct engine {
	struct engine_plan plan;
	pid_t *pids;
	uint64_t *pid_starts; /* of plan.pids: which process it is; 0: not yet */
	uint64_t start_ns;    /* CLOCK_MONOTONIC */
	uint64_t now_ns;      /* of this look */
	struct pulse_room room;
	int epoll;
	size_t fds_left;              /* descriptors that may still be kept */
	struct roster_places *places; /* NULL: only plan.pids */
	struct roster_newcomers *newcomers;
	bool want_newcomers; /* segments are looked for by maps, too */
	uint64_t own_pid_ns; /* 0: pids mean nothing to us */
	uint64_t next_newcomers_ns, next_pids_ns;
	struct memory_groups *groups;
	struct engine_file *buckets[LIVE_BUCKETS];
	size_t file_count;
	size_t turn; /* bucket whose unused files are looked at next */
	uint64_t generation;
	struct engine_member **members; /* in order of number */
	size_t count, room_count;
	uint64_t numbers;
	/* of /proc, in one look at the roster, or NULL */
	struct proc_cache *cache;
	uint64_t unlisted;  /* processes without room, in the last look */
	uint64_t came_dead; /* files whose process was not found at first */
};

static inline struct engine_member *engine_member_of(const struct engine_process *p)
{
	/* the public part is the first, and all are ours */
	return (struct engine_member *)(uintptr_t)p;
}

/* ---- roster.c ---- */

/* Who came; finds the slots of all files, or of new ones alone. -ENOMEM. */
int roster_look(struct engine *l, bool only_new);

/*
 * The file, open until roster_done(). NULL: it cannot be opened; *ret_err says
 * why.
 */
struct segfile *roster_open(struct engine *l, struct engine_file *f, int *ret_err);
void roster_done(struct engine_file *f, struct segfile *seg);

/* A process of the file leaves its slot, or reads it. */
void roster_unbind(struct engine_file *f, int slot);

/* As of engine_has_ended(). */
int roster_end(struct engine *l, const struct live_key *key);

void roster_release(struct engine *l);

/* ---- engine_member.c ---- */

/*
 * A slot has a segment that is new: lists its process, if it is wanted. -ENOMEM.
 * s->is_bound: does a listed process read it? s->is_suspect, in and out.
 */
int engine_member_arrive(struct engine *l, struct engine_file *f, const struct segfile *seg,
    struct engine_slot *s, const struct seg_header *h);

/* The same for one that is known to have ended. -ENOMEM, -ENOBUFS. */
int engine_member_arrive_ended(struct engine *l, struct engine_file *f, const struct segfile *seg,
    struct engine_slot *s, const struct seg_header *h);

/* Its counters, now. -ENOMEM. */
int engine_member_look(struct engine *l, struct engine_member *m);

/* It has ended: the last look, and the cause as far as it is known. */
void engine_member_end(struct engine *l, struct engine_member *m, enum engine_cause cause);

/* The cause may be known by now; nothing more will be, if `is_reaped`. */
void engine_member_ask(struct engine *l, struct engine_member *m, bool is_reaped);

/* May it be forgotten? */
bool engine_member_is_over(const struct engine *l, const struct engine_member *m);

void engine_member_free(struct engine *l, struct engine_member *m);

/* Does a listed process run with this pid, as we see it? */
struct engine_member *engine_member_running(const struct engine *l, pid_t pid);

#endif
