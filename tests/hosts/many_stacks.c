/* many_stacks.c - some ten thousand distinct stacks: exact, or lost by name, never a host harmed. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>

#define SITES(X) X(alloc_leaf)
#include "../lib/ledger.h"

/*
 * many_stacks [BITS [FILE [MIB]]]: 2^BITS stacks; half way it makes FILE of
 * MIB mebibytes (0: as much as there is room), maps and touches it, as a
 * host does that shares /dev/shm with us.
 */
SITE_FN static void alloc_leaf(unsigned path)
{
	void *p = led_keep(malloc(100));

	led_check(p, "malloc");
	led_alloc(L_alloc_leaf, 100);
	if (path % 8) {
		led_free(L_alloc_leaf, 100);
		free(p);
	}
}

static void descend(unsigned path, int bits);

SITE_FN static void left(unsigned path, int bits)
{
	descend(path, bits - 1);
	__asm__ volatile("" ::: "memory");
}

SITE_FN static void right(unsigned path, int bits)
{
	descend(path, bits - 1);
	__asm__ volatile("" ::: "memory");
}

SITE_FN static void descend(unsigned path, int bits)
{
	if (bits == 0)
		alloc_leaf(path);
	else if (path >> (bits - 1) & 1)
		right(path, bits);
	else
		left(path, bits);
	__asm__ volatile("" ::: "memory");
}

static void take_shared_memory(const char *path, size_t mib)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	size_t size = mib << 20;

	led_check(fd >= 0, "open");
	if (mib == 0) {
		static const char zeros[4096];

		while (write(fd, zeros, sizeof(zeros)) > 0)
			size += sizeof(zeros); /* until ENOSPC */
		close(fd);
		return;
	}
	led_check(ftruncate(fd, (off_t)size) == 0, "ftruncate");
	char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	led_check(p != MAP_FAILED, "mmap");
	memset(p, 1, size); /* SIGBUS here: somebody ate the room */
	munmap(p, size);
	close(fd);
}

int main(int argc, char **argv)
{
	int bits = argc > 1 ? atoi(argv[1]) : 13;

	for (unsigned path = 0; path < 1u << bits; path++) {
		if (path == 1u << (bits - 1) && argc > 2)
			take_shared_memory(argv[2], argc > 3 ? strtoul(argv[3], NULL, 10) : 0);
		descend(path, bits);
	}
	led_print(1);
	return 0;
}
