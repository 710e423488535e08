/* dead.c - finds the segment of a process that has ended. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "segments/find/dead.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/memory/foreign_file.h"

/* The youngest segment of this pid in one file; NONE: there is none. */
enum { NONE = -2 };

static int find_slot(const struct segfile *f, pid_t pid, uint64_t *ret_start_ns)
{
	uint8_t taken[SEGFILE_SLOTS];
	struct seg_header h;
	int found = NONE;

	segfile_taken(f, taken);
	for (int i = SEGFILE_OWN; i < segfile_slots(f); i++) {
		if ((i >= 0 && !taken[i]) || segfile_header(f, i, &h, NULL) < 0 ||
		    (pid_t)h.pid != pid || h.start_realtime_ns < *ret_start_ns)
			continue;
		*ret_start_ns = h.start_realtime_ns;
		found = i;
	}
	return found;
}

int dead_find(pid_t chooser, const char *directory, pid_t pid, struct dead *ret)
{
	char path[4096], *names = NULL;
	uint64_t start_ns = 0;
	size_t len = 0;

	ret->file = NULL;
	if (foreign_file_list(chooser, directory, &names, &len) < 0)
		len = 0;
	for (size_t at = 0; at < len; at += strlen(names + at) + 1) {
		const char *name = names + at;
		struct segfile *f;
		int slot;

		if (strlen(name) >= sizeof(ret->name) ||
		    (size_t)snprintf(path, sizeof(path), "%s/%s", directory, name) >=
		        sizeof(path) ||
		    segfile_open_of(chooser, path, &f, NULL) < 0)
			continue;
		slot = find_slot(f, pid, &start_ns);
		if (slot == NONE) {
			segfile_close(f);
			continue;
		}
		segfile_close(ret->file);
		ret->file = f;
		ret->slot = slot;
		(void)snprintf(ret->name, sizeof(ret->name), "%s", name);
	}
	free(names);
	return ret->file ? 0 : -ESRCH;
}
