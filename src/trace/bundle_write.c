/* bundle_write.c - writes the recording, entry by entry. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <zstd.h>

#include "trace/bundle.h"
#include "trace/bundle_bytes.h"

enum {
	NAME_TRIES = 16,
	INDEX_ITEMS = 256, /* so many entries make one index */
};

/* What has been written. */
struct state {
	uint64_t offset;
	uint64_t entries;
	struct bundle_index_item
	    index[INDEX_ITEMS]; /* since the last BUNDLE_INDEX */
	size_t index_count;
	uint64_t last_index;
};

struct bundle_writer {
	int fd;
	int dir_fd;
	int err; /* the first error */
	struct state now;
	struct state saved; /* without the end of bundle_checkpoint() */
	bool has_end;       /* and that is in the file */
	ZSTD_CCtx *zstd;
	unsigned char *packed;
	size_t packed_bytes;
	enum bundle_existing existing;
	bool direct;    /* fd is the target itself */
	bool has_temp;  /* temp names our file, unlink it on failure */
	bool published; /* name is ours */
	char name[NAME_MAX + 1];
	char temp[NAME_MAX + 1];
};

/* Splits path: opens its directory, keeps its last part in w->name. */
static int
open_directory(struct bundle_writer *w, const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	char *dir;

	/* room for ".old" and for a temporary suffix */
	if (name[0] == '\0' || !strcmp(name, ".") || !strcmp(name, ".."))
		return -EISDIR;
	if (strlen(name) + 16 > NAME_MAX)
		return -ENAMETOOLONG;
	strcpy(w->name, name);
	if (!slash)
		dir = strdup(".");
	else if (slash == path)
		dir = strdup("/");
	else
		dir = strndup(path, (size_t)(slash - path));
	if (!dir)
		return -ENOMEM;
	w->dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (w->dir_fd < 0 && errno == EACCES) /* --x: may still be written */
		w->dir_fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	free(dir);
	return w->dir_fd < 0 ? -errno : 0;
}

static int
temp_name(struct bundle_writer *w)
{
	uint32_t r;

	if (getrandom(&r, sizeof(r), 0) != (ssize_t)sizeof(r))
		return -EIO;
	snprintf(
	    w->temp, sizeof(w->temp), ".%.230s.%08x", w->name, (unsigned)r);
	return 0;
}

/* Takes the first name that nothing has; take() gives 0 or -errno. */
static int
try_names(struct bundle_writer *w, int (*take)(struct bundle_writer *w))
{
	int err = -EEXIST;

	for (int i = 0; i < NAME_TRIES && err == -EEXIST; i++) {
		err = temp_name(w);
		if (err == 0)
			err = take(w);
	}
	w->has_temp = err == 0;
	return err;
}

static int
make_file(struct bundle_writer *w)
{
	w->fd = openat(w->dir_fd, w->temp,
	    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	return w->fd < 0 ? -errno : 0;
}

static int
open_temp(struct bundle_writer *w)
{
	int err = 0;

	/*
	 * Without a name, so that CMD sees no file in its directory that it
	 * would not see without us; not every file system can.
	 */
	w->fd = openat(w->dir_fd, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
	if (w->fd < 0)
		err = try_names(w, make_file);
	/* what a reader asks for: see bundle_is_growing() */
	if (err == 0)
		(void)flock(w->fd, LOCK_EX | LOCK_NB);
	return err;
}

/* 1: path is a device or pipe, now open in w->fd; 0: it is to be a file. */
static int
look_at_target(struct bundle_writer *w, const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0) {
		if (errno != ENOENT)
			return -errno;
		/* a link to nowhere is a name in use all the same */
		if (lstat(path, &st) < 0)
			return errno == ENOENT ? 0 : -errno;
		return w->existing == BUNDLE_REFUSE ? -EEXIST : 0;
	}
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	/* nobody asked for it: a pipe that lies there would hold us for ever */
	if (w->existing == BUNDLE_KEEP_OLD)
		return 0;
	if (S_ISCHR(st.st_mode) || S_ISFIFO(st.st_mode)) {
		w->fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
		if (w->fd < 0)
			return -errno;
		w->direct = true;
		return 1;
	}
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	return w->existing == BUNDLE_REFUSE ? -EEXIST : 0;
}

static int
write_all(struct bundle_writer *w, const void *bytes, size_t len)
{
	const unsigned char *p = bytes;

	while (len > 0 && w->err == 0) {
		ssize_t n = write(w->fd, p, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			w->err = -errno;
			break;
		}
		p += n;
		w->now.offset += (uint64_t)n;
		len -= (size_t)n;
	}
	return w->err;
}

int
bundle_create(
    const char *path, enum bundle_existing existing, struct bundle_writer **ret)
{
	struct bundle_file_head head = {
	    .magic = BUNDLE_MAGIC,
	    .version = BUNDLE_VERSION,
	    .header_bytes = sizeof(head),
	};
	struct bundle_writer *w;
	char *real = NULL;
	int err;

	w = calloc(1, sizeof(*w));
	if (!w)
		return -ENOMEM;
	w->fd = -1;
	w->dir_fd = -1;
	w->existing = existing;
	err = look_at_target(w, path);
	if (err < 0)
		goto out;
	if (!w->direct) {
		/* replace what a link points to, never the link: /dev/stdout */
		if (existing == BUNDLE_REPLACE)
			real = realpath(path, NULL);
		err = open_directory(w, real ? real : path);
		if (err == 0)
			err = open_temp(w);
		if (err < 0)
			goto out;
	}
	err = write_all(w, &head, sizeof(head));
	if (err < 0)
		goto out;
	*ret = w;
	w = NULL;
out:
	free(real);
	bundle_discard(w);
	return err;
}

/*
 * A file with a name can be truncated or written by CMD, which would find a
 * file of that name without us, too: then it is CMD's.
 */
static void
check_still_ours(struct bundle_writer *w)
{
	struct stat st;

	if (w->err == 0 && w->published && !w->direct &&
	    (fstat(w->fd, &st) < 0 || (uint64_t)st.st_size != w->now.offset))
		w->err = -ESTALE;
}

static int
go_back(struct bundle_writer *w)
{
	if (ftruncate(w->fd, (off_t)w->saved.offset) < 0 ||
	    lseek(w->fd, (off_t)w->saved.offset, SEEK_SET) < 0)
		return -errno;
	w->now = w->saved;
	w->has_end = false;
	return 0;
}

static int
write_entry(struct bundle_writer *w, uint32_t type, uint32_t flags,
    const void *head, size_t head_bytes, const void *body, size_t body_bytes)
{
	static const unsigned char zeros[8];
	struct bundle_entry_head e = {.type = type, .flags = flags};

	e.length = head_bytes + body_bytes;
	e.crc =
	    bundle_crc_of(bundle_crc_of(0, head, head_bytes), body, body_bytes);
	e.head_crc = bundle_crc_of(0, &e, BUNDLE_HEAD_CRC_BYTES);
	check_still_ours(w);
	write_all(w, &e, sizeof(e));
	write_all(w, head, head_bytes);
	write_all(w, body, body_bytes);
	write_all(w, zeros, bundle_padded(e.length) - e.length);
	if (w->err == 0)
		w->now.entries++;
	return w->err;
}

static int
write_index(struct bundle_writer *w)
{
	uint64_t at = w->now.offset;
	int err;

	err = write_entry(w, BUNDLE_INDEX, 0, &w->now.last_index,
	    sizeof(w->now.last_index), w->now.index,
	    w->now.index_count * sizeof(w->now.index[0]));
	w->now.last_index = at;
	w->now.index_count = 0;
	return err;
}

static int
append(struct bundle_writer *w, uint32_t type, uint32_t flags, const void *head,
    size_t head_bytes, const void *body, size_t body_bytes)
{
	uint64_t at;

	if (w->err == 0 && w->has_end) {
		check_still_ours(w);
		if (w->err == 0)
			w->err = go_back(w);
	}
	if (w->err < 0)
		return w->err;
	if (w->now.index_count == INDEX_ITEMS && write_index(w) < 0)
		return w->err;
	at = w->now.offset;
	if (write_entry(w, type, flags, head, head_bytes, body, body_bytes) < 0)
		return w->err;
	w->now.index[w->now.index_count++] = (struct bundle_index_item){
	    .offset = at, .type = type, .flags = flags};
	return 0;
}

int
bundle_append(struct bundle_writer *w, enum bundle_type type, const void *head,
    size_t head_bytes, const void *body, size_t body_bytes)
{
	if (w->err == 0 &&
	    (head_bytes > BUNDLE_ENTRY_MAX ||
	        body_bytes > BUNDLE_ENTRY_MAX - head_bytes))
		return -EFBIG; /* nothing written: the file stays sound */
	return append(w, type, 0, head, head_bytes, body, body_bytes);
}

/* Head and body as one frame in w->packed. */
static int
pack(struct bundle_writer *w, const void *head, size_t head_bytes,
    const void *body, size_t body_bytes, int level, size_t *ret_len)
{
	size_t bound = ZSTD_compressBound(head_bytes + body_bytes);
	ZSTD_outBuffer out;
	ZSTD_inBuffer in = {head, head_bytes, 0};
	size_t left;

	if (!w->zstd)
		w->zstd = ZSTD_createCCtx();
	if (!w->zstd ||
	    bundle_make_room(&w->packed, &w->packed_bytes, bound) < 0)
		return -ENOMEM;
	out = (ZSTD_outBuffer){w->packed, bound, 0};
	(void)ZSTD_CCtx_reset(w->zstd, ZSTD_reset_session_only);
	(void)ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_compressionLevel, level);
	/* the frame tells its size: a reader knows before it unpacks */
	(void)ZSTD_CCtx_setPledgedSrcSize(w->zstd, head_bytes + body_bytes);
	left = ZSTD_compressStream2(w->zstd, &out, &in, ZSTD_e_continue);
	if (ZSTD_isError(left) || in.pos != in.size)
		return -ENOMEM;
	in = (ZSTD_inBuffer){body, body_bytes, 0};
	left = ZSTD_compressStream2(w->zstd, &out, &in, ZSTD_e_end);
	if (left != 0)
		return -ENOMEM;
	*ret_len = out.pos;
	return 0;
}

int
bundle_append_packed(struct bundle_writer *w, enum bundle_type type,
    const void *head, size_t head_bytes, const void *body, size_t body_bytes,
    int level)
{
	size_t len;
	int err;

	if (w->err < 0)
		return w->err;
	if (head_bytes > BUNDLE_ENTRY_MAX ||
	    body_bytes > BUNDLE_ENTRY_MAX - head_bytes)
		return -EFBIG;
	err = pack(w, head, head_bytes, body, body_bytes, level, &len);
	if (err < 0)
		return err;
	if (!bundle_may_unpack(len, head_bytes + body_bytes))
		return append(w, type, 0, head, head_bytes, body, body_bytes);
	return append(w, type, BUNDLE_ZSTD, w->packed, len, NULL, 0);
}

uint64_t
bundle_size(const struct bundle_writer *w)
{
	return w->now.offset;
}

/* Gives the nameless file a name, from where it can be renamed. */
static int
link_file(struct bundle_writer *w)
{
	char self[32];

	snprintf(self, sizeof(self), "/proc/self/fd/%d", w->fd);
	return linkat(AT_FDCWD, self, w->dir_fd, w->temp, AT_SYMLINK_FOLLOW) < 0
	    ? -errno
	    : 0;
}

static int
keep_old(const struct bundle_writer *w)
{
	char old[NAME_MAX + 8];

	snprintf(old, sizeof(old), "%s.old", w->name);
	if (renameat(w->dir_fd, w->name, w->dir_fd, old) < 0 && errno != ENOENT)
		return -errno;
	return 0;
}

int
bundle_clear(struct bundle_writer *w)
{
	if (w->direct || w->published || w->existing == BUNDLE_REFUSE)
		return 0;
	if (w->existing == BUNDLE_KEEP_OLD)
		return keep_old(w);
	if (unlinkat(w->dir_fd, w->name, 0) < 0 && errno != ENOENT)
		return -errno;
	return 0;
}

static int
put_in_place(struct bundle_writer *w)
{
	int err;

	if (!w->has_temp) {
		err = try_names(w, link_file);
		if (err < 0)
			return err;
	}
	if (w->existing == BUNDLE_REFUSE) {
		/* link() never replaces: a file made meanwhile is kept */
		if (linkat(w->dir_fd, w->temp, w->dir_fd, w->name, 0) == 0) {
			(void)unlinkat(w->dir_fd, w->temp, 0);
			w->has_temp = false;
			return 0;
		}
		if (errno != EPERM && errno != EOPNOTSUPP && errno != EMLINK)
			return -errno;
		if (faccessat(w->dir_fd, w->name, F_OK, 0) == 0)
			return -EEXIST; /* no links here: vfat and the like */
	}
	if (w->existing == BUNDLE_KEEP_OLD) {
		err = keep_old(w);
		if (err < 0)
			return err;
	}
	if (renameat(w->dir_fd, w->temp, w->dir_fd, w->name) < 0)
		return -errno;
	w->has_temp = false;
	return 0;
}

int
bundle_publish(struct bundle_writer *w)
{
	int err;

	if (w->published || w->direct)
		return 0;
	if (w->err < 0)
		return w->err;
	err = put_in_place(w);
	w->published = err == 0;
	return err;
}

/* Does the name still stand for our file? */
static bool
is_in_place(const struct bundle_writer *w)
{
	struct stat own, st;

	return fstat(w->fd, &own) == 0 &&
	    fstatat(w->dir_fd, w->name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	    st.st_dev == own.st_dev && st.st_ino == own.st_ino;
}

/* CMD has cleaned up its directory: a file without a name gets no new one. */
static int
copy_to_new_file(struct bundle_writer *w)
{
	unsigned char bytes[65536];
	uint64_t at = 0, end = w->now.offset;
	char self[32];
	int from, err = 0;

	snprintf(self, sizeof(self), "/proc/self/fd/%d", w->fd);
	from = open(self, O_RDONLY | O_CLOEXEC);
	if (from < 0)
		return -errno;
	close(w->fd);
	w->fd = -1;
	w->published = false;
	err = open_temp(w);
	w->now.offset = 0;
	while (err == 0 && at < end) {
		size_t n = end - at < sizeof(bytes) ? end - at : sizeof(bytes);

		err = bundle_read_at(from, bytes, n, at);
		if (err == 0)
			err = write_all(w, bytes, n);
		at += n;
	}
	close(from);
	return err;
}

static int
write_end(struct bundle_writer *w)
{
	struct bundle_entry_end end;
	int err = w->err;

	if (err == 0 && w->now.index_count > 0)
		err = write_index(w);
	end = (struct bundle_entry_end){
	    .entries = w->now.entries,
	    .file_bytes = w->now.offset,
	    .index = w->now.last_index,
	};
	if (err == 0)
		err = write_entry(w, BUNDLE_END, 0, &end, sizeof(end), NULL, 0);
	return err;
}

int
bundle_checkpoint(struct bundle_writer *w)
{
	int err;

	if (w->direct || w->err < 0 || w->has_end)
		return w->err;
	w->saved = w->now;
	err = write_end(w);
	w->has_end = err == 0;
	if (err == 0)
		err = bundle_publish(w);
	return err;
}

int
bundle_rollback(struct bundle_writer *w)
{
	int err;

	if (w->saved.offset == 0 ||
	    (w->err != 0 && w->err != -ENOSPC && w->err != -EDQUOT &&
	        w->err != -EFBIG))
		return w->err ? w->err : -EINVAL;
	err = go_back(w);
	if (err == 0)
		w->err = 0;
	return err;
}

int
bundle_finish(struct bundle_writer *w)
{
	int err = w->has_end ? w->err : write_end(w);

	if (err == 0 && w->published && !is_in_place(w))
		err = copy_to_new_file(w);
	if (err == 0)
		err = bundle_publish(w);
	bundle_discard(w);
	return err;
}

void
bundle_discard(struct bundle_writer *w)
{
	if (!w)
		return;
	if (w->has_temp)
		unlinkat(w->dir_fd, w->temp, 0);
	if (w->fd >= 0)
		close(w->fd);
	if (w->dir_fd >= 0)
		close(w->dir_fd);
	ZSTD_freeCCtx(w->zstd);
	free(w->packed);
	free(w);
}
