/* doctor_calls.c - system calls of the collector against a filter. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "attach/doctor/doctor_calls.h"

#include <string.h>

static const struct doctor_call calls[] = {
    /* the loader needs these as well, so each program has them */
    {"close", true},
    {"mmap", true},
    {"mprotect", true},
    {"newfstatat", true},
    {"openat", true},
    {"pread64", true},
    {"read", true},
    /* the segment */
    {"fchmod", true},
    {"fstat", true},
    {"fstatfs", true},
    {"ftruncate", true},
    {"geteuid", true},
    {"mkdirat", true}, /* at the first start of a user */
    {"pwrite64", true},
    {"madvise", false},
    {"mremap", false},
    {"munmap", false},
    {"unlinkat", false},
    /* what the header says */
    {"capget", false},
    {"getcwd", false},
    {"getpid", false},
    {"getppid", false},
    {"getrandom", false},
    {"getresuid", false},
    {"gettid", false},
    {"prctl", false},
    {"prlimit64", false},
    {"readlinkat", false},
    /* forked children that may become other users */
    {"fallocate", false},
    {"flock", false},
    {"linkat", false},
    /* files that are written later: snapshots, SEEP_PRIVATE */
    {"faccessat", false},
    {"fcntl", false},
    {"renameat2", false},
};

const struct doctor_call *doctor_calls(size_t *ret_count)
{
	*ret_count = sizeof(calls) / sizeof(calls[0]);
	return calls;
}

bool doctor_calls_forbids(const char *filter, const char *name)
{
	bool is_deny = filter[0] == '~', is_listed = false, is_refused = false;
	size_t len = strlen(name);

	if (!filter[0])
		return false;
	for (const char *at = filter + is_deny; *at;) {
		size_t n = strcspn(at, " ");

		if (n >= len && memcmp(at, name, len) == 0 && (n == len || at[len] == ':')) {
			is_listed = true;
			is_refused = n > len; /* name:EPERM */
		}
		at += n + strspn(at + n, " ");
	}
	return is_deny ? is_listed : !is_listed || is_refused;
}
