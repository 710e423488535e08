/* preload.h - the libraries that are preloaded into a program. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_PRELOAD_H
#define SEEP_PRELOAD_H

#include <stdbool.h>
#include <stddef.h>

#include "kit/os/fault.h"

/* Finds a library of ours; false: it says why it cannot be used. */
bool preload_find(fault_say *say, const char *name, char *path, size_t bytes);

/*
 * Libraries beside libseep.so for the allocator that a program uses: its
 * operator new, and functions that only it has. Joined by colons; empty if there
 * is none. It says which one is missing.
 */
void preload_companions(fault_say *say, const char *allocator, char *ret, size_t bytes);

/*
 * Adds libseep-map.so to such a list. False: it is missing, and that was said,
 * or there is no room.
 */
bool preload_mappings(fault_say *say, char *list, size_t bytes);

#endif
