/* kernel.h - what the collector asks the kernel when a process starts. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_KERNEL_H
#define SEEP_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"

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

#endif
