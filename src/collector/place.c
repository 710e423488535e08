/* place.c - where segments live: directory, budget, files, mappings. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/place.h"

#include <errno.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "base/fmt.h"
#include "base/sys.h"
#include "collector/cgroup.h"
#include "collector/config.h"
#include "collector/refusal.h"
#include "collector/segment.h"
#include "collector/slots.h"

enum {
	MIB = 1 << 20,
	BUDGET_MAX = 256 * MIB,
	BUDGET_MIN = 256 << 10,
	FIXED_BYTES = 4 * MIB, /* where pages cannot be populated later */
	CGROUP_MIN = 1 * MIB,
	NAME_BYTES = 96,
	COMM_BYTES = 16,
};

/* statfs f_type of media that neither stall nor copy on write. */
enum {
	FS_RAMFS = (int)0x858458f6,
	FS_EXT = 0xEF53,
	FS_XFS = 0x58465342,
	FS_F2FS = (int)0xF2F52010,
};

static uint64_t
min64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* 0, not known, where a filter answers instead of the kernel. */
static uint32_t
positive(long answer)
{
	return answer > 0 ? (uint32_t)answer : 0;
}

static uint64_t
limit_of(int which)
{
	struct rlimit r;

	if (sys_call(SYS_prlimit64, 0, which, 0, (long)&r) != 0)
		return RLIM_INFINITY;
	return r.rlim_cur;
}

struct place_kernel
place_probe(void)
{
	struct place_kernel k = {false, false, false};
	void *p = sys_mmap(NULL, CPU_PAGE, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (sys_failed(p))
		return k;
	k.honest = sys_madvise(p, CPU_PAGE, 9999) != 0;
	k.wipe = sys_madvise(p, CPU_PAGE, MADV_WIPEONFORK) == 0;
	k.populate = sys_madvise(p, CPU_PAGE, MADV_POPULATE_WRITE) == 0;
	sys_munmap(p, CPU_PAGE);
	return k;
}

void
place_random(void *to, uint64_t bytes)
{
	long n = cpu_syscall3(SYS_getrandom, (long)to, (long)bytes, 1);
	uint8_t *b = to;
	uint64_t x;
	uint64_t i;

	if (n == (long)bytes)
		return;
	/* early boot: unlike others is enough, nobody must guess it */
	x = (uint64_t)cpu_syscall3(SYS_getpid, 0, 0, 0) << 32;
	x ^= cpu_cycles() ^ (uint64_t)(uintptr_t)to;
	for (i = 0; i < bytes; i++) {
		x = x * UINT64_C(6364136223846793005) + 1442695040888963407;
		b[i] = (uint8_t)(x >> 56);
	}
}

long
place_read(const char *path, char *to, size_t bytes)
{
	long fd = sys_openat(AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
	long n;

	to[0] = 0;
	if (fd < 0)
		return -1;
	n = sys_read(fd, to, bytes - 1);
	sys_close(fd);
	if (n < 0)
		return -1;
	to[n] = 0;
	return n;
}

/* A share of the limit on address space, UINT64_MAX where there is none. */
static uint64_t
address_space_share(uint64_t part)
{
	uint64_t as = limit_of(RLIMIT_AS);

	return as == RLIM_INFINITY ? UINT64_MAX : as / part;
}

uint64_t
place_private_bytes(void)
{
	return address_space_share(8);
}

/* Static, because a forked child's set-up runs on its host's stack. */
static char dir_name[sizeof(config.dir)];

long
place_open_dir(const char *path, struct stat *st)
{
	uint64_t uid = (uint64_t)sys_call(SYS_geteuid, 0, 0, 0, 0);
	long fd = sys_openat(
	    AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);

	if (fd < 0)
		return fd;
	if (sys_call(SYS_fstat, fd, (long)st, 0, 0) == 0 && st->st_uid == uid &&
	    !(st->st_mode & 022))
		return fd;
	sys_close(fd);
	return -EPERM;
}

static long
open_own_dir(struct stat *st)
{
	uint64_t uid = (uint64_t)sys_call(SYS_geteuid, 0, 0, 0, 0);
	struct fmt f;

	fmt_init(&f, dir_name, sizeof(dir_name));
	if (config.dir[0]) {
		fmt_string(&f, config.dir);
	} else {
		fmt_string(&f, PLACE_SHM "/seep-");
		fmt_decimal(&f, uid);
		sys_call(SYS_mkdir, (long)dir_name, 0700, 0, 0);
	}
	return place_open_dir(dir_name, st);
}

const char *
place_dir(void)
{
	return dir_name;
}

/* The directory, checked (I13, I21), or -1. SEEP_DIR of another user: ours. */
static long
open_dir(struct stat *st)
{
	long fd = open_own_dir(st);

	if (fd < 0 && config.dir[0]) {
		config.dir[0] = 0;
		config.dir_replaced = true;
		fd = open_own_dir(st);
	}
	return fd;
}

static bool
medium_of(const struct statfs *fs, enum seg_medium *ret)
{
	switch ((int)fs->f_type) {
	case PLACE_TMPFS:
	case FS_RAMFS:
		*ret = SEG_MEDIUM_TMPFS;
		return true;
	case FS_EXT:
	case FS_XFS:
	case FS_F2FS:
		*ret = SEG_MEDIUM_DISK;
		return config.dir[0] != 0; /* only when asked for */
	default:
		return false;
	}
}

static uint64_t
budget(const struct statfs *fs, uint64_t want, bool populate)
{
	uint64_t b = config.budget ? config.budget : want;
	uint64_t left;

	left = cgroup_left();
	/* pages are taken as they are needed, so a small promise is kept */
	if (left != UINT64_MAX)
		b = min64(b, left / 16 < CGROUP_MIN ? CGROUP_MIN : left / 16);
	b = min64(b, (uint64_t)fs->f_bavail * (uint64_t)fs->f_bsize / 4);
	b = min64(b, limit_of(RLIMIT_FSIZE) / 4);
	b = min64(b, address_space_share(32));
	if (!populate)
		b = min64(b, FIXED_BYTES);
	return b & ~(uint64_t)(SEG_EXTENT_STEP - 1);
}

/* of the names of our files; a forked child's snapshots are called alike */
static char comm[COMM_BYTES + 1];
static uint32_t random_part;

const char *
place_program(void)
{
	return comm;
}

void
place_name(struct fmt *f, const char *begin, uint64_t pid)
{
	fmt_string(f, begin);
	fmt_string(f, "-");
	fmt_decimal(f, pid);
	fmt_string(f, "-");
	fmt_hex(f, random_part, 8);
}

void
place_tame(char *text, bool dashes)
{
	char *c;

	for (c = text; *c; c++) {
		bool fine = (*c >= 'a' && *c <= 'z') ||
		    (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9') ||
		    *c == '_' || *c == '+' ||
		    (c > text && (*c == '.' || (dashes && *c == '-')));

		if (!fine)
			*c = '_';
	}
}

static void
choose_name(void)
{
	memset(comm, 0, sizeof(comm));
	sys_call(SYS_prctl, 16 /* PR_GET_NAME */, (long)comm, 0, 0);
	place_tame(comm, false);
	place_random(&random_part, sizeof(random_part));
}

/* COMM-PID-RANDOM.seg */
static void
make_name(char *to, size_t bytes)
{
	struct fmt f;

	fmt_init(&f, to, bytes);
	place_name(&f, comm, positive(cpu_syscall3(SYS_getpid, 0, 0, 0)));
	fmt_string(&f, ".seg");
}

static long
make_file(long dir, const char *name, uint64_t bytes)
{
	long fd = sys_openat(dir, name,
	    O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd < 0)
		return -1;
	/* whatever the umask and any default ACL say */
	if (sys_call(SYS_fchmod, fd, 0600, 0, 0) != 0 ||
	    sys_call(SYS_ftruncate, fd, (long)bytes, 0, 0) != 0) {
		sys_close(fd);
		sys_call(SYS_unlinkat, dir, (long)name, 0, 0);
		return -1;
	}
	return fd;
}

static void *
map_shared(uint64_t bytes, int prot, long fd, uint64_t offset)
{
	void *p = sys_mmap(NULL, bytes, prot, MAP_SHARED, (int)fd, offset);

	if (sys_failed(p))
		return NULL;
	/* what mremap() makes of it inherits this */
	sys_madvise(p, bytes, MADV_DONTDUMP);
	return p;
}

/*
 * When the recorder of our session last said that it is there, in a file of its
 * own. So a process that ends before the recorder has found it waits for it.
 */
static uint64_t
first_beat(long dir)
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
	fd = sys_openat(
	    dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0);
	if (fd < 0)
		return 0;
	if (cpu_syscall6(SYS_pread64, fd, (long)&beat, sizeof(beat),
	        offsetof(struct ctl_block, heartbeat), 0, 0) != sizeof(beat))
		beat = 0;
	sys_close(fd);
	return beat;
}

/* Two pages that exist from the start: reading a hole may fail, too. */
static bool
fill_control(long dir, long fd)
{
	const struct {
		uint64_t magic;
		uint32_t version, command;
		uint64_t heartbeat;
	} head = {SEG_CTL_MAGIC, SEG_VERSION, 0, first_beat(dir)};
	static const uint32_t none;

	return cpu_syscall6(SYS_pwrite64, fd, (long)&head, sizeof(head), 0, 0,
	           0) == sizeof(head) &&
	    cpu_syscall6(SYS_pwrite64, fd, (long)&none, sizeof(none),
	        SEG_CTL_BYTES - sizeof(none), 0, 0) == sizeof(none);
}

/*
 * The control block, NAME.ctl. Mapped from a read-only descriptor: no process
 * that inherits the mapping, as a worker that has dropped its privileges does,
 * can write it or take its pages away.
 */
static const struct ctl_block *
make_control(long dir, const char *name)
{
	const struct ctl_block *c = NULL;
	char ctl[NAME_BYTES + 4];
	struct fmt f;
	long fd, read_only;

	fmt_init(&f, ctl, sizeof(ctl));
	fmt_string(&f, name);
	fmt_string(&f, ".ctl");
	fd = make_file(dir, ctl, SEG_CTL_BYTES);
	if (fd < 0)
		return NULL;
	read_only = fill_control(dir, fd)
	    ? sys_openat(dir, ctl, O_RDONLY | O_NOFOLLOW | O_CLOEXEC, 0)
	    : -1;
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
static bool
map_segment(struct place *p, long fd)
{
	const struct segment_layout l = segment_layout(p->segment_bytes);
	struct segment_memory *m = &p->memory;

	m->extents_bytes = min64(SEGMENT_WINDOW, p->segment_bytes - l.first);
	m->head =
	    map_shared(l.head_bytes + CPU_PAGE, PROT_READ | PROT_WRITE, fd, 0);
	m->extents = map_shared(
	    m->extents_bytes + CPU_PAGE, PROT_READ | PROT_WRITE, fd, l.first);
	return m->head && m->extents;
}

static void
unmap_segment(struct place *p)
{
	const struct segment_layout l = segment_layout(p->segment_bytes);

	if (p->memory.head)
		sys_munmap(p->memory.head, l.head_bytes + CPU_PAGE);
	if (p->memory.extents)
		sys_munmap(
		    p->memory.extents, p->memory.extents_bytes + CPU_PAGE);
}

/* Who has the directory, where it is not ours. */
static void
find_owner(struct place *p)
{
	struct stat st;

	p->is_taken = sys_call(SYS_newfstatat, AT_FDCWD, (long)dir_name,
	                  (long)&st, AT_SYMLINK_NOFOLLOW) == 0 &&
	    st.st_uid != (uint64_t)sys_call(SYS_geteuid, 0, 0, 0, 0);
	p->owner = p->is_taken ? st.st_uid : 0;
}

/* Opens the directory and finds out what may be made there; -1: nothing. */
static long
open_place(struct place *p, uint64_t want, bool populate)
{
	struct statfs fs;
	struct stat st;
	long dir = open_dir(&st);

	p->refusal = REFUSAL_NO_DIRECTORY;
	if (dir < 0) {
		find_owner(p);
		return -1;
	}
	p->refusal = REFUSAL_FILE_SYSTEM;
	if (sys_call(SYS_fstatfs, dir, (long)&fs, 0, 0) != 0 ||
	    !medium_of(&fs, &p->medium))
		goto refused;
	p->refusal = REFUSAL_TOO_MANY_FILES;
	if (fs.f_type == PLACE_TMPFS &&
	    (uint64_t)st.st_size / PLACE_DIRENT > (fs.f_bavail < fs.f_blocks / 2
	                                                  ? PLACE_FILES_MAX
	                                                  : PLACE_FILES_MORE))
		goto refused; /* nobody clears up here: stop adding */
	p->refusal = REFUSAL_NO_SPACE;
	p->segment_bytes = budget(&fs, want, populate);
	if (p->segment_bytes >= BUDGET_MIN)
		return dir;
refused:
	refusal_note(dir, p->refusal);
	sys_close(dir);
	return -1;
}

bool
place_create(
    struct place *p, uint64_t want, enum place_slots with_slots, bool populate)
{
	char name[NAME_BYTES];
	uint64_t slots = 0;
	long dir, fd;

	memset(p, 0, sizeof(*p));
	choose_name();
	dir = open_place(p, want, populate);
	if (dir < 0)
		return false;
	if (with_slots != PLACE_NO_SLOTS && populate)
		slots = slots_layout(&p->slots, p->segment_bytes);
	if (p->segment_bytes + slots > limit_of(RLIMIT_FSIZE))
		slots = p->slots.count = 0;
	make_name(name, sizeof(name));
	p->refusal = REFUSAL_NO_FILE;
	fd = make_file(dir, name, p->segment_bytes + slots);
	if (fd < 0)
		goto no_dir;
	if ((!populate &&
	        sys_call(SYS_fallocate, fd, 0, 0, (long)p->segment_bytes) !=
	            0) ||
	    !map_segment(p, fd))
		goto no_file;
	p->control = make_control(dir, name);
	if (!p->control)
		goto no_file;
	if (slots && with_slots == PLACE_SLOTS_MAPPED)
		slots_map(&p->slots,
		    map_shared(SLOTS_HEAD_BYTES + CPU_PAGE,
		        PROT_READ | PROT_WRITE, fd, p->segment_bytes));
	/* mapped: from now on nobody but root can truncate it under us */
	sys_call(SYS_fchmod, fd, 0400, 0, 0);
	sys_close(fd);
	sys_close(dir);
	return true;
no_file:
	unmap_segment(p);
	sys_close(fd);
	sys_call(SYS_unlinkat, dir, (long)name, 0, 0);
no_dir:
	refusal_note(dir, p->refusal);
	sys_close(dir);
	return false;
}

bool
place_private(struct place *p, uint64_t want)
{
	static const struct ctl_block no_control;
	char name[NAME_BYTES];
	long dir;

	memset(p, 0, sizeof(*p));
	dir = open_place(p, want, true);
	if (dir < 0)
		return false;
	sys_close(dir);
	make_name(name, sizeof(name));
	p->control = &no_control;
	return segment_map_private(&p->memory, p->segment_bytes);
}

/* The working directory; empty: not known, too long, or out of our root. */
static void
working_dir(char *to, uint64_t bytes)
{
	if (sys_call(SYS_getcwd, (long)to, (long)bytes, 0, 0) <= 0 ||
	    to[0] != '/')
		to[0] = 0;
}

/*
 * As it was given to exec, from the directory in which we are still. Without
 * /proc, or where the path is longer than /proc can say: then the directory is
 * not known either, and the relative name is what is left.
 */
static void
exe_without_proc(char to[PLACE_PATH_BYTES])
{
	const char *name = (const char *)getauxval(AT_EXECFN);
	uint64_t at = 0;
	struct fmt f;

	to[0] = 0;
	if (!name)
		return;
	if (name[0] != '/') {
		working_dir(to, PLACE_PATH_BYTES);
		at = fmt_length(to, PLACE_PATH_BYTES);
	}
	fmt_init(&f, to + at, PLACE_PATH_BYTES - at);
	if (at)
		fmt_string(&f, "/");
	fmt_string(&f, name);
	if (!f.ok)
		to[0] = 0;
}

void
place_exe(char to[PLACE_PATH_BYTES])
{
	long n = sys_call(SYS_readlink, (long)"/proc/self/exe", (long)to,
	    PLACE_PATH_BYTES - 1, 0);

	if (n > 0)
		to[n] = 0;
	else
		exe_without_proc(to);
}

/* Of a path that does not fit the end is kept, and one can see that. */
static void
copy_path(char *to, uint64_t bytes, const char *path)
{
	uint64_t n = fmt_length(path, PLACE_PATH_BYTES), at;
	struct fmt f;

	fmt_init(&f, to, bytes);
	at = n < bytes ? 0 : n - (bytes - sizeof("..."));
	while (at && at < n && path[at] != '/')
		at++;
	if (at)
		fmt_string(&f, "...");
	fmt_string(&f, path + at);
}

static int
hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static void
describe_boot(struct seg_header *h)
{
	char text[48];
	uint32_t n = 0;
	char *c;

	place_read("/proc/sys/kernel/random/boot_id", text, sizeof(text));
	for (c = text; *c && n < 32; c++) {
		int d = hex_digit(*c);

		if (d < 0)
			continue;
		h->boot_id[n / 2] =
		    (uint8_t)(h->boot_id[n / 2] << 4 | (uint8_t)d);
		n++;
	}
}

/* Field 22 of /proc/self/stat; the name in field 2 may contain anything. */
static uint64_t
start_jiffies(void)
{
	char text[1024];
	long n = place_read("/proc/self/stat", text, sizeof(text));
	const char *end = text + (n > 0 ? n : 0);
	const char *c = end;
	uint64_t v = 0;
	int field = 2;

	while (c > text && *c != ')')
		c--;
	while (c < end && field < 22) {
		if (*c++ == ' ')
			field++;
	}
	fmt_scan_decimal(c, end, &v);
	return v;
}

void
place_describe(struct seg_header *h, char **argv, const char *exe)
{
	struct stat st;
	uint64_t at = 0;

	h->pid = positive(cpu_syscall3(SYS_getpid, 0, 0, 0));
	h->ppid = positive(cpu_syscall3(SYS_getppid, 0, 0, 0));
	if (sys_call(SYS_newfstatat, AT_FDCWD, (long)"/proc/self/ns/pid",
	        (long)&st, 0) == 0)
		h->pid_ns = st.st_ino;
	h->start_jiffies = start_jiffies();
	describe_boot(h);
	copy_path(h->exe, sizeof(h->exe), exe);
	working_dir(h->start_dir, sizeof(h->start_dir));
	for (; argv && *argv; argv++) {
		uint64_t n = fmt_length(*argv, SEG_COMMAND_BYTES);

		if (at + n + 2 > SEG_COMMAND_BYTES) {
			h->command_truncated = 1;
			break;
		}
		memcpy(h->command + at, *argv, n);
		at += n + 1;
	}
}
