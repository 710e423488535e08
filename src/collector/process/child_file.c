/* child_file.c - a file of its own for a forked child whose relatives may become
 * other users. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/process/early.h"

#include <errno.h>
#include <linux/capability.h>
#include <linux/falloc.h>
#include <stddef.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "base/attr.h"
#include "base/fmt.h"
#include "base/sys.h"
#include "collector/segment/config.h"
#include "collector/segment/place.h"
#include "collector/segment/kernel.h"
#include "collector/log/flight.h"
#include "collector/log/log.h"
#include "collector/log/logpool.h"

enum {
	NAME_BYTES = 112,
	TRIES = 256, /* living children that have had no event yet */
	STEPS = 8,   /* used numbers that one fork skips */
	EARLY_PAGE_BYTES = SEG_HEADER_BYTES + CPU_PAGE,
	/*
	 * Pages of extents that are made before the child's code goes on, so
	 * that it needs no system call to move there, whatever its sandbox
	 * allows.
	 */
	SPARE_BYTES = 96 << 10,
	TRIM_BYTES = 2 * SPARE_BYTES, /* of the hole behind the early_page */
	/* of a file before the first event, in units of st_blocks */
	FRESH_BLOCKS = (EARLY_PAGE_BYTES + SPARE_BYTES) / 512,
};

struct child_file child_file;

/* ---- who may become another user ----------------------------------------- */

bool child_file_is_needed(void)
{
	struct __user_cap_header_struct h = {_LINUX_CAPABILITY_VERSION_3, 0};
	struct __user_cap_data_struct caps[2] = {{0}};
	uint32_t real = 0, effective = 0, saved = 0;

	if (sys_call(SYS_getresuid, (long)&real, (long)&effective, (long)&saved, 0) != 0 ||
	    real != effective || real != saved || real == 0)
		return true;
	return sys_call(SYS_capget, (long)&h, (long)caps, 0, 0) == 0 &&
	    (caps[0].permitted & (1u << CAP_SETUID)) != 0;
}

/* ---- names --------------------------------------------------------------- */

/*
 * Children's files are numbered from 0. This is the number of the first file
 * that no child has used yet, as far as the parent knows.
 */
static uint32_t number;
static bool has_advanced; /* the file before that number has been used */

/* The name of this process's file; its control file has the suffix .ctl. */
static char own[NAME_BYTES];

static void make_name(char to[NAME_BYTES], uint32_t pid, uint32_t n)
{
	struct fmt f;

	fmt_init(&f, to, NAME_BYTES);
	place_name_write(&f, place_name_program(), pid);
	fmt_string(&f, "-");
	fmt_decimal(&f, n);
	fmt_string(&f, ".seg");
}

static void make_control_name(char to[NAME_BYTES], const char *name)
{
	struct fmt f;

	fmt_init(&f, to, NAME_BYTES);
	fmt_string(&f, name);
	fmt_string(&f, ".ctl");
}

/* Opens no descriptor, because other threads may fork at any time. */
void child_file_before_fork(uint32_t own_pid, uint64_t *ret_first)
{
	char path[sizeof(config.dir) + NAME_BYTES];
	char name[NAME_BYTES];
	struct stat st;
	struct fmt f;
	int i;

	has_advanced = false;
	for (i = 0; i < STEPS; i++) {
		make_name(name, own_pid, LOAD(&number));
		fmt_init(&f, path, sizeof(path));
		fmt_string(&f, place_dir());
		fmt_string(&f, "/");
		fmt_string(&f, name);
		if (sys_call(SYS_newfstatat, AT_FDCWD, (long)path, (long)&st,
		        AT_SYMLINK_NOFOLLOW) != 0 ||
		    st.st_blocks <= FRESH_BLOCKS)
			break;
		ADD(&number, 1);
		has_advanced = true;
	}
	*ret_first = (uint64_t)LOAD(&number) + 1;
}

/* ---- the file ------------------------------------------------------------ */

/*
 * Bytes of the file, with room for children of the child if the limit allows.
 */
static uint64_t file_bytes(uint64_t segment_bytes, const struct slots *room)
{
	uint64_t all = segment_bytes + slots_bytes(room);

	if (kernel_allows_file(all))
		return all;
	return kernel_allows_file(segment_bytes) ? segment_bytes : 0;
}

/*
 * The lock belongs to the open file, which the child's mapping keeps open. So
 * the lock ends with the last process that has the file mapped.
 */
static bool lock(long fd)
{
	return sys_call(SYS_flock, fd, LOCK_EX | LOCK_NB, 0, 0) == 0;
}

static long make_file(long dir, const char *name, uint64_t bytes)
{
	long fd = sys_openat(dir, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0400);
	char from[NAME_BYTES], to[NAME_BYTES];

	if (fd < 0)
		return fd;
	/* 0400, even if the umask or a default ACL says otherwise */
	if (!lock(fd) || sys_call(SYS_fchmod, fd, 0400, 0, 0) != 0 ||
	    sys_call(SYS_ftruncate, fd, (long)bytes, 0, 0) != 0) {
		sys_close(fd);
		sys_call(SYS_unlinkat, dir, (long)name, 0, 0);
		return -ENOSPC;
	}
	/*
	 * all of the family share one control block, under the name of each
	 * file
	 */
	make_control_name(from, own);
	make_control_name(to, name);
	cpu_syscall6(SYS_linkat, dir, (long)from, dir, (long)to, 0, 0);
	return fd;
}

/*
 * Shows the parent that the file is used: see child_file_before_fork(). The child
 * that uses it cannot do that, because its sandbox may kill it for the call. So
 * a later child does it here, with a page behind those that a fresh file has.
 */
static void mark_as_used(long fd, uint64_t segment_bytes)
{
	const uint64_t at = segment_layout(segment_bytes).first + SPARE_BYTES;

	sys_call(SYS_fallocate, fd, FALLOC_FL_KEEP_SIZE, (long)at, (long)CPU_PAGE);
}

static bool is_used(long fd)
{
	uint64_t magic = 1;

	return sys_call(SYS_pread64, fd, (long)&magic, sizeof(magic), 0) != sizeof(magic) ||
	    magic != 0;
}

/* Takes the file of a dead child that has recorded nothing; or -errno. */
static long take_file(long dir, const char *name, uint64_t bytes, uint64_t segment_bytes)
{
	const int flags = O_RDWR | O_NOFOLLOW | O_CLOEXEC;
	long fd = sys_openat(dir, name, flags, 0);
	struct stat st;

	if (fd == -EACCES) { /* no CAP_DAC_OVERRIDE */
		sys_call(SYS_fchmodat, dir, (long)name, 0600, 0);
		fd = sys_openat(dir, name, flags, 0);
		sys_call(SYS_fchmodat, dir, (long)name, 0400, 0);
	}
	if (fd < 0)
		return fd;
	if (sys_call(SYS_fstat, fd, (long)&st, 0, 0) == 0 && st.st_nlink &&
	    (uint64_t)st.st_size == bytes && st.st_blocks <= FRESH_BLOCKS) {
		if (is_used(fd))
			mark_as_used(fd, segment_bytes);
		else if (lock(fd) && !is_used(fd)) /* it may have ended since */
			return fd;
	}
	sys_close(fd);
	return -EBUSY;
}

/*
 * A child that ended in its first events keeps its early_page. The pages behind the
 * early_page were for a segment that was never made, so the next child frees them.
 */
static void trim_file(long dir, const char *name)
{
	const uint64_t at =
	    offsetof(struct seg_header, counts) + SEG_EARLY_STACKS * sizeof(uint64_t);
	long fd = sys_openat(dir, name, O_RDWR | O_NOFOLLOW | O_CLOEXEC, 0);
	uint64_t early = 0;

	if (fd < 0)
		return;
	if (lock(fd) &&
	    sys_call(SYS_pread64, fd, (long)&early, sizeof(early), (long)at) == sizeof(early) &&
	    early)
		sys_call(SYS_fallocate, fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
		    EARLY_PAGE_BYTES, TRIM_BYTES);
	sys_close(fd);
}

/* A descriptor of the first file that nobody uses; sets *ret_number. */
static long find_file(
    long dir, uint32_t parent_pid, uint64_t bytes, uint64_t segment_bytes, uint32_t *ret_number)
{
	char name[NAME_BYTES];
	uint32_t n;

	if (has_advanced) {
		make_name(name, parent_pid, number - 1);
		trim_file(dir, name);
	}
	for (n = number; n < number + TRIES; n++) {
		long fd;

		make_name(name, parent_pid, n);
		fd = take_file(dir, name, bytes, segment_bytes);
		if (fd == -ENOENT)
			fd = make_file(dir, name, bytes);
		if (fd == -EBUSY || fd == -EEXIST || fd == -EACCES)
			continue; /* the file of another child */
		if (fd < 0)
			return fd;
		memcpy(own, name, sizeof(own));
		*ret_number = n;
		return fd;
	}
	return -EBUSY;
}

static bool map_file(struct child_file *c, long fd)
{
	const struct segment_layout l = segment_layout(c->bytes);
	uint64_t window = c->bytes - l.first;
	uint8_t *at;

	window = window < SEGMENT_WINDOW ? window : SEGMENT_WINDOW;
	at = sys_mmap(
	    NULL, l.first + window + CPU_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, (int)fd, 0);
	if (sys_failed(at))
		return false;
	sys_madvise(at, l.first + window + CPU_PAGE, MADV_DONTDUMP);
	c->memory =
	    (struct segment_memory){.head = at, .extents = at + l.first, .extents_bytes = window};
	if (sys_madvise(at, EARLY_PAGE_BYTES, MADV_POPULATE_WRITE) != 0) {
		child_file_leave(c, false);
		return false;
	}
	if (sys_madvise(c->memory.extents, SPARE_BYTES, MADV_POPULATE_WRITE) == 0)
		c->memory.made = SPARE_BYTES;
	return true;
}

bool child_file_make(
    struct child_file *c, uint32_t parent_pid, uint64_t segment_bytes, const struct slots *room)
{
	uint64_t bytes = file_bytes(segment_bytes, room);
	uint32_t n = 0;
	bool done;
	struct stat st;
	long dir, fd;

	memset(c, 0, sizeof(*c));
	if (!bytes)
		return false;
	if (!own[0]) {
		struct fmt f;

		fmt_init(&f, own, sizeof(own));
		place_name_write(&f, place_name_program(), parent_pid);
		fmt_string(&f, ".seg");
	}
	dir = place_open_dir(place_dir(), &st);
	if (dir < 0)
		return false;
	/*
	 * Nobody removes old files here, so add no more. A server that forks
	 * for each request would fill the memory of the machine.
	 */
	fd = -ENOSPC;
	if ((uint64_t)st.st_size / PLACE_DIRENT <= PLACE_FILES_MAX)
		fd = find_file(dir, parent_pid, bytes, segment_bytes, &n);
	if (fd >= 0 && (log_is_on || flight_is_on))
		(void)logpool_create(dir, own);
	sys_close(dir);
	number = 0; /* for its own children */
	if (fd < 0)
		return false;
	c->bytes = segment_bytes;
	c->word = SEG_SLOTS - 1 - n % SEG_SLOTS;
	done = map_file(c, fd);
	sys_close(fd);
	return done;
}

bool child_file_leave(struct child_file *c, bool keep)
{
	const struct segment_layout l = segment_layout(c->bytes);
	const struct segment_memory m = c->memory;
	bool done;

	if (!m.head)
		return true;
	c->memory.head = NULL;
	/* one mapping or two, as it was made; they may overlap by a page */
	done = segment_leave_mapping(m.head, l.head_bytes + CPU_PAGE, keep);
	return segment_leave_mapping(m.extents, m.extents_bytes + CPU_PAGE, keep) && done;
}

/* ---- the early_page ------------------------------------------------------------ */

/*
 * Behind the entries of the directory, in its first page: two rows each, of
 * which the first is the empty one that every table has.
 */
struct early_page {
	struct seg_extent extents[4];
	uint8_t pad[1024 - 4 * sizeof(struct seg_extent)];
	struct seg_node nodes[2];
	struct seg_inner inners[2];
	struct seg_site sites[2];
	struct seg_row rows[2];
};
_Static_assert(sizeof(struct early_page) <= CPU_PAGE, "card");

#define EXTENT(KIND, FIELD) \
	{ \
		.kind = (KIND), .count = 2, \
		.row_bytes = sizeof(((struct early_page *)0)->FIELD[0]), \
		.offset = SEG_HEADER_BYTES + offsetof(struct early_page, FIELD) \
	}

void child_file_write_early(const struct child_file *c, const struct seg_header *h)
{
	static const struct seg_extent extents[4] = {EXTENT(SEG_EXT_NODE, nodes),
	    EXTENT(SEG_EXT_INNER, inners), EXTENT(SEG_EXT_SITE, sites),
	    EXTENT(SEG_EXT_LEDGER, rows)};
	struct seg_header *to = (struct seg_header *)(void *)c->memory.head;
	struct early_page *early_page =
	    (struct early_page *)(void *)(c->memory.head + SEG_HEADER_BYTES);

	memcpy((uint8_t *)to + sizeof(to->magic), (const uint8_t *)h + sizeof(h->magic),
	    sizeof(*to) - sizeof(to->magic));
	memcpy(early_page->extents, extents, sizeof(extents));
	early_page->nodes[1].flags = SEG_NODE_EARLY;
	early_page->inners[1].is_filled = 1;
	early_page->sites[1] = (struct seg_site){.node = 1, .inner = 1, .kind = SEG_SITE_HEAP};
	early_page->rows[1].epoch = 1;
	to->total_bytes = c->bytes;
	to->used_bytes = SEG_HEADER_BYTES + sizeof(*early_page);
	to->dir_used = 4;
	to->first_id = 1;
	to->sample_bytes = 0;
	to->live_root = to->spill_root = 0;
	to->peak_epoch = 1;
	to->threads = 1;
	to->state = SEG_ALIVE;
}

void child_file_update_early(
    const struct child_file *c, const struct ledger_sums *sums, uint64_t peak_bytes)
{
	struct seg_header *to = (struct seg_header *)(void *)c->memory.head;
	struct early_page *early_page =
	    (struct early_page *)(void *)(c->memory.head + SEG_HEADER_BYTES);
	struct seg_row *row = &early_page->rows[1];

	STORE(&row->allocations, sums->allocations);
	STORE(&row->allocated_bytes, sums->allocated_bytes);
	STORE(&row->frees, sums->frees);
	STORE(&row->freed_bytes, sums->freed_bytes);
	STORE(&row->snap_bytes, (int64_t)peak_bytes);
	STORE(&row->snap_blocks, (int64_t)(sums->allocations - sums->frees));
	STORE(&to->peak_bytes, peak_bytes);
	STORE(&to->counts[SEG_EARLY_STACKS], sums->allocations);
	if (!to->magic && (sums->allocations || sums->frees))
		STORE_RELEASE(&to->magic, SEG_MAGIC);
}

void child_file_end_early(const struct child_file *c)
{
	struct seg_header *to = (struct seg_header *)(void *)c->memory.head;

	STORE_RELEASE(&to->end_kind, SEG_END_EXITED);
}

void child_file_stop_early(const struct child_file *c)
{
	struct seg_header *to = (struct seg_header *)(void *)c->memory.head;

	STORE(&to->counts[SEG_CHILDREN_UNTRACED], 1);
}
