/* eventlogs.c - all event logs of an input, entry by entry. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "reader/eventlogs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "reader/listing.h"
#include "reader/logread.h"
#include "reader/proc.h"
#include "reader/segfile.h"
#include "trace/recording.h"
#include "util/text.h"

struct reading {
	eventlogs_each *each;
	void *context;
	struct logcode code;
	bool is_damaged;
	int count;
};

/* All that is in the pool of one process. */
static int
read_pool(
    struct reading *r, int dir, const char *name, const struct seg_header *h)
{
	struct logread *log;
	int err;

	if (h->log_state != SEG_LOG_ON)
		return 0;
	err = logread_open(dir, name, h->log_pool, h->uuid, false, &log);
	if (err == -ENOMEM)
		return err;
	r->is_damaged |= err < 0;
	if (err < 0)
		return 0; /* removed, or of another process by now */
	r->count++;
	do {
		r->code.head.words = r->code.head.runs = 0;
		err = logread_take(log, true, &r->code);
		if (err == -ENOMEM)
			break;
		r->is_damaged |= err < 0;
		err = r->code.head.words ? r->each(r->context, &r->code) : 0;
	} while (err == 0 && r->code.head.words > 0);
	logread_close(log);
	return err;
}

static int
read_slots(struct reading *r, int dir, const char *name,
    const struct segfile *f, int only)
{
	uint8_t taken[SEGFILE_SLOTS];
	struct seg_header h;
	int err = 0;

	segfile_taken(f, taken);
	for (int i = SEGFILE_OWN; i < segfile_slots(f) && err == 0; i++)
		if ((only == INT_MIN || i == only) &&
		    (i == SEGFILE_OWN || taken[i]) &&
		    segfile_header(f, i, &h, NULL) == 0)
			err = read_pool(r, dir, name, &h);
	return err;
}

static int
read_segment(struct reading *r, int dir, const char *name)
{
	struct segfile *f;
	int err = segfile_open(dir, name, &f, NULL);

	if (err < 0)
		return err == -ENOMEM ? err : 0; /* the session says why */
	err = read_slots(r, dir, name, f, INT_MIN);
	segfile_close(f);
	return err;
}

static bool
is_segment(const char *name)
{
	return name[0] != '.' && text_ends_with(name, ".seg");
}

static int
read_directory(struct reading *r, const char *path)
{
	int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct listing_names names = {0};
	int err = dir < 0 ? -errno : listing_read(dir, is_segment, &names);

	for (size_t i = 0; err == 0 && i < names.count; i++)
		err = read_segment(r, dir, names.names[i]);
	listing_release(&names);
	if (dir >= 0)
		(void)close(dir);
	return err;
}

/* An entry that makes no sense is left out. */
static int
read_entry(struct reading *r, const void *bytes, size_t len)
{
	int err = logcode_unpack(&r->code, bytes, len);

	if (err == -ENOMEM)
		return err;
	r->is_damaged |= err < 0;
	if (err < 0)
		return 0;
	r->count++;
	return r->each(r->context, &r->code);
}

static int
read_recording(struct reading *r, struct recording *b)
{
	int err, got;

	recording_only(b, RECORDING_LOG);
	do {
		const void *bytes;
		uint32_t type;
		size_t len;

		err = 0;
		got = recording_next(b, &type, &bytes, &len);
		if (got == -EBADMSG) {
			r->is_damaged = true;
			got = recording_resume(b) ? 1 : 0;
			continue;
		}
		if (got == 1)
			err = read_entry(r, bytes, len);
	} while (got == 1 && err == 0);
	return got < 0 ? got : err;
}

static int
read_file(struct reading *r, const char *path)
{
	const char *slash = strrchr(path, '/');
	struct recording *b;
	char dir[4096];
	int fd, err = recording_open(path, &b);

	if (err == 0) {
		err = read_recording(r, b);
		recording_close(b);
		return err;
	}
	if (err != -EINVAL)
		return err;
	(void)snprintf(dir, sizeof(dir), "%.*s",
	    slash ? (int)(slash - path) + 1 : 1, slash ? path : ".");
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	err = read_segment(r, fd, slash ? slash + 1 : path);
	(void)close(fd);
	return err;
}

static int
finish(struct reading *r, int err, bool *ret_damaged, const char *path,
    struct fault *where)
{
	logcode_release(&r->code);
	*ret_damaged = r->is_damaged;
	if (err < 0)
		return fault_set(where, err, "%s: %s", path, strerror(-err));
	return err ? err : r->count;
}

int
eventlogs_read(const char *path, eventlogs_each *each, void *context,
    bool *ret_damaged, struct fault *where)
{
	struct reading r = {.each = each, .context = context};
	struct stat st;
	int err;

	if (stat(path, &st) < 0)
		err = -errno;
	else if (S_ISDIR(st.st_mode))
		err = read_directory(&r, path);
	else
		err = read_file(&r, path);
	return finish(&r, err, ret_damaged, path, where);
}

int
eventlogs_read_pid(pid_t pid, eventlogs_each *each, void *context,
    bool *ret_damaged, struct fault *where)
{
	struct reading r = {.each = each, .context = context};
	struct segfile *f = NULL;
	char path[4096], *slash;
	int slot, fd, err = proc_open(pid, &f, &slot, path, where);

	if (err < 0)
		return err;
	slash = strrchr(path, '/');
	if (!slash) {
		segfile_close(f);
		return -EINVAL;
	}
	*slash = '\0';
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	err = fd < 0 ? -errno : read_slots(&r, fd, slash + 1, f, slot);
	if (fd >= 0)
		(void)close(fd);
	segfile_close(f);
	return finish(&r, err, ret_damaged, path, where);
}
