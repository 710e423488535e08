/* hostile_live_map.c - writes nonsense into its own live map: who looks at it must come to an end. */
/* SPDX-License-Identifier: Apache-2.0 */
/* flags: -Isrc */
/*
 * hostile_live_map circle|wild|sizes|full|ours: finds its segment in its memory
 * map, and in that the live map. Says "ready PID", waits for the end of input.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "format/format.h"

enum { ROOTS = 4096, MIDS = 32768, LEAF_CELLS = 32768 };

static struct seg_header header;

static int find_segment(void)
{
	FILE *f = fopen("/proc/self/maps", "r");
	char line[4096], *path;

	while (f && fgets(line, sizeof(line), f)) {
		path = strchr(line, '/');
		if (!path || !strstr(path, ".seg\n"))
			continue;
		path[strcspn(path, "\n")] = '\0';
		int fd = open(path, O_RDONLY);
		ssize_t n = pread(fd, &header, sizeof(header), 0);

		close(fd);
		fclose(f);
		return n == sizeof(header) && header.live_root != 0;
	}
	return 0;
}

static uint64_t *table(size_t words)
{
	uint64_t *p =
	    mmap(NULL, words * 8, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		abort();
	return p;
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "circle";
	uint64_t *root, *mid = table(MIDS), *leaf = table(LEAF_CELLS);
	uint64_t seed = 1;
	char byte;

	for (int i = 0; i < 100; i++)
		if (!malloc(100))
			return 1;
	if (!find_segment())
		return 1;
	root = (uint64_t *)(uintptr_t)header.live_root;
	for (int i = 0; i < MIDS; i++)
		mid[i] = (uint64_t)(uintptr_t)leaf;
	for (int i = 0; i < LEAF_CELLS; i += 2) {
		uint64_t size = strcmp(how, "sizes") == 0 ? 63 : i % 60;

		leaf[i] = (uint64_t)(i % 1000 + 1) << 38 | size << 32;
		if (size == 63) /* the next cell has it */
			leaf[i + 1] = UINT64_C(1) << (i / 2 % 64);
	}
	if (strcmp(how, "circle") == 0) {
		/* a table of leaves that is a table of tables, too */
		mid[0] = (uint64_t)(uintptr_t)mid;
		memset(leaf, 0, LEAF_CELLS * 8);
		for (int i = 0; i < ROOTS; i++)
			root[i] = (uint64_t)(uintptr_t)mid;
	} else if (strcmp(how, "wild") == 0) {
		for (int i = 0; i < ROOTS; i += 2) {
			seed = seed * UINT64_C(6364136223846793005) + 1;
			root[i] = seed;
		}
	} else if (strcmp(how, "sizes") == 0) {
		root[100] = (uint64_t)(uintptr_t)mid;
		for (int i = 64; i < MIDS; i++)
			mid[i] = 0;
	} else {
		for (int i = 0; i < ROOTS; i++)
			root[i] = (uint64_t)(uintptr_t)mid;
	}
	printf("ready %d\n", (int)getpid());
	fflush(stdout);
	while (read(0, &byte, 1) > 0)
		;
	_exit(0);
}
