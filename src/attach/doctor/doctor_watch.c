/* doctor_watch.c - does seep watch write a history? */
/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "attach/doctor/doctor_parts.h"
#include "session/load/history.h"
#include "recording/file/chapter_name.h"

/* "1: FLOCK  ADVISORY  WRITE 123 00:2d:456 0 EOF": the 123; 0: another file. */
static long holder_in(char *line, const struct stat *st)
{
	enum { NUMBER, KIND, MODE, ACCESS, PID, FILE_ID, FIELDS };
	char *fields[FIELDS], *save = NULL, file[64];

	for (int i = 0; i < FIELDS; i++) {
		fields[i] = strtok_r(i ? NULL : line, " \n", &save);
		if (!fields[i])
			return 0;
	}
	(void)snprintf(file, sizeof(file), "%02x:%02x:%ju", (unsigned)major(st->st_dev),
	    (unsigned)minor(st->st_dev), (uintmax_t)st->st_ino);
	if (strcmp(fields[KIND], "FLOCK") != 0 || strcmp(fields[FILE_ID], file) != 0)
		return 0;
	return strtol(fields[PID], NULL, 10);
}

/*
 * The process that holds the lock, 0: none. The lock itself is not tried: for
 * that moment a watch that starts would find it taken.
 */
static long holder_of(const struct stat *st)
{
	FILE *f = fopen("/proc/locks", "re");
	char line[256];
	long holder = 0;

	while (f && !holder && fgets(line, sizeof(line), f))
		holder = holder_in(line, st);
	if (f)
		(void)fclose(f);
	return holder;
}

/* False: there is no history here, or nobody writes it. */
static bool runs_in(struct doctor_report *r, const char *path)
{
	char lock[HISTORY_PATH_BYTES + 16];
	struct stat st;
	long pid;

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
		    "seep watch (pid %ld) writes the history in %s", pid, path);
	return pid != 0;
}

void doctor_watch(struct doctor_report *r)
{
	char path[HISTORY_PATH_BYTES];

	for (int i = 0; i < HISTORY_DEFAULTS; i++)
		if (history_default(i, path) && runs_in(r, path))
			return;
	doctor_add(
	    r, DOCTOR_OK, "watch", NULL, "no seep watch writes a history in the usual place");
}
