/* fork.h - fork(): what the parent does before it, and what the child does. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_FORK_H
#define SEEP_FORK_H

#include <stdbool.h>

#include "format/format.h"

/*
 * Installs the handlers of fork(). False: neither they nor the kernel would
 * tell a child that it is one. Start-up, after kernel_probe().
 */
bool fork_watch(void);

/*
 * Decides whether each child gets a file of its own (child_file.h), because it
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

#endif
