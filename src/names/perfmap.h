/* perfmap.h - functions that a run-time compiler has made: /tmp/perf-PID.map. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_NAMES_PERFMAP_H
#define SEEP_NAMES_PERFMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct opener;

struct perfmap_process {
	uint32_t pid;      /* in its own pid namespace */
	pid_t running_pid; /* in ours while it runs, else 0 */
	uint64_t start_ns; /* since 1970 */
};

/*
 * For the parent. The file must be a plain file of the process's user (of
 * ours, when the process is no more) or of root, and not older than the
 * process. ret_fd NULL: is it there? -ENOENT: there is none; -EPERM: somebody
 * else's; -ESTALE: of an earlier process with that pid; -ETIMEDOUT.
 */
int perfmap_open(
    struct opener *o, const struct perfmap_process *p, int *ret_fd);

enum { PERFMAP_MAX_BYTES = 64 << 20, PERFMAP_MAX_LINES = 2000000 };

/* name is not terminated; each address once. */
typedef void perfmap_found(
    void *context, size_t number, const char *name, size_t len);

/*
 * For the jail: the file is untrusted. Addresses are in order. Of several
 * lines for one address the last counts, so that it is the end of a longer
 * file that is read; *ret_cut: there was more, which could have had names of
 * addresses that got none. Takes time in
 * proportion to lines and addresses, not to their product. -ENOMEM, -EIO.
 */
int perfmap_read(int fd, const uint64_t *addresses, size_t count,
    perfmap_found *found, void *context, bool *ret_cut);

#endif
