/* perfmap.h - functions that a run-time compiler has made: /tmp/perf-PID.map. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_NAMES_PERFMAP_H
#define SEEP_NAMES_PERFMAP_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct perfmap_process {
	uint32_t pid;      /* in its own pid namespace */
	pid_t alive_pid;   /* in ours while it runs, else 0 */
	uint64_t start_ns; /* since 1970 */
};

/* name is not terminated; of several for one address the last counts. */
typedef void perfmap_found(
    void *context, size_t number, const char *name, size_t len);

/*
 * Addresses are in order. The file is untrusted: it must be a plain file of
 * the process's user (of ours, when the process is no more) or of root, and
 * not older than the process. -ENOENT: there is none; -EPERM: somebody else's;
 * -ESTALE: of an earlier process with that pid; -ENOMEM.
 */
int perfmap_read(const struct perfmap_process *p, const uint64_t *addresses,
    size_t count, perfmap_found *found, void *context);

#endif
