/* map_in_swap - a part of its live map looks as if it were swapped out: the blocks there are missing, and a reader must say so. */
/* flags: -O1 -fno-builtin -Isrc */
/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../lib/own_segment.h"
#include "format/cell.h"

#ifndef UFFD_FEATURE_WP_UNPOPULATED
#define UFFD_FEATURE_WP_UNPOPULATED (1 << 13)
#endif

enum { BLOCKS = 20000, SIZE = 1000 };

/*
 * A mark of userfaultfd on a page that is not there is kept where the kernel
 * keeps the place of a page in swap, and pagemap shows both in the same way. So
 * no swap is needed. The marked pages must not be written to any more.
 */
static int mark(void *at, size_t bytes)
{
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY);
	struct uffdio_api api = {.api = UFFD_API,
	    .features = UFFD_FEATURE_PAGEFAULT_FLAG_WP | UFFD_FEATURE_WP_UNPOPULATED};
	struct uffdio_range range = {(uintptr_t)at, bytes};
	struct uffdio_register reg = {.range = range, .mode = UFFDIO_REGISTER_MODE_WP};
	struct uffdio_writeprotect wp = {.range = range, .mode = UFFDIO_WRITEPROTECT_MODE_WP};

	return fd >= 0 && ioctl(fd, UFFDIO_API, &api) == 0 &&
	    ioctl(fd, UFFDIO_REGISTER, &reg) == 0 && madvise(at, bytes, MADV_DONTNEED) == 0 &&
	    ioctl(fd, UFFDIO_WRITEPROTECT, &wp) == 0;
}

/* The cells of the MiB of memory in which this address is. */
static void *leaf_of(const struct seg_header *h, uint64_t address)
{
	const uint64_t *root = (const uint64_t *)(uintptr_t)h->live_root;
	const uint64_t *mid =
	    (const uint64_t *)(uintptr_t)root[address >> (CELL_LEAF_BITS + CELL_MID_BITS)];

	return (void *)(uintptr_t)mid[address >> CELL_LEAF_BITS & ((1 << CELL_MID_BITS) - 1)];
}

int main(void)
{
	static char *blocks[BLOCKS];
	const struct seg_header *h = own_segment();
	char byte;
	void *leaf;

	for (int i = 0; i < BLOCKS; i++) {
		blocks[i] = malloc(SIZE);
		if (!blocks[i])
			return 1;
		memset(blocks[i], 1, SIZE);
	}
	leaf = leaf_of(h, (uintptr_t)blocks[BLOCKS / 2]);
	if (!leaf || h->live_granule_bits != CELL_GRANULE_GLIBC)
		return 1;
	/* from here on nothing may allocate */
	if (mark(leaf, sizeof(uint64_t) << (CELL_LEAF_BITS - CELL_GRANULE_GLIBC)))
		(void)!write(1, "ready\n", 6);
	else
		(void)!write(1, "ready not\n", 10);
	while (read(0, &byte, 1) > 0)
		;
	_exit(0);
}
