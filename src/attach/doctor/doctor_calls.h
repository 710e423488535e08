/* doctor_calls.h - system calls of the collector against a filter. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_DOCTOR_CALLS_H
#define SEEP_DOCTOR_CALLS_H

#include <stdbool.h>
#include <stddef.h>

struct doctor_call {
	const char *name;
	/*
	 * Without it there is no segment. Without another one, something is
	 * missing in what is recorded, or nothing.
	 */
	bool is_needed;
};

/*
 * All system calls that a collector makes at its start, in a forked child and
 * at the end. tests/cli/doctor_knows_the_calls.bats compares the list with what
 * strace sees.
 */
const struct doctor_call *doctor_calls(size_t *ret_count);

/*
 * Does a filter as systemctl show prints it (SystemCallFilter=, names between
 * spaces, "~" before a list of what is forbidden) forbid this call?
 */
bool doctor_calls_forbids(const char *filter, const char *name);

#endif
