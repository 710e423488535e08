/* perfmap.h - functions made by a run-time compiler: /tmp/perf-PID.map. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_PERFMAP_H
#define SEEP_PERFMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct opener;

struct perfmap_process {
	uint32_t pid;      /* in its own pid namespace */
	pid_t running_pid; /* its pid in our namespace while it runs, else 0 */
	uint64_t start_ns; /* start time, since 1970 */
	int root_fd;       /* its root, open in this process; 0: it is not */
};

/*
 * For the parent. The file must be a regular file that belongs to the process's
 * user (to us, if the process has ended) or to root, and it must not be older
 * than the process. If ret_fd is NULL, this only checks. -ENOENT: there is
 * none; -EPERM: it belongs to somebody else; -ESTALE: of an earlier process
 * with that pid; -ETIMEDOUT.
 */
int perfmap_open(struct opener *o, const struct perfmap_process *p, int *ret_fd);

enum { PERFMAP_MAX_BYTES = 64 << 20, PERFMAP_MAX_LINES = 2000000 };

/* What the lines of a map did not give. */
struct perfmap_gaps {
	/* there were more lines, and addresses that got no name so far */
	bool is_cut;
	size_t malformed; /* lines that were skipped */
};

/* name has no NUL; called once for each address. */
typedef void perfmap_found(void *context, size_t number, const char *name, size_t len);

/*
 * For the jail: the file is untrusted. Addresses are sorted. If several lines
 * contain an address, the last one counts, so only the end of a long file is
 * read, and no line before those that name all addresses. Takes time in
 * proportion to lines plus addresses. -ENOMEM, -EIO.
 */
int perfmap_read(int fd, const uint64_t *addresses, size_t count, perfmap_found *found,
    void *context, struct perfmap_gaps *ret);

#endif
