/* blocks_of.c - the blocks of a running process as its live map has them. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "segments/blocks/our_ranges.h"
#include "segments/blocks/live_map.h"
#include "session/load/session.h"

/*
 * usage: blocks_of PID
 * A line for each block, inherited ones too: BLOCK, address, size. Then EXACT,
 * or INEXACT where the collector is older; then IGNORED and the address of each
 * block that is kept on purpose.
 */
enum { ROOM = 1 << 20 };

static struct live_map_block blocks[ROOM];
static size_t count;

static int print_ignored(const struct ignored_block *ignored, void *arg)
{
	(void)arg;
	for (size_t i = 0; i < count; i++)
		if (blocks[i].address == ignored->address && blocks[i].site == ignored->site &&
		    blocks[i].birth == ignored->birth)
			printf("IGNORED %" PRIx64 "\n", ignored->address);
	return 0;
}

static bool print(const struct live_map_block *b, void *arg)
{
	(void)arg;
	if (count < ROOM)
		blocks[count++] = *b;
	printf("BLOCK %" PRIx64 " %" PRIu64 "\n", b->address, b->size);
	return true;
}

int main(int argc, char **argv)
{
	pid_t pid = argc == 2 ? (pid_t)strtol(argv[1], NULL, 10) : 0;
	struct fault where = {""};
	struct session *s = NULL;
	int err = pid > 0 ? session_load_pid(pid, &s, &where) : -1;

	for (size_t i = 0; err == 0 && i < s->count; i++) {
		struct live_map m = {.each = print, .wants_inherited = true};

		if (s->processes[i]->running_pid != pid)
			continue;
		err = live_map_read(&m, pid, &s->processes[i]->header, UINT64_MAX);
		if (err == 0)
			puts(m.is_exact ? "EXACT" : "INEXACT");
		if (err == 0)
			err = ignored_blocks_read(
			    pid, NULL, &s->processes[i]->header, print_ignored, NULL, &where);
		if (m.is_partial || !m.bytes_known)
			err = -1;
		live_map_release(&m);
	}
	session_free(s);
	if (err < 0)
		(void)fprintf(stderr, "blocks_of: %d %s\n", err, where.text);
	return err < 0;
}
