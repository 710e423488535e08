/* eventlogs.c - all event logs of an input, entry by entry. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "reader/eventlogs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "reader/chapters.h"
#include "reader/listing.h"
#include "reader/logread.h"
#include "reader/proc.h"
#include "reader/segfile.h"
#include "trace/recording.h"
#include "util/text.h"

struct reading {
	struct eventlogs_wish wish;
	struct eventlogs_result result;
	struct logcode code;
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
	r->result.is_damaged |= err < 0;
	if (err < 0)
		return 0; /* removed, or of another process by now */
	r->count++;
	do {
		r->code.head.words = r->code.head.runs = 0;
		err = logread_take(log, true, &r->code);
		if (err == -ENOMEM)
			break;
		r->result.is_damaged |= err < 0;
		err = r->code.head.words
		    ? r->wish.each(r->wish.context, &r->code)
		    : 0;
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

/* An entry that makes no sense is left out. */
static int
read_entry(struct reading *r, const void *bytes, size_t len)
{
	int err = logcode_unpack(&r->code, bytes, len);

	if (err == -ENOMEM)
		return err;
	r->result.is_damaged |= err < 0;
	if (err < 0)
		return 0;
	r->count++;
	r->result.read++;
	return r->wish.each(r->wish.context, &r->code);
}

/*
 * The index behind the log's entry `log`. False: there is none that is sound and
 * belongs to this entry, so it has to be read.
 */
static bool
find_index(struct recording *b, const struct recording_place *log,
    struct logindex *ret, struct recording_place *ret_place)
{
	const void *bytes;
	uint32_t type;
	size_t len;

	if (recording_peek(b, ret_place) != 1 ||
	    ret_place->type != RECORDING_LOG_INDEX)
		return false;
	return recording_next(b, &type, &bytes, &len) == 1 &&
	    type == RECORDING_LOG_INDEX &&
	    logindex_open(ret, bytes, len) == 0 && ret->head.crc == log->crc &&
	    ret->head.bytes == log->next - log->offset;
}

/*
 * Passes over the next entry by its index, if that is wanted. 1: it has; 0: it
 * is to be read; or an error. *ret_head: of the entry, as its index has it.
 */
static int
pass_entry(struct reading *r, struct recording *b, bool *ret_has_index,
    struct logcode_head *ret_head)
{
	struct recording_place log, place;
	enum eventlogs_way way = EVENTLOGS_READ;
	struct logindex x;
	int err = 0;

	*ret_has_index = false;
	if (!r->wish.choose || recording_peek(b, &log) != 1 ||
	    log.type != RECORDING_LOG)
		return 0;
	recording_go_behind(b, &log);
	*ret_has_index = find_index(b, &log, &x, &place);
	if (*ret_has_index) {
		*ret_head = x.head.log;
		way = r->wish.choose(r->wish.context, ret_head);
	}
	if (way == EVENTLOGS_READ) {
		recording_go_to(b, &log);
		return 0;
	}
	r->count++;
	if (way == EVENTLOGS_SKIP) {
		r->result.skipped++;
		err = r->wish.skip(r->wish.context, &x);
	} else {
		r->result.dropped++;
	}
	recording_go_behind(b, &place);
	return err < 0 ? err : 1;
}

static int
read_recording(struct reading *r, struct recording *b)
{
	int err, got;

	recording_only(b, RECORDING_LOG);
	if (r->wish.choose)
		recording_also(b, RECORDING_LOG_INDEX);
	do {
		struct logcode_head head;
		const void *bytes;
		bool has_index;
		uint32_t type;
		size_t len;

		got = pass_entry(r, b, &has_index, &head);
		err = 0;
		if (got != 0)
			continue;
		got = recording_next(b, &type, &bytes, &len);
		if (got == -EBADMSG) {
			r->result.is_damaged = true;
			got = recording_resume(b) ? 1 : 0;
			continue;
		}
		if (got != 1 || type != RECORDING_LOG)
			continue;
		if (has_index &&
		    (len < sizeof(head) ||
		        memcmp(bytes, &head, sizeof(head)) != 0))
			r->result.is_damaged = r->result.is_index_wrong = true;
		err = read_entry(r, bytes, len);
	} while (got == 1 && err == 0);
	return got < 0 ? got : err;
}

/* Files beside a segment belong to it. */
static bool
is_input(const char *name)
{
	return name[0] != '.' && !segfile_is_beside(name);
}

/* A recording in a folder; one that cannot be read is the session's to name. */
static int
read_beside(struct reading *r, int dir, const char *folder, const char *name)
{
	struct recording *b;
	char *path;
	int err;

	if (!listing_is_own(dir, name))
		return 0;
	if (asprintf(&path, "%s/%s", folder, name) < 0)
		return -ENOMEM;
	err = recording_open_entry(path, &b);
	free(path);
	if (err == -ENOMEM)
		return err;
	if (err < 0)
		return 0;
	err = read_recording(r, b);
	recording_close(b);
	return err;
}

static int
read_directory(struct reading *r, const char *path)
{
	int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct listing_names names = {0};
	struct chapters_order order = {0};
	int err = dir < 0 ? -errno : listing_read(dir, is_input, &names);

	if (err == 0)
		err = chapters_sort(&names, &order);
	for (size_t i = 0; err == 0 && i < order.count; i++)
		err = read_beside(r, dir, path, order.list[i]);
	for (size_t i = 0; err == 0 && i < names.count; i++) {
		const char *name = names.names[i];

		if (text_ends_with(name, ".seg"))
			err = read_segment(r, dir, name);
		else if (!chapters_has(name))
			err = read_beside(r, dir, path, name);
	}
	free(order.list);
	listing_release(&names);
	if (dir >= 0)
		(void)close(dir);
	return err;
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
finish(struct reading *r, int err, const char *path, struct fault *where)
{
	logcode_release(&r->code);
	if (err < 0)
		return fault_set(where, err, "%s: %s", path, strerror(-err));
	return err ? err : r->count;
}

static int
read_path(struct reading *r, const char *path, struct fault *where)
{
	struct stat st;
	int err;

	if (stat(path, &st) < 0)
		err = -errno;
	else if (S_ISDIR(st.st_mode))
		err = read_directory(r, path);
	else
		err = read_file(r, path);
	return finish(r, err, path, where);
}

static int
read_pid(struct reading *r, pid_t pid, struct fault *where)
{
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
	err = fd < 0 ? -errno : read_slots(r, fd, slash + 1, f, slot);
	if (fd >= 0)
		(void)close(fd);
	segfile_close(f);
	return finish(r, err, path, where);
}

int
eventlogs_read_by(const char *path, pid_t pid,
    const struct eventlogs_wish *wish, struct eventlogs_result *ret,
    struct fault *where)
{
	struct reading r = {.wish = *wish};
	int got = path ? read_path(&r, path, where) : read_pid(&r, pid, where);

	*ret = r.result;
	return got;
}

int
eventlogs_read(const char *path, eventlogs_each *each, void *context,
    bool *ret_damaged, struct fault *where)
{
	const struct eventlogs_wish all = {.each = each, .context = context};
	struct eventlogs_result result;
	int got = eventlogs_read_by(path, 0, &all, &result, where);

	*ret_damaged = result.is_damaged;
	return got;
}

int
eventlogs_read_pid(pid_t pid, eventlogs_each *each, void *context,
    bool *ret_damaged, struct fault *where)
{
	const struct eventlogs_wish all = {.each = each, .context = context};
	struct eventlogs_result result;
	int got = eventlogs_read_by(NULL, pid, &all, &result, where);

	*ret_damaged = result.is_damaged;
	return got;
}
