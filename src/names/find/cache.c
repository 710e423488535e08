/* cache.c - names found earlier, one file for each module. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "names/find/wire.h"

#include "base/std.h"
#include <sys/random.h>
#include <zlib.h>
#include <zstd.h>

#include "names/dwarf/objfile.h"
#include "kit/os/outfile.h"
#include "kit/data/sorted.h"

#define MAGIC UINT64_C(0x014d414e50454553) /* "SEEPNAM\1" */
#define TEMP  ".new-"                      /* prefix of the name of a file that is being written */

enum {
	VERSION = 2,
	FILE_MAX = 64 << 20, /* bytes of one file */
	CONTENT_MAX = 256 << 20,
	ALL_MAX = 256 << 20, /* bytes of all files */
	FILES_MAX = 4096,
	TEMP_SECONDS = 3600, /* then its writer is dead */
	LEVEL = 1,           /* of compression */
};

/* A file: this, then items as of wire.h in one zstd frame. */
struct head {
	uint64_t magic;
	uint32_t version;
	uint32_t crc; /* checksum of the whole file, computed with 0 here */
	uint64_t content_bytes;
	/* the file that they were read from, all zero if it was gone */
	uint64_t device, inode, size, modified_ns, changed_ns, owner, view;
	uint64_t trusted; /* the file belonged to root or to us */
};

struct cache {
	int dir_fd;
};

/* Does this directory belong to us, and can nobody else write to it? */
static bool is_ours(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid() &&
	    (st.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

static int open_directory(const char *base, const char *below)
{
	char path[PATH_MAX];
	int n = snprintf(path, sizeof(path), "%s%s", base, below);
	int fd;

	if (base[0] != '/' || n < 0 || (size_t)n >= sizeof(path))
		return -ENOENT;
	/* creates each part but the first, which the user must have made */
	for (char *p = path + strlen(base); p; p = strchr(p + 1, '/')) {
		char was = *p;

		if (p == path)
			continue;
		*p = '\0';
		(void)mkdir(path, 0700);
		*p = was;
		if (!was)
			break;
	}
	(void)mkdir(path, 0700);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (!is_ours(fd)) {
		close(fd);
		return -EACCES;
	}
	return fd;
}

int cache_open(struct cache **ret)
{
	const char *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	struct cache *c;
	int fd;

	if (xdg && xdg[0])
		fd = open_directory(xdg, "/seep");
	else if (home && home[0])
		fd = open_directory(home, "/.cache/seep");
	else
		fd = -ENOENT;
	if (fd < 0)
		return -ENOENT;
	c = calloc(1, sizeof(*c));
	if (!c) {
		close(fd);
		return -ENOENT;
	}
	c->dir_fd = fd;
	*ret = c;
	return 0;
}

void cache_close(struct cache *c)
{
	if (!c)
		return;
	close(c->dir_fd);
	free(c);
}

static void describe(const struct cache_origin *o, struct head *to)
{
	*to = (struct head){.magic = MAGIC, .version = VERSION, .view = o->view};
	to->trusted = o->view == 0;
	if (!o->is_there)
		return;
	to->device = o->file.device;
	to->inode = o->file.inode;
	to->size = o->file.size;
	to->modified_ns = o->file.modified_ns;
	to->changed_ns = o->file.changed_ns;
	to->owner = o->file.owner;
	to->trusted = o->view == 0 && opener_is_trusted(&o->file);
}

/* Do the names in this file belong to the file with this origin? */
static bool is_of(const struct head *h, const struct cache_origin *o)
{
	struct head want;

	if (!o->is_there)
		return h->trusted == 1;
	describe(o, &want);
	return h->device == want.device && h->inode == want.inode && h->size == want.size &&
	    h->modified_ns == want.modified_ns && h->changed_ns == want.changed_ns &&
	    h->owner == want.owner && h->view == want.view;
}

enum { NAME_BYTES = 160 };

/*
 * The name contains the build-id alone if the module's file is gone, otherwise
 * both; see is_of().
 */
static void name_of(
    const struct name_table_key *key, const struct cache_origin *o, char name[NAME_BYTES])
{
	char id[65], file[80] = "";

	buildid_hex(id, key->id, key->id_bytes);
	if (o->is_there)
		(void)snprintf(file, sizeof(file), "-%" PRIx64 "-%" PRIx64 "-%x-%" PRIx64,
		    o->file.device, o->file.inode, (unsigned)o->file.owner, o->view);
	(void)snprintf(name, NAME_BYTES, "%s%s.names", id, file);
}

/* The caller frees it; NULL: there is none, or somebody has changed it. */
static uint8_t *read_file(int fd, size_t *ret_len)
{
	struct stat st;
	uint8_t *bytes;
	size_t len, at = 0;

	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_uid != geteuid() ||
	    st.st_size < (off_t)sizeof(struct head) || st.st_size > FILE_MAX)
		return NULL;
	len = (size_t)st.st_size;
	bytes = malloc(len);
	while (bytes && at < len) {
		ssize_t n = pread(fd, bytes + at, len - at, (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			free(bytes);
			return NULL;
		}
		at += (size_t)n;
	}
	*ret_len = len;
	return bytes;
}

static uint32_t checksum(struct head head, const uint8_t *content, size_t len)
{
	head.crc = 0;
	return (uint32_t)crc32(crc32(0, (const Bytef *)&head, sizeof(head)), content, (uInt)len);
}

/* The items in the bytes of a file; the caller frees them. NULL: damaged. */
static uint8_t *unpack(
    const uint8_t *bytes, size_t len, const struct cache_origin *origin, size_t *ret_len)
{
	struct head head;
	uint8_t *content;
	size_t n;

	memcpy(&head, bytes, sizeof(head));
	bytes += sizeof(head);
	len -= sizeof(head);
	if (head.magic != MAGIC || head.version != VERSION || head.content_bytes > CONTENT_MAX ||
	    !is_of(&head, origin) || checksum(head, bytes, len) != head.crc)
		return NULL;
	content = malloc(head.content_bytes + 1);
	if (!content)
		return NULL;
	n = ZSTD_decompress(content, head.content_bytes, bytes, len);
	if (ZSTD_isError(n) || n != head.content_bytes) {
		free(content);
		return NULL;
	}
	*ret_len = n;
	return content;
}

static bool load_bytes(const uint8_t *bytes, size_t len, const struct name_table_key *key,
    const struct cache_origin *origin, struct table *t)
{
	struct wire_in in = {.table = t, .only = key};
	size_t content_len = 0, used = 0;
	uint8_t *content = unpack(bytes, len, origin, &content_len);
	bool good =
	    content && wire_get(&in, content, content_len, &used) == 0 && used == content_len;

	free(content);
	wire_get_release(&in);
	return good;
}

bool cache_load(struct cache *c, const struct name_table_key *key,
    const struct cache_origin *origin, struct table *t)
{
	char name[NAME_BYTES];
	uint8_t *bytes;
	size_t len;
	bool good;
	int fd;

	if (key->kind != TABLE_MODULE || key->id_bytes < 8)
		return false;
	name_of(key, origin, name);
	fd = openat(c->dir_fd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return false;
	bytes = read_file(fd, &len);
	good = bytes && load_bytes(bytes, len, key, origin, t);
	free(bytes);
	if (good)
		(void)futimens(fd, NULL); /* mark the file as used today */
	else
		(void)unlinkat(c->dir_fd, name, 0);
	close(fd);
	return good;
}

struct entry {
	char name[NAME_MAX + 1];
	off_t size;
	time_t used;
};

BY(by_use, struct entry, DOWN(used))

/* Deletes the files beyond the limit, the least recently used first. */
static void shrink(struct cache *c)
{
	int fd = openat(c->dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct entry *list = calloc(FILES_MAX, sizeof(*list));
	time_t now = time(NULL);
	struct dirent *d;
	size_t count = 0;
	off_t sum = 0;

	while (dir && list && (d = readdir(dir))) {
		struct stat st;

		if (fstatat(c->dir_fd, d->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
		    !S_ISREG(st.st_mode))
			continue;
		if (strncmp(d->d_name, TEMP, strlen(TEMP)) == 0) {
			if (now - st.st_mtime > TEMP_SECONDS)
				(void)unlinkat(c->dir_fd, d->d_name, 0);
			continue;
		}
		if (count == FILES_MAX) {
			(void)unlinkat(c->dir_fd, d->d_name, 0);
			continue;
		}
		/* a file that has two names is counted once */
		list[count].size = st.st_size / (st.st_nlink > 1 ? 2 : 1);
		list[count].used = st.st_mtime;
		(void)snprintf(list[count].name, sizeof(list[count].name), "%s", d->d_name);
		count++;
	}
	if (list)
		qsort(list, count, sizeof(*list), by_use);
	for (size_t i = 0; i < count; i++) {
		sum += list[i].size;
		if (sum > ALL_MAX)
			(void)unlinkat(c->dir_fd, list[i].name, 0);
	}
	free(list);
	if (dir)
		(void)closedir(dir);
	else if (fd >= 0)
		close(fd);
}

static bool name_for_a_while(char temp[32])
{
	uint32_t r;

	if (getrandom(&r, sizeof(r), 0) != (ssize_t)sizeof(r))
		return false;
	(void)snprintf(temp, 32, TEMP "%08x", (unsigned)r);
	return true;
}

/* Writes under a temporary name first, so nobody reads half a file. */
static bool write_file(struct cache *c, const char *name, const void *bytes, size_t len)
{
	char temp[32];
	bool good;
	int fd;

	if (!name_for_a_while(temp))
		return false;
	fd = openat(c->dir_fd, temp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return false;
	good = write_all(fd, bytes, len) == 0;
	good = close(fd) == 0 && good;
	if (good && renameat(c->dir_fd, temp, c->dir_fd, name) == 0)
		return true;
	(void)unlinkat(c->dir_fd, temp, 0);
	return false;
}

/* Gives the file a second name, used when the module's file is gone. */
static void name_again(struct cache *c, const char *name, const struct name_table_key *key)
{
	static const struct cache_origin gone;
	char temp[32], other[NAME_BYTES];

	name_of(key, &gone, other);
	if (!name_for_a_while(temp) || linkat(c->dir_fd, name, c->dir_fd, temp, 0) < 0)
		return;
	if (renameat(c->dir_fd, temp, c->dir_fd, other) < 0)
		(void)unlinkat(c->dir_fd, temp, 0);
	/* they were already two names of one file, so nothing was renamed */
	(void)unlinkat(c->dir_fd, temp, 0);
}

/* Head and items; the caller frees them. NULL: too large, or out of memory. */
static uint8_t *pack(const struct wire_out *out, struct head *head, size_t *ret_len)
{
	size_t bound = sizeof(*head) + ZSTD_compressBound(out->out.len), n;
	uint8_t *file = NULL;

	if (!wire_failed(out) && out->out.len <= CONTENT_MAX)
		file = malloc(bound);
	if (!file)
		return NULL;
	n = ZSTD_compress(
	    file + sizeof(*head), bound - sizeof(*head), out->out.bytes, out->out.len, LEVEL);
	if (ZSTD_isError(n) || n + sizeof(*head) > FILE_MAX) {
		free(file);
		return NULL;
	}
	head->content_bytes = out->out.len;
	head->crc = checksum(*head, file + sizeof(*head), n);
	memcpy(file, head, sizeof(*head));
	*ret_len = n + sizeof(*head);
	return file;
}

void cache_store(
    struct cache *c, struct table *t, uint32_t object, const struct cache_origin *origin)
{
	const struct name_table_key *key = name_table_key(t, object);
	struct wire_out out = {0};
	struct table_row *rows;
	char name[NAME_BYTES];
	struct head head;
	uint8_t *file;
	size_t len, count;

	describe(origin, &head);
	if (key->kind != TABLE_MODULE || key->id_bytes < 8 ||
	    (!origin->is_there && !head.trusted) || name_table_places(t, object, &rows, &count) < 0)
		return;
	wire_put_rows(&out, t, rows, count);
	free(rows);
	file = pack(&out, &head, &len);
	name_of(key, origin, name);
	if (file) {
		shrink(c);
		if (write_file(c, name, file, len) && origin->is_there && head.trusted)
			name_again(c, name, key);
	}
	free(file);
	wire_release(&out);
}
