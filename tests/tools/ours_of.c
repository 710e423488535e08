/* ours_of.c - the memory of a running process that is the collector's. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "segments/blocks/our_ranges.h"
#include "session/load/session.h"

/* usage: ours_of PID: a line for each range, START and END */
static int print(uint64_t start, uint64_t end, void *arg)
{
	(void)arg;
	printf("%" PRIx64 " %" PRIx64 "\n", start, end);
	return 0;
}

int main(int argc, char **argv)
{
	pid_t pid = argc == 2 ? (pid_t)strtol(argv[1], NULL, 10) : 0;
	struct our_ranges r = {.add = print};
	struct fault where = {""};
	struct session *s = NULL;
	int err = pid > 0 ? session_load_pid(pid, &s, &where) : -1;

	for (size_t i = 0; err == 0 && i < s->count; i++)
		if (s->processes[i]->running_pid == pid)
			err = our_ranges_read(&r, pid, &s->processes[i]->header);
	if (r.is_partial)
		err = -1;
	session_free(s);
	if (err < 0)
		(void)fprintf(stderr, "ours_of: %d %s %s\n", err, where.text, r.why.text);
	return err < 0;
}
