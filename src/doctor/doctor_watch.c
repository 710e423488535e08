/* doctor_watch.c - does seep watch write a history? */
/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "doctor/doctor_parts.h"
#include "reader/history.h"
#include "trace/chapter_name.h"

/*
 * The process that holds the lock, 0: none. The lock itself is not tried: for
 * that moment a watch that starts would find it taken.
 */
static int
holder_of(const struct stat *st)
{
	FILE *f = fopen("/proc/locks", "re");
	char line[256], kind[16];
	int holder = 0;

	while (f && !holder && fgets(line, sizeof(line), f)) {
		unsigned major_number, minor_number;
		uint64_t inode;
		int pid;

		if (sscanf(line, "%*d: %15s %*s %*s %d %x:%x:%" SCNu64, kind,
		        &pid, &major_number, &minor_number, &inode) == 5 &&
		    strcmp(kind, "FLOCK") == 0 && inode == st->st_ino &&
		    major_number == major(st->st_dev) &&
		    minor_number == minor(st->st_dev))
			holder = pid ? pid : -1;
	}
	if (f)
		(void)fclose(f);
	return holder;
}

/* False: there is no history here, or nobody writes it. */
static bool
runs_in(struct doctor_report *r, const char *path)
{
	char lock[HISTORY_PATH_BYTES + 16];
	struct stat st;
	int pid;

	(void)snprintf(lock, sizeof(lock), "%s/" CHAPTER_NAME_LOCK_FILE, path);
	if (stat(lock, &st) < 0) {
		if (errno == EACCES)
			doctor_add(r, DOCTOR_OK, "watch", NULL,
			    "the history in %s is not for this user, so it is "
			    "not known whether seep watch writes it",
			    path);
		return errno == EACCES;
	}
	pid = holder_of(&st);
	if (pid)
		doctor_add(r, DOCTOR_OK, "watch", NULL,
		    "seep watch (pid %d) writes the history in %s", pid, path);
	return pid != 0;
}

void
doctor_watch(struct doctor_report *r)
{
	char path[HISTORY_PATH_BYTES];

	for (int i = 0; i < HISTORY_DEFAULTS; i++)
		if (history_default(i, path) && runs_in(r, path))
			return;
	doctor_add(r, DOCTOR_OK, "watch", NULL,
	    "no seep watch writes a history in the usual place");
}
