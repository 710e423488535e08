/* procfs_group.h - cgroups and limits of a process. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_PROCFS_GROUP_H
#define SEEP_PROCFS_GROUP_H

#include "base/std.h"

enum {
	PROCFS_GROUP_NAME = 256, /* bytes of a name, with the zero */
	PROCFS_GROUP_PATH = 2048,
	PROCFS_GROUP_SHORT = 12, /* digits of a container's id that are shown */
};

/*
 * Names are those of cgroups, whose makers may be anybody: untrusted. At most
 * one of unit and container is there, the innermost one.
 */
struct procfs_group {
	/* of systemd, without ".service": "nginx", "postgresql@15-main" */
	char unit[PROCFS_GROUP_NAME];
	/* the beginning of its id, or its name; "": none */
	char container[PROCFS_GROUP_NAME];
	/* path of the memory cgroup as we see it; "": none, or out of sight */
	char memory[PROCFS_GROUP_PATH];
	size_t root_bytes; /* of that path, up to where the groups are mounted */
	bool is_v2;        /* the memory cgroup is one of version 2 */
};

/* -ESRCH: it cannot be read. */
int procfs_group_of(pid_t pid, struct procfs_group *ret);

/* The same from the text of the file, which is changed. */
void procfs_group_parse(char *text, struct procfs_group *ret);

/* ---- memory_group: limit, use and OOM kills of memory cgroups ---- */

/* Each group once, whatever the number of its processes. */
struct memory_groups;

struct memory_group {
	/*
	 * The smallest limit of the group and those above it, and what is used
	 * there. Without a limit: 0, and what the group itself uses.
	 */
	uint64_t limit, used;
};

struct memory_groups *memory_groups_new(void); /* NULL: no memory */
void memory_groups_free(struct memory_groups *all);

/* The group of a process, for memory_groups_leave(). NULL: no memory. */
struct procfs_group;
struct memory_group *memory_groups_join(
    struct memory_groups *all, const struct procfs_group *where);
void memory_groups_leave(struct memory_groups *all, struct memory_group *shown);

/*
 * Reads them again, those that are due: at most for about 5 ms, the others at
 * the next call.
 */
void memory_groups_look(struct memory_groups *all);

/*
 * Has the kernel killed a process of the group for lack of memory since the last
 * look, one that nobody has claimed yet? True: it is claimed now.
 */
bool memory_groups_claim_kill(struct memory_group *shown);
void memory_groups_unclaim_kill(struct memory_group *shown);

/* ---- oom: has the OOM killer of the kernel killed processes in our cgroup? ---- */

/* Number of processes it has killed there so far; 0 if nobody counts them. */
uint64_t oom_kills(void);

/* ---- limits: the limits of the memory of a running process ---- */

enum { AGING_LIMITS = 8 };

/* A bound of the memory of the process; numbers never change their meaning. */
enum aging_limit_kind {
	AGING_LIMIT_GROUP = 1,      /* memory.max, limit_in_bytes */
	AGING_LIMIT_GROUP_HIGH = 2, /* memory.high, soft_limit_in_bytes */
	AGING_LIMIT_SPACE = 3,      /* RLIMIT_AS */
	AGING_LIMIT_DATA = 4,       /* RLIMIT_DATA */
	AGING_LIMIT_MACHINE = 5,    /* MemTotal; used: what is not available */
};
struct aging_limit {
	uint32_t kind; /* enum aging_limit_kind, or one of a later version */
	uint64_t limit, used;
};

/*
 * The limits of its memory cgroups (of version 1 and 2, those above it too), of
 * RLIMIT_AS and RLIMIT_DATA, and of the machine; of each kind the one with the
 * least room. Page cache that the kernel can drop is not counted as used.
 * Returns how many.
 */
size_t limits_read(pid_t pid, struct aging_limit ret[AGING_LIMITS]);

/* Those of a memory cgroup and the ones above it alone. */
struct procfs_group;
size_t limits_of_group(const struct procfs_group *g, struct aging_limit ret[AGING_LIMITS]);

#endif
