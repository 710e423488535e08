/* roster_newcomers.h - processes of the machine that were not seen before. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_ROSTER_NEWCOMERS_H
#define SEEP_ROSTER_NEWCOMERS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * A process in another mount namespace, or with a SEEP_DIR of its own, has its
 * segment where we do not look. Its memory map tells. That costs, so the map of
 * each process (pid and start) is read twice: when it is 1 s old, by when a
 * collector has started, and when it is 10 s old, by when most services have
 * become the program that they are.
 */
struct roster_newcomers;

struct roster_newcomers *roster_newcomers_new(void); /* NULL: no memory */
void roster_newcomers_free(struct roster_newcomers *n);

/* Called for a process that maps a segment. -ENOMEM ends the look. */
typedef int roster_newcomer(void *context, pid_t pid);

/* Need the map of this process not be read, because it is known already? */
typedef bool roster_is_known(void *context, pid_t pid);

/*
 * Looks at the maps of those that are due, for at most `budget_ns`; the others are due at
 * the next call. -ENOMEM.
 */
int roster_newcomers_look(struct roster_newcomers *n, uint64_t budget_ns, roster_is_known *is_known,
    roster_newcomer *each, void *context);

/*
 * The process of a pid namespace below ours that has this pid there, maps the
 * file, and may have written the header: the youngest one. 0: there is none;
 * *ret_hidden: one may be, but its map cannot be read. /proc is listed again if
 * the list is older than `since_ns` of CLOCK_MONOTONIC.
 */
struct seg_header;
struct source;
pid_t roster_newcomers_search(struct roster_newcomers *n, const struct seg_header *h,
    const struct source *file, uint64_t since_ns, bool *ret_hidden);

/* It is another program now: its map is read again. */
void roster_newcomers_again(struct roster_newcomers *n, pid_t pid);

#endif
