/* fork.h - fork(), and code whose allocations do not come to us. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_FORK_H
#define SEEP_FORK_H

#include <stdbool.h>

#include "base/attr.h"
#include "format/format.h"

/*
 * Installs the handlers of fork(). False: neither they nor the kernel would
 * tell a child that it is one. Start-up, after kernel_probe().
 */
bool fork_watch(void);

/*
 * Decides whether each child gets a file of its own (early.h), because it
 * might become another user. Start-up, after kernel_probe().
 */
void fork_decide(void);
bool fork_has_own_files(void);

/*
 * Keeps a private copy of the header, from which a child takes what is true of
 * both. Start-up, when the header is complete.
 */
void fork_remember(const struct seg_header *h);

/*
 * In a child, by its first event, by one thread: gives it a segment and new
 * tables. Calls lifecycle_go_inert() if that fails. See lifecycle_running().
 */
void fork_set_up_child(void);

/*
 * Before the first fork of a family whose children have files of their own:
 * makes the counter that all of them share. False: no memory, so a child that
 * cannot make its file would go unnoticed.
 */
bool fork_count_family(void);

/* This process is not recorded. Counted once, where that outlives it. */
void fork_count_untraced(void);

/* By the first of a family: writes the counter into its segment. */
void fork_sum_up(void);

/* ---- unhooked: code whose allocations do not come to us ---- */

/*
 * Objects that dlmopen or LD_AUDIT load are bound to a libc of their own, so
 * their calls do not come to us. We cannot record them, but we can say so. The
 * loader keeps a list for debuggers, which only grows and is never freed, so it
 * is read without a lock. `debug` is _r_debug; if it is NULL, or glibc is older
 * than 2.35, nothing is known. Libraries before us in the search order that
 * have a malloc are counted, too: they are called instead of us, and may or may
 * not call us.
 *
 * If the host has another allocator than libc's, objects are counted that call
 * functions of this allocator which are not hooked (mallocx of jemalloc without
 * libseep-jemalloc.so). Objects that are loaded later are not looked at.
 */
void unhooked_init(const void *debug, bool is_other_allocator);

/* Writes these counts into the header of a new segment. */
void unhooked_tell(void);

/*
 * A module is about to be loaded with RTLD_DEEPBIND. It and its dependencies
 * find malloc in libc before they find ours. This is counted, and marked if
 * there is a segment; otherwise unhooked_tell() writes it later.
 */
void unhooked_deepbind(const char *file, bool tell);

extern SEEP_HIDDEN const int *unhooked_version;

/* Counts them into the header. */
void unhooked_count(void);

/* Called now and then by a thread in a hook; one load. */
SEEP_INLINE void unhooked_look(void)
{
	if (unlikely(LOAD_ACQUIRE(unhooked_version) > 1))
		unhooked_count();
}

#endif
