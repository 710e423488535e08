/* proc.c - what /proc says of the process behind a segment. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "segments/find/proc.h"

#include <linux/magic.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>

#include "kit/os/clock.h"
#include "host/proc/procfs.h"

/* The clock of a header may be coarse: two ticks of the slowest kernel. */
#define COARSE_NS UINT64_C(20000000)

/* Looks at all processes, for headers that are younger than the last one. */
enum { LOOKS_MAX = 4 };

/* The inode of the first pid namespace, PROC_PID_INIT_INO, since Linux 3.8. */
#define FIRST_PID_NS UINT64_C(0xeffffffc)

/* Start time in jiffies; -ESRCH: a zombie; -ENOENT: not in /proc. */
static int start_jiffies(pid_t pid, uint64_t *ret)
{
	struct procfs_stat stat;
	int err = procfs_stat(pid, &stat);

	if (err == 0)
		*ret = stat.start_jiffies;
	return err;
}

/*
 * /proc counts from boot and includes sleep; the header's clock does not. If
 * the machine slept since then, the result is too early. In doubt, the process
 * counts as the writer.
 */
static uint64_t minus_sleep(uint64_t boot_ns)
{
	struct timespec boot, now;
	uint64_t asleep_ns;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	(void)clock_gettime(CLOCK_BOOTTIME, &boot);
	asleep_ns = (uint64_t)(boot.tv_sec - now.tv_sec) * 1000000000 +
	    (uint64_t)(boot.tv_nsec - now.tv_nsec);
	return boot_ns > asleep_ns ? boot_ns - asleep_ns : 0;
}

bool proc_may_have_written(const struct seg_header *h, uint64_t jiffies)
{
	long per_second = sysconf(_SC_CLK_TCK);
	uint64_t jiffy_ns = 1000000000 / (uint64_t)(per_second > 0 ? per_second : 100);
	uint64_t started_ns;

	if (h->start_jiffies != 0)
		return h->start_jiffies == jiffies;
	if (__builtin_mul_overflow(jiffies, jiffy_ns, &started_ns))
		return false;
	started_ns = minus_sleep(started_ns);
	/* the header's clock may be coarse: allow one jiffy */
	return started_ns <= h->start_monotonic_ns + jiffy_ns;
}

/* The id of this boot of the machine; false: it cannot be found out. */
static bool own_boot(uint8_t ret[16])
{
	char text[64] = "";
	size_t n = 0;
	FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");

	if (!file)
		return false;
	if (!fgets(text, sizeof(text), file))
		text[0] = '\0';
	(void)fclose(file);
	for (const char *p = text; *p && n < 32; p++) {
		unsigned digit;

		if (!isxdigit((unsigned char)*p))
			continue;
		digit = isdigit((unsigned char)*p)
		    ? (unsigned)(*p - '0')
		    : (unsigned)(tolower((unsigned char)*p) - 'a' + 10);
		ret[n / 2] = (uint8_t)(ret[n / 2] << 4 | digit);
		n++;
	}
	return n == 32;
}

/* Facts that do not change while we run. */
struct here {
	bool is_known, boot_known;
	uint8_t boot[16];
	uint64_t pid_ns;   /* 0: it cannot be found out */
	bool proc_is_ours; /* its pids are those of our pid namespace */
	bool is_first;     /* our pid namespace has all processes in it */
};

static const struct here *here(void)
{
	static struct here h;
	char self[32] = "";
	struct stat st;

	if (h.is_known)
		return &h;
	h.boot_known = own_boot(h.boot);
	if (stat("/proc/self/ns/pid", &st) == 0)
		h.pid_ns = st.st_ino;
	h.proc_is_ours = readlink("/proc/self", self, sizeof(self) - 1) > 0 &&
	    strtol(self, NULL, 10) == getpid();
	h.is_first = h.proc_is_ours && h.pid_ns == FIRST_PID_NS;
	h.is_known = true;
	return &h;
}

static bool has_other_boot(const struct seg_header *h)
{
	static const uint8_t none[16];

	return here()->boot_known && memcmp(h->boot_id, none, sizeof(none)) != 0 &&
	    memcmp(h->boot_id, here()->boot, sizeof(none)) != 0;
}

/* A file in memory was made since the machine started. */
static bool is_in_memory(const struct source *file)
{
	struct statfs fs;

	return file->fd >= 0 && fstatfs(file->fd, &fs) == 0 &&
	    ((uint32_t)fs.f_type == TMPFS_MAGIC || (uint32_t)fs.f_type == RAMFS_MAGIC);
}

/* Reads the map of a process, unless the cache has it. */
static struct proc_seen *see(struct proc_cache *cache, pid_t pid)
{
	struct proc_seen *seen = proc_cache_find(cache, pid);
	struct procfs_mapping map;
	struct procfs_maps maps;

	if (!seen || seen->is_read)
		return seen;
	seen->is_read = true;
	seen->read_ns = clock_ns(CLOCK_MONOTONIC);
	seen->err = procfs_maps_open(&maps, pid);
	while (seen->err == 0 && procfs_maps_next_file(&maps, &map))
		if (strstr(map.path, ".seg"))
			seen->err = proc_cache_add(seen, map.device, map.inode);
	procfs_maps_close(&maps);
	return seen;
}

/* The result of procfs_maps_file(), from the cache if there is one. */
static int has_mapped(struct proc_cache *cache, pid_t pid, const struct source *file)
{
	const struct proc_seen *seen;

	if (file->inode == 0)
		return 0;
	if (!cache)
		return procfs_maps_file(pid, file->device, file->inode);
	seen = see(cache, pid);
	if (!seen)
		return -ENOMEM;
	if (proc_cache_has(seen, file->device, file->inode))
		return 1;
	return seen->err;
}

/* Start time of a process; -ESRCH: there is none; -EACCES: it is hidden. */
static int find_start(struct proc_cache *cache, pid_t pid, uint64_t *ret)
{
	struct proc_seen *seen = cache ? see(cache, pid) : NULL;
	int err;

	if (seen && !seen->start_known) {
		seen->start_err = start_jiffies(pid, &seen->start_jiffies);
		seen->start_known = true;
	}
	if (seen) {
		*ret = seen->start_jiffies;
		err = seen->start_err;
	} else {
		err = start_jiffies(pid, ret);
	}
	/* hidepid= hides it in /proc, not from kill() */
	if (err == -ENOENT)
		err = kill(pid, 0) == 0 || errno == EPERM ? -EACCES : -ESRCH;
	return err;
}

/* The pid as the process itself sees it. */
static uint32_t find_inner(struct proc_cache *cache, pid_t pid)
{
	struct proc_seen *seen = cache ? see(cache, pid) : NULL;

	if (!seen)
		return procfs_status(pid, "NSpid");
	if (!seen->inner_known) {
		seen->inner = procfs_status(pid, "NSpid");
		seen->inner_known = true;
	}
	return seen->inner;
}

static bool has_ended(pid_t pid)
{
	uint64_t started;

	return find_start(NULL, pid, &started) == -ESRCH;
}

struct search {
	struct proc_cache *cache;
	const struct source *file;
	uint32_t inner;                  /* pid as the process sees it, 0: any */
	pid_t except;                    /* this one has already been checked */
	const struct seg_header *header; /* that it may have written, or NULL */
	pid_t found;
	uint64_t found_start;
	bool is_hidden; /* a process that we may not read has this pid */
};

static bool is_searched(pid_t pid, void *arg)
{
	struct search *s = arg;
	int mapped = pid == s->except ? 0 : has_mapped(s->cache, pid, s->file);
	uint64_t started = 0;
	uint32_t inner;

	if (mapped == 0 || mapped == -ESRCH)
		return false;
	if (s->header &&
	    (find_start(s->cache, pid, &started) < 0 || !proc_may_have_written(s->header, started)))
		return false;
	inner = s->inner == 0 ? 0 : find_inner(s->cache, pid);
	if (inner != 0 && inner != s->inner)
		return false;
	if (inner != s->inner && has_ended(pid))
		return false; /* since the cache was filled */
	if (mapped < 0 || inner != s->inner) {
		s->is_hidden = true;
		return false;
	}
	/*
	 * in several namespaces below one parent, the youngest process is the
	 * right one
	 */
	if (s->found == 0 || started >= s->found_start) {
		s->found = pid;
		s->found_start = started;
	}
	return !s->header;
}

struct filling {
	struct proc_cache *cache;
	bool is_partial;
};

static bool see_one(pid_t pid, void *arg)
{
	struct filling *f = arg;
	uint64_t until_ns = proc_cache_state(f->cache)->until_ns;

	f->is_partial = !see(f->cache, pid) || (until_ns && clock_ns(CLOCK_MONOTONIC) > until_ns);
	return f->is_partial;
}

bool proc_cache_at_all(struct proc_cache *cache)
{
	const struct proc_cache_state *state = proc_cache_state(cache);
	struct filling f = {.cache = cache};
	uint64_t begin_ns = clock_ns(CLOCK_MONOTONIC);
	bool failed;

	if (state->is_full)
		return !state->is_partial;
	failed = procfs_each(see_one, &f) < 0 || f.is_partial;
	return proc_cache_finish(cache, begin_ns, failed) == 0 && !failed;
}

/*
 * Who may have the file mapped. A process that was started after the cache was
 * filled, or whose header says so, is not in it: then all processes are read
 * again, a few times at most, and after that it is not known.
 */
static void search_all(struct search *s, const struct seg_header *h)
{
	struct proc_cache *cache = s->cache;

	if (!cache) {
		(void)procfs_each(is_searched, s);
		return;
	}
	for (;;) {
		const struct proc_cache_state *state = proc_cache_state(cache);
		bool is_whole = proc_cache_at_all(cache);

		(void)proc_cache_each(cache, s->file->device, s->file->inode, is_searched, s);
		if (s->found != 0)
			return;
		if (!is_whole)
			s->is_hidden = true;
		if (!is_whole || !h || h->start_monotonic_ns + COARSE_NS < state->begin_ns)
			return;
		if (state->times >= LOOKS_MAX) {
			s->is_hidden = true;
			return;
		}
		proc_cache_clear(cache);
	}
}

bool proc_mapped(struct proc_cache *cache, uint64_t device, uint64_t inode)
{
	const struct source file = {.device = device, .inode = inode};
	struct search s = {.cache = cache, .file = &file};

	search_all(&s, NULL);
	return s.found != 0;
}

/* Does the running process have this very segment, perhaps in another file? */
static bool is_copy_of_running(struct proc_cache *cache, const struct seg_header *h, pid_t pid)
{
	struct proc_seen *seen = cache ? see(cache, pid) : NULL;
	struct seg_header now = {0};
	struct segfile *f;
	char path[4096];
	int slot;

	if (seen && seen->uuid_known)
		return seen->has_uuid && memcmp(seen->uuid, h->uuid, sizeof(h->uuid)) == 0;
	if (seen)
		seen->uuid_known = true;
	if (proc_open(pid, &f, &slot, path, NULL) < 0)
		return false;
	if (segfile_header(f, slot, &now, NULL) < 0) {
		segfile_close(f);
		return false;
	}
	segfile_close(f);
	if (seen) {
		seen->has_uuid = true;
		memcpy(seen->uuid, now.uuid, sizeof(now.uuid));
	}
	return memcmp(now.uuid, h->uuid, sizeof(h->uuid)) == 0;
}

/*
 * Its pid is of another namespace, or not known, and nobody maps the file. So
 * it has ended if we can see all processes of this machine and may read each of
 * them. Otherwise it may run where we cannot see it.
 */
static enum proc_state check_all(
    struct proc_cache *cache, const struct seg_header *h, const struct source *file, pid_t *ret_pid)
{
	struct search s = {.cache = cache, .file = file, .inner = h->pid};

	if (file->inode == 0)
		return PROC_NO; /* bytes of a recording, which is over */
	search_all(&s, h);
	if (s.found != 0) {
		*ret_pid = s.found;
		return PROC_YES;
	}
	/* with hidepid=, only users who may read all processes see process 1 */
	return here()->is_first && !s.is_hidden && access("/proc/1", F_OK) == 0 ? PROC_NO
	                                                                        : PROC_UNKNOWN;
}

/*
 * Some containers have a boot id of their own. So a file of another boot may
 * belong to a process that runs: if somebody maps it, or if it is in memory and
 * was made by this machine, then nobody knows.
 */
static enum proc_state check_other_boot(
    struct proc_cache *cache, const struct seg_header *h, const struct source *file, pid_t *ret_pid)
{
	enum proc_state state = check_all(cache, h, file, ret_pid);

	return state == PROC_UNKNOWN && !is_in_memory(file) ? PROC_NO : state;
}

/* Is it the process with this pid, in our own namespace? */
static enum proc_state check_pid(
    struct proc_cache *cache, const struct seg_header *h, const struct source *file)
{
	pid_t pid = (pid_t)h->pid;
	uint64_t started = 0;
	struct proc_seen *seen = cache ? see(cache, pid) : NULL;
	int err, mapped;

	/* it may have become this program, or begun, since it was seen */
	if (seen && h->start_monotonic_ns + COARSE_NS >= seen->read_ns)
		proc_cache_forget(seen);
	err = find_start(cache, pid, &started);
	if (err == -EACCES)
		return PROC_UNKNOWN;
	if (err < 0 || !proc_may_have_written(h, started))
		return PROC_NO;
	mapped = has_mapped(cache, pid, file);
	if (mapped < 0)
		return mapped == -ESRCH ? PROC_NO : PROC_UNKNOWN;
	return mapped == 1 || is_copy_of_running(cache, h, pid) ? PROC_YES : PROC_EXEC;
}

/*
 * A forked child has the pid namespace of its parent in its header, because it
 * makes no system call to find out its own. If it was forked into a new
 * namespace, its pid belongs to that one, and in ours another process, or none,
 * has this pid. /proc shows it all the same, because its namespace is below
 * that of its parent, which is ours.
 */
static enum proc_state check_inner(struct proc_cache *cache, const struct seg_header *h,
    const struct source *file, enum proc_state otherwise, pid_t *ret_pid)
{
	struct search s = {
	    .cache = cache, .file = file, .inner = h->pid, .except = (pid_t)h->pid, .header = h};

	if (file->inode != 0)
		search_all(&s, h);
	if (s.found != 0) {
		*ret_pid = s.found;
		return PROC_YES;
	}
	return s.is_hidden ? PROC_UNKNOWN : otherwise;
}

static bool is_of_our_namespace(const struct seg_header *h)
{
	return h->pid != 0 && h->pid <= INT32_MAX && here()->proc_is_ours &&
	    h->pid_ns == here()->pid_ns;
}

enum proc_state proc_check_in(
    struct proc_cache *cache, const struct seg_header *h, const struct source *file, pid_t *ret_pid)
{
	enum proc_state state;

	if (has_other_boot(h))
		return check_other_boot(cache, h, file, ret_pid);
	if (!is_of_our_namespace(h))
		return check_all(cache, h, file, ret_pid);
	/*
	 * no process is its own parent, so this is a pid of another namespace
	 */
	state = h->pid == h->ppid ? PROC_NO : check_pid(cache, h, file);
	if (state == PROC_YES)
		*ret_pid = (pid_t)h->pid;
	else if (h->start_jiffies == 0)
		state = check_inner(cache, h, file, state, ret_pid);
	return state;
}

enum proc_state proc_check_own(const struct seg_header *h, const struct source *file)
{
	pid_t pid;

	if (has_other_boot(h))
		return check_other_boot(NULL, h, file, &pid);
	if (!is_of_our_namespace(h))
		return check_all(NULL, h, file, &pid);
	return h->pid == h->ppid ? PROC_NO : check_pid(NULL, h, file);
}

enum proc_state proc_check(const struct seg_header *h, const struct source *file, pid_t *ret_pid)
{
	return proc_check_in(NULL, h, file, ret_pid);
}

bool proc_superseded(const struct seg_header *a, const struct seg_header *b)
{
	if (a->pid == 0 || a->pid != b->pid || a->pid_ns != b->pid_ns ||
	    memcmp(a->boot_id, b->boot_id, sizeof(a->boot_id)) != 0 ||
	    memcmp(a->uuid, b->uuid, sizeof(a->uuid)) == 0)
		return false;
	/*
	 * after an exec the start time is known; a process with a reused pid is
	 * younger
	 */
	if (b->start_jiffies == 0 || !proc_may_have_written(a, b->start_jiffies))
		return false;
	if (a->start_monotonic_ns != b->start_monotonic_ns)
		return a->start_monotonic_ns < b->start_monotonic_ns;
	/* the clock may be coarse; a child starts before what it executes */
	if (a->sequence != b->sequence)
		return a->start_jiffies == 0;
	return a->end_kind == SEG_END_NONE && b->end_kind == SEG_END_EXITED;
}
