/* targets.h - the INPUTs of commands that follow what runs. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_TARGETS_H
#define SEEP_TARGETS_H

#include <stddef.h>
#include <sys/types.h>

/* As in struct live_plan; kept as long as the program runs. */
struct targets {
	const pid_t *pids; /* NULL: all */
	size_t pid_count;
	const char *const *directories; /* NULL at the end; NULL itself: all */
};

/*
 * All of them processes, or all of them directories of segments. Otherwise the
 * program prints one line and ends: 2 for wrong use, 3 for what cannot be read.
 */
void targets_take(const char *command, char **inputs, size_t count, struct targets *ret);

#endif
