/* kernel.h - what the kernel can do, and how much memory we may take. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_KERNEL_H
#define SEEP_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/vfs.h>

#include "base/attr.h"
#include "format/medium.h"

/* All functions are for the start and a forked child's set-up only. */

/* Which kinds of madvise() work here. */
struct kernel {
	bool honest;   /* refuses an invalid advice (qemu-user takes all) */
	bool wipe;     /* MADV_WIPEONFORK */
	bool populate; /* MADV_POPULATE_READ and MADV_POPULATE_WRITE */
};

/* Of this process; all false before kernel_probe(). */
extern SEEP_HIDDEN struct kernel kernel;

void kernel_probe(void);

/* What the kernel has told the process by getauxval(), libc's own (loader.h). */
unsigned long kernel_auxval(unsigned long type);

/* The soft limit `which` (RLIMIT_*); RLIM_INFINITY if there is none. */
uint64_t kernel_limit(int which);

/*
 * May a file have so many bytes? Whoever writes beyond RLIMIT_FSIZE gets
 * SIGXFSZ, which would end the host.
 */
bool kernel_allows_file(uint64_t bytes);

/*
 * getpid() or getppid(), by the number of the call. 0 means not known, because
 * a filter for system calls answered instead of the kernel.
 */
uint32_t kernel_pid(long call);

/* Never fails. Early in the boot the bytes are unlike others, but no secret. */
void kernel_random(void *to, uint64_t bytes);

/*
 * Reads up to bytes - 1 of a small file and adds a NUL. Returns the length, or
 * -1 if the file cannot be read; then the text is empty.
 */
long kernel_read_file(const char *path, char *to, size_t bytes);

/* ---- budget: how much memory a segment and our tables may take ---- */

/*
 * Bytes for a segment on the file system `fs`, a multiple of SEG_EXTENT_STEP:
 * SEEP_BUDGET if it is set, else 256 MiB, but no more than limits, the file
 * system and the memory cgroups allow. `populate` says that pages can be made
 * later one by one; without it the segment is small. Start-up.
 */
uint64_t budget_of_segment(const struct statfs *fs, bool populate);

/* The same for the chunks of the event log: SEEP_LOG_POOL bytes at most. */
uint64_t budget_of_log(const struct statfs *fs, bool populate);

/* Below this a segment is of no use. */
enum { BUDGET_MIN = MEDIUM_ROOM_MIN };

/*
 * How much private memory all our tables may take under the limits that are set
 * now (RLIMIT_AS, RLIMIT_DATA); UINT64_MAX if there is none. Start-up.
 */
uint64_t budget_of_tables(void);

#endif
