/* untraced.h - forked children that could not be recorded, counted. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_UNTRACED_H
#define SEEP_UNTRACED_H

#include <stdbool.h>

/*
 * Before the first fork of a family whose children have files of their own:
 * makes the counter that all of them share. False: no memory, so a child that
 * cannot make its file would go unnoticed.
 */
bool untraced_start_family(void);

/* In a forked child, which is not the first of its family. */
void untraced_restart(void);

/* This process is not recorded. Counted once, where that outlives it. */
void untraced_count(void);

/* By the first of a family: writes the counter into its segment. */
void untraced_sum_up(void);

#endif
