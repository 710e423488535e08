/* crowd.c - one file with all slots taken by itself, under many names, all mapped: lists of it must end. */
/* SPDX-License-Identifier: Apache-2.0 */
/* flags: -Isrc */
/*
 * usage: crowd DIRECTORY NAMES [other]: traced, so that it has a header to
 * copy. Runs until it is killed. other: as if in another pid namespace.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../lib/own_segment.h"

enum { SLOTS_AT = SEG_HEADER_BYTES, FIRST = 4096 + SEG_EARLY * 64 };

static void put(int fd, const void *bytes, size_t len, off_t at)
{
	if (pwrite(fd, bytes, len, at) != (ssize_t)len) {
		perror("write");
		exit(1);
	}
}

int main(int argc, char **argv)
{
	struct seg_header h;
	struct seg_slots slots = {.magic = SEG_SLOT_MAGIC,
	    .count = SEG_SLOTS,
	    .slot_bytes = SEG_HEADER_BYTES,
	    .small_bytes = SEG_HEADER_BYTES,
	    .first_offset = FIRST,
	    .early_offset = 4096,
	    .early_count = SEG_EARLY};
	struct seg_early early = {
	    .state = SEG_EARLY_COUNTING, .pid = (uint32_t)getpid(), .allocations = 1};
	size_t len = SLOTS_AT + FIRST + (size_t)SEG_SLOTS * SEG_HEADER_BYTES;
	char first[4096], name[4096];
	int fd;

	if (argc < 3)
		return 2;
	memcpy(&h, own_segment(), sizeof(h));
	h.dir_used = h.dir_capacity = 0;
	h.start_jiffies = 0;
	h.live_root = 0;
	h.slots_offset = SLOTS_AT;
	if (argc > 3)
		h.pid_ns++;
	memset(slots.taken, 1, sizeof(slots.taken));
	snprintf(first, sizeof(first), "%s/crowd-%d-0.seg", argv[1], getpid());
	fd = open(first, O_RDWR | O_CREAT | O_EXCL, 0600);
	if (fd < 0 || ftruncate(fd, (off_t)len) < 0)
		return 1;
	put(fd, &h, sizeof(h), 0);
	put(fd, &slots, sizeof(slots), SLOTS_AT);
	for (int i = 0; i < SEG_EARLY; i++)
		put(fd, &early, sizeof(early), SLOTS_AT + 4096 + i * (off_t)sizeof(early));
	h.slots_offset = 0;
	for (int i = 0; i < SEG_SLOTS; i++) {
		h.uuid[0] = (uint8_t)i;
		h.uuid[1] = (uint8_t)(i >> 8);
		put(fd, &h, 4096, SLOTS_AT + FIRST + (off_t)i * SEG_HEADER_BYTES);
	}
	for (int i = 1; i < atoi(argv[2]); i++) {
		snprintf(name, sizeof(name), "%s/crowd-%d-%d.seg", argv[1], getpid(), i);
		if (link(first, name) < 0)
			return 1;
	}
	if (mmap(NULL, len, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED)
		return 1;
	puts("ready");
	fflush(stdout);
	for (;;)
		pause();
}
