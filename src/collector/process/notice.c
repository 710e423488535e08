/* notice.c - a note of a process whose directory belongs to another user. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/process/start.h"

#include <stdbool.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "base/fmt.h"
#include "base/sys.h"
#include "collector/segment/config.h"
#include "collector/segment/place.h"
#include "collector/segment/kernel.h"
#include "collector/segment/tick.h"
#include "format/format.h"

enum { FILES_MAX = 400, NAME_BYTES = 96, NO_ROOM = -1 };

/* The header; the path is needed while it is filled in. */
struct note {
	struct seg_header header;
	char exe[DESCRIBE_PATH_BYTES];
};

/* Is it a tmpfs where all may make files, but not remove those of others? */
static bool is_room_in_shm(void)
{
	struct statfs fs;
	struct stat st;
	long dir = sys_openat(AT_FDCWD, PLACE_SHM, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
	bool is_room;

	if (dir < 0)
		return false;
	is_room = sys_call(SYS_fstat, dir, (long)&st, 0, 0) == 0 && st.st_uid == 0 &&
	    (st.st_mode & S_ISVTX) && sys_call(SYS_fstatfs, dir, (long)&fs, 0, 0) == 0 &&
	    fs.f_type == PLACE_TMPFS && (uint64_t)st.st_size / PLACE_DIRENT <= FILES_MAX;
	sys_close(dir);
	return is_room;
}

/* Makes a new directory of our own. */
static long make_directory(char path[NAME_BYTES])
{
	uint32_t unlike;
	struct stat st;
	struct fmt f;

	if (!is_room_in_shm() || sys_call(SYS_geteuid, 0, 0, 0, 0) < 0) /* refused by a filter */
		return NO_ROOM;
	kernel_random(&unlike, sizeof(unlike));
	fmt_init(&f, path, NAME_BYTES);
	fmt_string(&f, PLACE_SHM "/seep-");
	fmt_decimal(&f, (uint64_t)sys_call(SYS_geteuid, 0, 0, 0, 0));
	fmt_string(&f, "-");
	fmt_hex(&f, unlike, 8);
	if (sys_mkdir(path, 0700) != 0)
		return NO_ROOM;
	return place_open_dir(path, &st);
}

static void fill(struct note *n, uint32_t owner, char **argv)
{
	struct seg_header *h = &n->header;

	describe_exe(n->exe);
	describe_process(h, argv, n->exe);
	kernel_random(h->uuid, sizeof(h->uuid));
	fmt_copy(h->session, sizeof(h->session), config.session);
	h->magic = SEG_MAGIC;
	h->version = SEG_VERSION;
	h->header_bytes = SEG_HEADER_BYTES;
	h->state = SEG_INERT;
	h->inert_reason = SEG_INERT_PLACE;
	h->place_owner = owner;
	h->medium = SEG_MEDIUM_TMPFS;
	h->mode = SEG_MODE_OFF;
	h->tick_ns = SEG_TICK_NS;
	h->first_id = 1;
	h->total_bytes = SEG_HEADER_BYTES;
	h->used_bytes = SEG_HEADER_BYTES;
	h->dir_offset = SEG_HEADER_BYTES;
	h->slot_index = UINT32_MAX;
	h->start_monotonic_ns = tick_start(true);
	h->start_realtime_ns = tick_realtime(true);
	h->counts[SEG_DIR_REPLACED] = config.dir_replaced;
	describe_place(h);
}

static bool write_note(long dir, const struct note *n)
{
	char name[NAME_BYTES];
	struct fmt f;
	bool whole;
	long fd;

	fmt_init(&f, name, sizeof(name));
	place_name_write(&f, place_name_program(), n->header.pid);
	fmt_string(&f, ".seg");
	fd = sys_openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return false;
	whole =
	    sys_call(SYS_pwrite64, fd, (long)&n->header, sizeof(n->header), 0) == sizeof(n->header);
	sys_call(SYS_fchmod, fd, 0400, 0, 0);
	sys_close(fd);
	if (!whole)
		sys_call(SYS_unlinkat, dir, (long)name, 0, 0);
	return whole;
}

void notice_write(uint32_t owner, char **argv)
{
	char path[NAME_BYTES];
	struct note *n;
	bool written;
	long dir;

	if (!kernel_allows_file(sizeof(n->header)))
		return;
	n = sys_mmap(NULL, sizeof(*n), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (sys_failed(n))
		return;
	dir = make_directory(path);
	if (dir >= 0) {
		fill(n, owner, argv);
		written = write_note(dir, n);
		sys_close(dir);
		if (!written)
			sys_call(SYS_unlinkat, AT_FDCWD, (long)path, AT_REMOVEDIR, 0);
	}
	sys_munmap(n, sizeof(*n));
}
