/* place.c - where segments live: a directory, files in it, and mappings. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/segment/place.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "base/fmt.h"
#include "base/sys.h"
#include "collector/segment/kernel.h"
#include "collector/segment/config.h"
#include "collector/segment/segment.h"
#include "collector/segment/slots.h"
#include "format/format.h"

/* ---- a line of a process that could not be traced ------------------------- */

static const char *word_of(enum refusal why)
{
	switch (why) {
	case REFUSAL_FILE_SYSTEM:
		return "file-system";
	case REFUSAL_TOO_MANY_FILES:
		return "too-many-files";
	case REFUSAL_NO_SPACE:
		return "no-space";
	default:
		return "no-file";
	}
}

/*
 * Appends one line to SEG_REFUSED_NAME in the directory; see docs/FORMAT.md.
 * The file grows up to a fixed size; if it has that size, a reader says "or
 * more".
 */
static void write_refusal(long dir, enum refusal why)
{
	char line[SEG_SESSION_BYTES + 96], comm[17] = "";
	struct stat st;
	struct fmt f;
	long fd = sys_openat(dir, SEG_REFUSED_NAME,
	    O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);

	if (fd < 0)
		return;
	sys_call(SYS_prctl, 16 /* PR_GET_NAME */, (long)comm, 0, 0);
	fmt_init(&f, line, sizeof(line));
	fmt_string(&f, config.session[0] ? config.session : "-");
	fmt_string(&f, " ");
	fmt_decimal(&f, (uint64_t)cpu_syscall3(SYS_getpid, 0, 0, 0));
	fmt_string(&f, " ");
	fmt_string(&f, word_of(why));
	fmt_string(&f, " ");
	fmt_string(&f, comm);
	fmt_string(&f, "\n");
	if (f.ok && sys_call(SYS_fstat, fd, (long)&st, 0, 0) == 0 && S_ISREG(st.st_mode) &&
	    st.st_size < SEG_REFUSED_BYTES &&
	    kernel_allows_file((uint64_t)st.st_size + sizeof(line)))
		cpu_syscall3(SYS_write, fd, (long)line, f.at - line);
	sys_close(fd);
}

/* ---- the directory -------------------------------------------------------- */

enum { NAME_BYTES = 96 };

struct place place;
struct place_asked place_asked;

/* Static, because a forked child's set-up runs on its host's stack. */
static char dir_name[sizeof(config.dir)];
_Static_assert(sizeof(config.base) + sizeof("/seep-4294967295") <= sizeof(config.dir),
    "seep-UID in SEEP_BASE");

static long mkdir_error; /* -errno of making dir_name, or 0 */

long place_open_dir(const char *path, struct stat *st)
{
	uint64_t uid = (uint64_t)sys_call(SYS_geteuid, 0, 0, 0, 0);
	long fd = sys_openat(AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);

	if (fd < 0)
		return fd;
	if (sys_call(SYS_fstat, fd, (long)st, 0, 0) == 0 && st->st_uid == uid &&
	    !(st->st_mode & 022))
		return fd;
	sys_close(fd);
	return -EPERM;
}

/*
 * Why a directory cannot be used: SEEP_BASE, which is to hold a directory for
 * each user, or one of our own. Like /dev/shm the base must belong to root, or to
 * this user, and if others may write there it must be sticky, so that they cannot
 * replace what is not theirs.
 */
static enum seg_place why_unfit(const char *path, bool is_base, uint32_t *ret_detail)
{
	struct stat st;
	long err = is_base && path[0] != '/'
	    ? -EINVAL /* a daemon changes its working directory */
	    : sys_call(SYS_newfstatat, AT_FDCWD, (long)path, (long)&st, AT_SYMLINK_NOFOLLOW);

	*ret_detail = (uint32_t)-err;
	if (err != 0)
		return err == -EACCES ? SEG_PLACE_CLOSED : SEG_PLACE_MISSING;
	*ret_detail = st.st_mode;
	if (!S_ISDIR(st.st_mode))
		return SEG_PLACE_NO_DIRECTORY;
	*ret_detail = st.st_uid;
	if (!(is_base && st.st_uid == 0) &&
	    st.st_uid != (uint64_t)sys_call(SYS_geteuid, 0, 0, 0, 0))
		return SEG_PLACE_OWNER;
	*ret_detail = st.st_mode & 07777;
	if ((st.st_mode & 022) && !(is_base && (st.st_mode & S_ISVTX)))
		return SEG_PLACE_SHARED;
	if (is_base)
		return SEG_PLACE_FINE;
	*ret_detail = EACCES; /* it could not be opened */
	return SEG_PLACE_CLOSED;
}

static long open_own_dir(struct stat *st)
{
	long uid = sys_call(SYS_geteuid, 0, 0, 0, 0);
	uint32_t detail;
	struct fmt f;

	mkdir_error = 0;
	if ((long)uid < 0)
		return -EPERM; /* a filter refuses even that */
	fmt_init(&f, dir_name, sizeof(dir_name));
	if (config.dir[0]) {
		fmt_string(&f, config.dir);
		return place_open_dir(dir_name, st);
	}
	/* a filter for system calls may have answered instead of the kernel */
	if (uid < 0 || (config.base[0] && why_unfit(config.base, true, &detail)))
		return -EPERM;
	fmt_string(&f, config.base[0] ? config.base : PLACE_SHM);
	fmt_string(&f, "/seep-");
	fmt_decimal(&f, (uint64_t)uid);
	mkdir_error = sys_mkdir(dir_name, 0700);
	return place_open_dir(dir_name, st);
}

const char *place_dir(void)
{
	return dir_name;
}

static bool medium_of(const struct statfs *fs, enum seg_medium *ret)
{
	*ret = (enum seg_medium)medium_of_type((uint32_t)fs->f_type);
	/* a disk only if the user asked for it */
	return *ret == SEG_MEDIUM_TMPFS ||
	    (*ret == SEG_MEDIUM_DISK && (config.dir[0] || config.base[0]));
}

/* PROGRAM-PID-RANDOM.seg */
static void make_name(char *to, size_t bytes)
{
	struct fmt f;

	fmt_init(&f, to, bytes);
	place_name_write(&f, place_name_program(), kernel_pid(SYS_getpid));
	fmt_string(&f, ".seg");
}

long place_make_file(long dir, const char *name, uint64_t bytes)
{
	long fd, result;

	if (!kernel_allows_file(bytes))
		return -EFBIG;
	fd = sys_openat(dir, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return fd;
	/* the umask and a default ACL must not change the mode */
	result = sys_call(SYS_fchmod, fd, 0600, 0, 0);
	if (result == 0)
		result = sys_call(SYS_ftruncate, fd, (long)bytes, 0, 0);
	if (result == 0)
		return fd;
	sys_close(fd);
	sys_call(SYS_unlinkat, dir, (long)name, 0, 0);
	return result;
}

static void *map_shared(uint64_t bytes, int prot, long fd, uint64_t offset)
{
	void *p = sys_mmap(NULL, bytes, prot, MAP_SHARED, (int)fd, offset);

	if (sys_failed(p))
		return NULL;
	/* a view that mremap() makes of it inherits this */
	sys_madvise(p, bytes, MADV_DONTDUMP);
	return p;
}

/*
 * The recorder's latest heartbeat, from its file rec-SESSION.ctl; 0 if there is
 * none. The control block starts with it, so that a process that ends before the
 * recorder has found it waits for the recorder, too.
 */
static uint64_t first_beat(long dir)
{
	char name[sizeof("rec-.ctl") + SEG_SESSION_BYTES];
	uint64_t beat = 0;
	struct fmt f;
	long fd;

	if (!config.leaks || !config.session[0])
		return 0;
	/* the name of a file there, and no path to elsewhere */
	for (const char *c = config.session; *c; c++)
		if (*c == '/')
			return 0;
	fmt_init(&f, name, sizeof(name));
	fmt_string(&f, "rec-");
	fmt_string(&f, config.session);
	fmt_string(&f, ".ctl");
	fd = sys_openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0);
	if (fd < 0)
		return 0;
	if (cpu_syscall6(SYS_pread64, fd, (long)&beat, sizeof(beat),
	        offsetof(struct ctl_block, heartbeat), 0, 0) != sizeof(beat))
		beat = 0;
	sys_close(fd);
	return beat;
}

/* Both pages are written at the start, because reading a hole may fail. */
static bool fill_control(long dir, long fd)
{
	const struct {
		uint64_t magic;
		uint32_t version, command;
		uint64_t heartbeat;
	} head = {SEG_CTL_MAGIC, SEG_VERSION, 0, first_beat(dir)};
	static const uint32_t none;

	return cpu_syscall6(SYS_pwrite64, fd, (long)&head, sizeof(head), 0, 0, 0) == sizeof(head) &&
	    cpu_syscall6(SYS_pwrite64, fd, (long)&none, sizeof(none), SEG_CTL_BYTES - sizeof(none),
	        0, 0) == sizeof(none);
}

/*
 * The control block, NAME.ctl. It is mapped from a read-only descriptor, so a
 * process that inherits the mapping, such as a worker that has dropped its
 * privileges, can neither write it nor take its pages away.
 */
static const struct ctl_block *make_control(long dir, const char *name)
{
	const struct ctl_block *c = NULL;
	char ctl[NAME_BYTES + 4];
	struct fmt f;
	long fd, read_only;

	fmt_init(&f, ctl, sizeof(ctl));
	fmt_string(&f, name);
	fmt_string(&f, ".ctl");
	fd = place_make_file(dir, ctl, SEG_CTL_BYTES);
	if (fd < 0)
		return NULL;
	read_only =
	    fill_control(dir, fd) ? sys_openat(dir, ctl, O_RDONLY | O_NOFOLLOW | O_CLOEXEC, 0) : -1;
	if (read_only >= 0) {
		c = map_shared(SEG_CTL_BYTES, PROT_READ, read_only, 0);
		sys_close(read_only);
	}
	sys_close(fd);
	if (!c)
		sys_call(SYS_unlinkat, dir, (long)ctl, 0, 0);
	return c;
}

/* Head and first window of a segment that begins the file. */
static bool map_segment(struct place *p, long fd)
{
	const struct segment_layout l = segment_layout(p->segment_bytes);
	struct segment_memory *m = &p->memory;

	m->extents_bytes = p->segment_bytes - l.first;
	if (m->extents_bytes > SEGMENT_WINDOW)
		m->extents_bytes = SEGMENT_WINDOW;
	m->head = map_shared(l.head_bytes + CPU_PAGE, PROT_READ | PROT_WRITE, fd, 0);
	m->extents = map_shared(m->extents_bytes + CPU_PAGE, PROT_READ | PROT_WRITE, fd, l.first);
	return m->head && m->extents;
}

static void unmap_segment(struct place *p)
{
	const struct segment_layout l = segment_layout(p->segment_bytes);

	if (p->memory.head)
		sys_munmap(p->memory.head, l.head_bytes + CPU_PAGE);
	if (p->memory.extents)
		sys_munmap(p->memory.extents, p->memory.extents_bytes + CPU_PAGE);
}

/* If the directory is not ours, finds out whose it is. */
static void find_owner(struct place *p)
{
	long uid = sys_call(SYS_geteuid, 0, 0, 0, 0);
	struct stat st;

	p->is_taken = uid >= 0 &&
	    sys_call(SYS_newfstatat, AT_FDCWD, (long)dir_name, (long)&st, AT_SYMLINK_NOFOLLOW) ==
	        0 &&
	    st.st_uid != (uint64_t)uid;
	p->owner = p->is_taken ? st.st_uid : 0;
}

/* Opens the directory if a segment can be made there; -1 otherwise. */
static long open_place(struct place *p, bool populate)
{
	struct statfs fs;
	struct stat st;
	long dir = open_own_dir(&st);

	place_name_choose();
	p->refusal = REFUSAL_NO_DIRECTORY;
	if (dir < 0) {
		find_owner(p);
		return -1;
	}
	p->refusal = REFUSAL_FILE_SYSTEM;
	if (sys_call(SYS_fstatfs, dir, (long)&fs, 0, 0) != 0)
		goto refused;
	p->file_system = (uint32_t)fs.f_type;
	if (!medium_of(&fs, &p->medium))
		goto refused;
	p->refusal = REFUSAL_TOO_MANY_FILES;
	if (fs.f_type == PLACE_TMPFS &&
	    (uint64_t)st.st_size / PLACE_DIRENT >
	        (fs.f_bavail < fs.f_blocks / 2 ? PLACE_FILES_MAX : PLACE_FILES_MORE))
		goto refused; /* nobody removes old files, so add no more */
	p->refusal = REFUSAL_NO_SPACE;
	p->segment_bytes = budget_of_segment(&fs, populate);
	if (p->segment_bytes >= BUDGET_MIN)
		return dir;
refused:
	sys_close(dir);
	return -1;
}

/* ---- a directory that was asked for and cannot be used ------------------- */

/* Why the directory seep-UID of SEEP_BASE, or SEEP_BASE itself, is no place. */
static enum seg_place why_not_in_base(struct place_asked *a)
{
	enum seg_place why = why_unfit(config.base, true, &a->detail);

	if (why != SEG_PLACE_FINE) {
		fmt_copy(a->dir, sizeof(a->dir), config.base);
		return why;
	}
	why = why_unfit(a->dir, false, &a->detail);
	if (why == SEG_PLACE_MISSING && mkdir_error) {
		a->detail = (uint32_t)-mkdir_error;
		return SEG_PLACE_CLOSED;
	}
	return why;
}

static void say_why(const struct place *p, struct place_asked *a)
{
	a->is_base = !config.dir[0];
	fmt_copy(a->dir, sizeof(a->dir), dir_name);
	a->detail = 0;
	switch (p->refusal) {
	case REFUSAL_FILE_SYSTEM:
		a->why = SEG_PLACE_FILE_SYSTEM;
		a->detail = p->file_system;
		break;
	case REFUSAL_TOO_MANY_FILES:
		a->why = SEG_PLACE_FILES;
		break;
	case REFUSAL_NO_SPACE:
		a->why = SEG_PLACE_ROOM;
		break;
	case REFUSAL_NO_FILE:
		a->why = SEG_PLACE_NO_FILE;
		break;
	default:
		a->why = a->is_base ? why_not_in_base(a) : why_unfit(a->dir, false, &a->detail);
	}
}

/*
 * SEEP_DIR could not be used, so SEEP_BASE takes its place; or that could not,
 * so /dev/shm does. The header says why the first of them was not used. False:
 * it was /dev/shm already.
 */
static bool replace_asked(const struct place *p)
{
	if (!config.dir[0] && !config.base[0])
		return false;
	if (place_asked.why == SEG_PLACE_FINE)
		say_why(p, &place_asked);
	if (config.dir[0])
		config.dir[0] = 0;
	else
		config.base[0] = 0;
	config.dir_replaced = true;
	return true;
}

/*
 * There is no place at all: a line where the user looks for segments, if we may
 * write it there.
 */
static void note_refusal(const struct place *p, enum refusal first)
{
	bool was_asked = place_asked.dir[0] && first != REFUSAL_NO_DIRECTORY;
	const char *path = was_asked ? place_asked.dir : place_dir();
	enum refusal why = was_asked ? first : p->refusal;
	struct stat st;
	long dir;

	if (why == REFUSAL_NO_DIRECTORY)
		return;
	dir = place_open_dir(path, &st);
	if (dir < 0)
		return;
	write_refusal(dir, why);
	sys_close(dir);
}

/* ---- segments ------------------------------------------------------------ */

static bool create(enum place_slots with_slots, bool populate, place_beside *beside)
{
	struct place *p = &place;
	char name[NAME_BYTES];
	uint64_t slots = 0;
	long dir, fd;

	memset(p, 0, sizeof(*p));
	dir = open_place(p, populate);
	if (dir < 0)
		return false;
	if (with_slots != PLACE_NO_SLOTS && populate)
		slots = slots_layout(&p->slots, p->segment_bytes);
	if (!kernel_allows_file(p->segment_bytes + slots))
		slots = p->slots.count = 0;
	make_name(name, sizeof(name));
	p->refusal = REFUSAL_NO_FILE;
	fd = place_make_file(dir, name, p->segment_bytes + slots);
	if (fd < 0)
		goto no_dir;
	if ((!populate && sys_call(SYS_fallocate, fd, 0, 0, (long)p->segment_bytes) != 0) ||
	    !map_segment(p, fd))
		goto no_file;
	p->control = make_control(dir, name);
	if (!p->control)
		goto no_file;
	if (beside)
		(void)beside(dir, name);
	if (slots && with_slots == PLACE_SLOTS_MAPPED)
		slots_map(&p->slots,
		    map_shared(
		        SLOTS_HEAD_BYTES + CPU_PAGE, PROT_READ | PROT_WRITE, fd, p->segment_bytes));
	/* it is mapped; from now on only root can open and truncate it */
	sys_call(SYS_fchmod, fd, 0400, 0, 0);
	sys_close(fd);
	sys_close(dir);
	return true;
no_file:
	unmap_segment(p);
	sys_close(fd);
	sys_call(SYS_unlinkat, dir, (long)name, 0, 0);
no_dir:
	sys_close(dir);
	return false;
}

bool place_create(enum place_slots with_slots, bool populate, place_beside *beside)
{
	enum refusal first;

	if (create(with_slots, populate, beside))
		return true;
	first = place.refusal;
	while (replace_asked(&place))
		if (create(with_slots, populate, beside))
			return true;
	note_refusal(&place, first);
	return false;
}

bool place_private(void)
{
	static const struct ctl_block no_control;
	struct place *p = &place;
	enum refusal first;
	long dir;

	memset(p, 0, sizeof(*p));
	dir = open_place(p, true);
	first = p->refusal;
	while (dir < 0 && replace_asked(p))
		dir = open_place(p, true);
	if (dir < 0) {
		note_refusal(p, first);
		return false;
	}
	sys_close(dir);
	p->control = &no_control;
	return segment_map_private(&p->memory, p->segment_bytes);
}
