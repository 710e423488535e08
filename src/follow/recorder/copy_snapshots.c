/* copy_snapshots.c - moves the snapshots of a session beside its recording. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "follow/recorder/collect_parts.h"

#include "session/load/session_moment.h"
#include "segments/read/segfile.h"

#define SNAPSHOT_SIZE_MAX (INT64_C(1) << 40) /* including holes */

enum {
	SNAPSHOT_BYTES_MAX = 512 << 20, /* of data in one of ours */
	OTHERS_BYTES = 256 << 20,       /* in all those of other users */
	OTHERS_MAX = 1000,              /* files of other users that are read */
};

static int open_folder(struct copied_snapshots *k)
{
	struct stat st;

	if (k->fd >= 0)
		return 0;
	if (mkdir(k->folder, 0700) < 0 && errno != EEXIST)
		return -errno;
	k->fd = open(k->folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (k->fd < 0)
		return -errno;
	/*
	 * in a directory that anybody can write, somebody else may have made it
	 */
	if (fstat(k->fd, &st) == 0 && st.st_uid == geteuid())
		return 0;
	close(k->fd);
	k->fd = -1;
	return -EPERM;
}

/* Renames; false with errno EEXIST where the name is taken. */
static bool rename_to(int from_dir, const char *from, int dir, const char *name)
{
	if (renameat2(from_dir, from, dir, name, RENAME_NOREPLACE) == 0)
		return true;
	if (errno != EINVAL && errno != ENOSYS)
		return false;
	/*
	 * a file system without that call: link() does not replace a file
	 * either
	 */
	if (linkat(from_dir, from, dir, name, 0) < 0)
		return false;
	(void)unlinkat(from_dir, from, 0);
	return true;
}

/* Copies one range of data. */
static int copy_stretch(int from, int to, off_t at, off_t end)
{
	char buffer[1 << 16];

	while (at < end) {
		size_t want =
		    (size_t)(end - at) < sizeof(buffer) ? (size_t)(end - at) : sizeof(buffer);
		ssize_t n = pread(from, buffer, want, at), w;

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : 0; /* cut meanwhile */
		w = pwrite(to, buffer, (size_t)n, at);
		if (w < 0 && errno != EINTR)
			return -errno;
		at += w < 0 ? 0 : w;
	}
	return 0;
}

/* Keeps holes. Subtracts what is copied from *budget. */
static int copy_bytes(int from, int to, off_t size, uint64_t *budget)
{
	off_t at = 0, data, hole;
	int err = ftruncate(to, size) < 0 ? -errno : 0;

	while (err == 0 && at < size) {
		data = lseek(from, at, SEEK_DATA);
		if (data < 0 && errno == ENXIO)
			break; /* no more data */
		hole = data < 0 ? -1 : lseek(from, data, SEEK_HOLE);
		if (hole < 0) { /* a file system without holes */
			data = at;
			hole = size;
		}
		if (data >= size)
			break;
		hole = hole < size ? hole : size;
		if ((uint64_t)(hole - data) > *budget)
			return -EFBIG;
		*budget -= (uint64_t)(hole - data);
		err = copy_stretch(from, to, data, hole);
		at = hole;
	}
	return err;
}

/* Copies to another file system: under a hidden name until it is complete. */
static int copy_to(struct copied_snapshots *k, int from_dir, const char *name, int dir)
{
	char hidden[NAME_MAX + 8];
	struct stat st;
	uint64_t budget;
	int from, to, err;

	(void)snprintf(hidden, sizeof(hidden), ".%s.tmp", name);
	from = openat(from_dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	if (from < 0)
		return -errno;
	if (fstat(from, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size > SNAPSHOT_SIZE_MAX) {
		close(from);
		return -EFBIG;
	}
	budget = st.st_uid == geteuid() ? SNAPSHOT_BYTES_MAX : k->others_bytes;
	to = openat(dir, hidden, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	err = to < 0 ? -errno : copy_bytes(from, to, st.st_size, &budget);
	if (st.st_uid != geteuid())
		k->others_bytes = budget;
	if (err == 0 && fsync(to) < 0 && errno != EINVAL && errno != EROFS)
		err = -errno;
	if (to >= 0 && close(to) < 0 && err == 0)
		err = -errno;
	close(from);
	if (err == 0 && !rename_to(dir, hidden, dir, name))
		err = -errno;
	if (err < 0 && to >= 0)
		(void)unlinkat(dir, hidden, 0);
	if (err == 0)
		(void)unlinkat(from_dir, name, 0);
	return err;
}

static bool is_of_session(const struct copied_snapshots *k, int dir_fd, const char *name)
{
	struct seg_header h;
	struct segfile *f;
	bool ours;

	if (segfile_open(dir_fd, name, &f, NULL) < 0)
		return false;
	ours = segfile_header(f, SEGFILE_OWN, &h, NULL) == 0 &&
	    h.snapshot_reason != SEG_SNAPSHOT_NONE && strcmp(h.session, k->session) == 0;
	segfile_close(f);
	return ours;
}

/*
 * A child that has changed its user leaves snapshots of that user. The copy
 * belongs to us, as the recording does: readers accept no others, and nobody
 * else can still write into it.
 */
static bool is_ours(int dir_fd, const char *name)
{
	struct stat st;

	return fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && st.st_uid == geteuid();
}

/* If not, its process, which still runs, has removed it to keep its limit. */
static bool is_there(int dir_fd, const char *name)
{
	return faccessat(dir_fd, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

static int visit(void *context, int dir_fd, const char *dir, const char *name)
{
	struct copied_snapshots *k = context;
	int err;

	(void)dir;
	if (!is_ours(dir_fd, name) && ++k->others > OTHERS_MAX) {
		k->left++;
		k->err = -EDQUOT;
		return 0;
	}
	if (!is_of_session(k, dir_fd, name))
		return 0;
	err = open_folder(k);
	/*
	 * a file of another user is copied: its owner may have it open for
	 * writing
	 */
	if (err == 0 && !is_ours(dir_fd, name))
		err = copy_to(k, dir_fd, name, k->fd);
	else if (err == 0 && !rename_to(dir_fd, name, k->fd, name))
		err = errno == EXDEV ? copy_to(k, dir_fd, name, k->fd) : -errno;
	if (err == 0) {
		k->moved++;
	} else if (err != -ENOENT || is_there(dir_fd, name)) {
		k->left++;
		k->err = err;
	}
	return 0;
}

void copy_snapshots(const struct segment_dir *s, const char *file, struct copied_snapshots *k)
{
	int n;

	*k = (struct copied_snapshots){
	    .fd = -1, .session = s->session, .others_bytes = OTHERS_BYTES};
	n = snprintf(k->folder, sizeof(k->folder), "%s" SESSION_SNAPSHOTS_SUFFIX, file);
	if (n < 0 || (size_t)n >= sizeof(k->folder))
		return;
	(void)segment_dir_walk_snapshots(s, visit, k);
	if (k->fd >= 0) {
		(void)fsync(k->fd);
		close(k->fd);
	}
}
