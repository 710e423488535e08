/* memory_group.h - limit, use and OOM kills of memory cgroups. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_MEMORY_GROUP_H
#define SEEP_MEMORY_GROUP_H

#include <stdbool.h>
#include <stdint.h>

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

#endif
