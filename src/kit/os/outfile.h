/* outfile.h - opens the place of a result, and names the file when complete. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_OUTFILE_H
#define SEEP_OUTFILE_H

#include "base/std.h"

/*
 * Every file that the command writes for its user is opened here. Bytes go to
 * a file without a name, or with a hidden one, beside the place where the
 * result is to appear; outfile_publish() gives it its name. All steps after
 * the first are relative to the directory as it was found then. A hidden file
 * that a killed command has left is removed by the next one that needs a hidden
 * name in this directory; it is recognized by its name and by a lock that nobody
 * holds.
 *
 * A link as the last part of a path is followed only where nobody else can
 * have put it there: it belongs to the user or to root and lies in a directory
 * that is theirs and that nobody else can write; the same holds for the next
 * link. Then what it names is replaced, the link stays. Pipes and devices are
 * written directly, where they belong to the user or to root or lie in such a
 * directory. Descriptors (/dev/stdout, /dev/fd/63, /proc/self/fd/1) are
 * duplicated.
 */
struct outfile {
	int fd;        /* open for writing; -1: none yet */
	int dir_fd;    /* of the directory; -1: is_direct */
	bool direct;   /* fd is the target itself */
	bool has_temp; /* temp names our file, which is removed if we fail */
	char name[NAME_MAX + 1];
	char temp[NAME_MAX + 1];
};

enum outfile_existing {
	OUTFILE_REFUSE = 0,   /* if the file exists: -EEXIST */
	OUTFILE_REPLACE = 1,  /* it is replaced when ours gets its name */
	OUTFILE_KEEP_OLD = 2, /* becomes NAME.old then; follows no link */
	                      /* and writes nothing directly */
};

/*
 * Finds the place and opens a file for it, with this mode minus the umask.
 * -ELOOP: a link, pipe or device that somebody else may have put there; or an
 * error of open(). On failure nothing is held.
 */
int outfile_open(
    const char *path, enum outfile_existing existing, mode_t mode, struct outfile *ret);

/* A new file in the place of the one that is open, for the same name. */
int outfile_renew(struct outfile *o, mode_t mode);

/*
 * Has everything arrived that was written? Some file systems report errors only
 * at close().
 */
int outfile_flush(const struct outfile *o);

/* Writes all of it. Returns 0 or a negative errno. */
int outfile_write(const struct outfile *o, const void *bytes, size_t len);

/* Gives the file its name; fd stays open. Does nothing if it is direct. */
int outfile_publish(struct outfile *o, enum outfile_existing existing);

/* Removes the existing file of that name, or renames it to NAME.old. */
int outfile_clear(const struct outfile *o, enum outfile_existing existing);

/* Does the name still refer to our file? */
bool outfile_is_in_place(const struct outfile *o);

/*
 * After this, what was written survives a loss of power; its name does too once
 * it is published and synced. Does nothing for pipes and devices. Returns 0 or
 * a negative errno.
 */
int outfile_sync(const struct outfile *o);
int outfile_sync_name(const struct outfile *o);

/*
 * Removes the file if it has no name yet, and closes it. May be called twice.
 */
void outfile_close(struct outfile *o);

/* strerror() of a negative errno, or the meaning of -ELOOP in this file. */
const char *outfile_error(int err);

/* ---- write_all: writes a whole buffer, with as many calls as that needs ---- */

/* Returns 0 or a negative errno. Allocates nothing. */
static inline int write_all(int fd, const void *bytes, size_t len)
{
	const char *at = bytes;

	while (len > 0) {
		ssize_t n = write(fd, at, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		at += n;
		len -= (size_t)n;
	}
	return 0;
}

#endif
