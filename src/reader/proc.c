/* proc.c - what /proc says of the process behind a segment. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "reader/proc.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "reader/proc_look.h"
#include "util/clock.h"
#include "reader/foreign.h"

enum { OPEN_BUDGET_NS = 2000000000 };

/* The inode of the first pid namespace, PROC_PID_INIT_INO, since Linux 3.8. */
#define FIRST_PID_NS UINT64_C(0xeffffffc)

/* One line of /proc/PID/maps that has a file behind it. */
struct mapping {
	uint64_t start, end, device, inode;
	char *path; /* inside the line */
};

struct maps {
	char *text, *next; /* lines */
};

static int
maps_open(struct maps *m, pid_t pid)
{
	size_t len;
	int err;

	*m = (struct maps){0};
	err = foreign_maps(pid, &m->text, &len);
	m->next = m->text;
	return err;
}

static void
maps_close(struct maps *m)
{
	free(m->text);
}

/* A number at *p, which moves behind it and behind one `end`. */
static bool
take_number(char **p, int base, char end, uint64_t *ret)
{
	char *behind;

	errno = 0;
	*ret = strtoull(*p, &behind, base);
	if (errno != 0 || behind == *p || *behind != end)
		return false;
	*p = behind + 1;
	return true;
}

/* "START-END perms offset major:minor inode   path" */
static bool
parse_mapping(char *line, struct mapping *ret)
{
	uint64_t offset, device_major, device_minor;
	char *p = line;

	if (!take_number(&p, 16, '-', &ret->start) ||
	    !take_number(&p, 16, ' ', &ret->end))
		return false;
	p += strcspn(p, " ");
	p += strspn(p, " ");
	if (!take_number(&p, 16, ' ', &offset) ||
	    !take_number(&p, 16, ':', &device_major) ||
	    !take_number(&p, 16, ' ', &device_minor) ||
	    !take_number(&p, 10, ' ', &ret->inode) || ret->inode == 0)
		return false; /* without a path nothing follows the inode */
	ret->device = makedev((unsigned)device_major, (unsigned)device_minor);
	ret->path = p + strspn(p, " ");
	return true;
}

/* false at the end */
static bool
maps_next(struct maps *m, struct mapping *ret)
{
	while (*m->next) {
		char *line = m->next, *end = strchrnul(line, '\n');

		m->next = *end ? end + 1 : end;
		*end = '\0';
		if (parse_mapping(line, ret))
			return true;
	}
	return false;
}

static const char deleted[] = " (deleted)";

static bool
ends_with(const char *text, size_t len, const char *end)
{
	size_t n = strlen(end);

	return len >= n && memcmp(text + len - n, end, n) == 0;
}

int
proc_files(pid_t pid, bool (*each)(void *, uint64_t, const char *, bool),
    void *context)
{
	struct mapping map;
	struct maps maps;
	int err;

	err = maps_open(&maps, pid);
	if (err < 0)
		return err == -ESRCH ? -ESRCH : -EACCES;
	while (err == 0 && maps_next(&maps, &map)) {
		bool gone = ends_with(map.path, strlen(map.path), deleted);

		if (!each(context, map.start, map.path, gone))
			err = -ENOMEM;
	}
	maps_close(&maps);
	return err;
}

static int
look_at_directory(const char *path, struct statx *ret)
{
	*ret = (struct statx){0};
	return statx(
	    AT_FDCWD, path, AT_STATX_DONT_SYNC, STATX_INO | STATX_MNT_ID, ret);
}

/* A bind mount of a directory below itself has its inode, but not its mount. */
static bool
is_same_directory(const struct statx *a, const struct statx *b)
{
	return a->stx_ino == b->stx_ino &&
	    a->stx_dev_major == b->stx_dev_major &&
	    a->stx_dev_minor == b->stx_dev_minor &&
	    a->stx_mnt_id == b->stx_mnt_id;
}

/*
 * ".." ends at the root of who looks, which is not that of the process: so it
 * leads out of a chroot, up to the root of the mount namespace, where it stays.
 */
int
proc_root(pid_t pid, char ret_path[PROC_ROOT_BYTES])
{
	struct statx here, above;
	size_t n = (size_t)snprintf(
	    ret_path, PROC_ROOT_BYTES, "/proc/%d/root", (int)pid);

	if (look_at_directory(ret_path, &here) < 0)
		return -ENOENT;
	for (; n + sizeof("/..") <= PROC_ROOT_BYTES; n += strlen("/..")) {
		memcpy(ret_path + n, "/..", sizeof("/.."));
		if (look_at_directory(ret_path, &above) < 0)
			return -ENOENT;
		if (is_same_directory(&above, &here)) {
			ret_path[n] = '\0';
			return 0;
		}
		here = above;
	}
	return -ENOENT;
}

/* 1: pid maps the file; 0: it does not; negative errno: we cannot tell. */
static int
maps_has(pid_t pid, uint64_t device, uint64_t inode)
{
	struct mapping map;
	struct maps maps;
	int found = 0, err;

	err = maps_open(&maps, pid);
	if (err < 0)
		return err;
	while (!found && maps_next(&maps, &map))
		found = map.device == device && map.inode == inode;
	maps_close(&maps);
	return found;
}

/* Start time in jiffies; -ESRCH: a zombie; -ENOENT: not in /proc. */
static int
start_jiffies(pid_t pid, uint64_t *ret)
{
	char path[64], text[1024], *p;
	FILE *file;
	size_t n;

	(void)snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	file = fopen(path, "re");
	if (!file)
		return -ENOENT;
	n = fread(text, 1, sizeof(text) - 1, file);
	(void)fclose(file);
	text[n] = '\0';
	p = strrchr(text, ')'); /* field 2, the name, may hold anything */
	if (!p || p[1] != ' ' || p[2] == 'Z' || p[2] == 'X')
		return -ESRCH;
	for (int field = 2; field < 22; field++) {
		p = strchr(p, ' ');
		if (!p)
			return -ESRCH;
		p++;
	}
	return take_number(&p, 10, ' ', ret) ? 0 : -ESRCH;
}

/*
 * /proc counts from the boot, sleep included, the header's clock does not. A
 * sleep since then makes the result too early: in doubt it is the one.
 */
static uint64_t
minus_sleep(uint64_t boot_ns)
{
	struct timespec boot, now;
	uint64_t asleep_ns;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	(void)clock_gettime(CLOCK_BOOTTIME, &boot);
	asleep_ns = (uint64_t)(boot.tv_sec - now.tv_sec) * 1000000000 +
	    (uint64_t)(boot.tv_nsec - now.tv_nsec);
	return boot_ns > asleep_ns ? boot_ns - asleep_ns : 0;
}

/*
 * May a process that started then have written this header? A forked child in
 * a slot does not know its start time, but one who came later is not it.
 */
static bool
same_start(const struct seg_header *h, uint64_t jiffies)
{
	long per_second = sysconf(_SC_CLK_TCK);
	uint64_t jiffy_ns =
	    1000000000 / (uint64_t)(per_second > 0 ? per_second : 100);
	uint64_t started_ns;

	if (h->start_jiffies != 0)
		return h->start_jiffies == jiffies;
	if (__builtin_mul_overflow(jiffies, jiffy_ns, &started_ns))
		return false;
	started_ns = minus_sleep(started_ns);
	/* the header's clock may be coarse: a jiffy's grace */
	return started_ns <= h->start_monotonic_ns + jiffy_ns;
}

uint32_t
proc_status(pid_t pid, const char *name)
{
	size_t name_bytes = strlen(name);
	char path[64], line[256];
	uint32_t value = 0;
	FILE *file;

	(void)snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	file = fopen(path, "re");
	if (!file)
		return 0;
	while (fgets(line, sizeof(line), file)) {
		char *p;

		if (strncmp(line, name, name_bytes) != 0 ||
		    line[name_bytes] != ':')
			continue;
		p = line + strlen(line);
		while (p > line && isspace((unsigned char)p[-1]))
			*--p = '\0';
		while (p > line && isdigit((unsigned char)p[-1]))
			p--;
		value = (uint32_t)strtoul(p, NULL, 10);
		break;
	}
	(void)fclose(file);
	return value;
}

/* Of this machine, since it started; false: not to be known. */
static bool
own_boot(uint8_t ret[16])
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

/* What stays as it is as long as we run. */
struct here {
	bool is_known, boot_known;
	uint8_t boot[16];
	uint64_t pid_ns;   /* 0: not to be known */
	bool proc_is_ours; /* its numbers are those of our pid namespace */
	bool is_first;     /* our pid namespace has all processes in it */
};

static const struct here *
here(void)
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

static bool
other_boot(const struct seg_header *h)
{
	static const uint8_t none[16];

	return here()->boot_known &&
	    memcmp(h->boot_id, none, sizeof(none)) != 0 &&
	    memcmp(h->boot_id, here()->boot, sizeof(none)) != 0;
}

/* Calls `each` for all processes until it returns true. */
static bool
any_process(bool (*each)(pid_t pid, void *arg), void *arg)
{
	DIR *dir = opendir("/proc");
	struct dirent *e;
	bool found = false;

	while (dir && !found && (e = readdir(dir))) {
		char *end;
		long pid;

		if (!isdigit((unsigned char)e->d_name[0]))
			continue;
		pid = strtol(e->d_name, &end, 10);
		if (*end == '\0' && pid > 0 && pid <= INT32_MAX)
			found = each((pid_t)pid, arg);
	}
	if (dir)
		(void)closedir(dir);
	return found;
}

/* Reads the map of a process, if the look has not. */
static struct proc_seen *
see(struct proc_look *look, pid_t pid)
{
	struct proc_seen *seen = proc_look_find(look, pid);
	struct mapping map;
	struct maps maps;

	if (!seen || seen->is_read)
		return seen;
	seen->is_read = true;
	seen->start_err = start_jiffies(pid, &seen->start_jiffies);
	seen->err = maps_open(&maps, pid);
	while (seen->err == 0 && maps_next(&maps, &map))
		if (strstr(map.path, ".seg"))
			seen->err = proc_look_add(seen, map.device, map.inode);
	maps_close(&maps);
	return seen;
}

/* Of the kept look, or afresh: as maps_has(). */
static int
has_mapped(struct proc_look *look, pid_t pid, const struct source *file)
{
	const struct proc_seen *seen;

	if (file->inode == 0)
		return 0;
	if (!look)
		return maps_has(pid, file->device, file->inode);
	seen = see(look, pid);
	if (!seen)
		return -ENOMEM;
	if (proc_look_has(seen, file->device, file->inode))
		return 1;
	return seen->err;
}

struct search {
	struct proc_look *look;
	const struct source *file;
	uint32_t inner; /* pid as the process sees it, 0: any */
	pid_t found;
	bool is_hidden; /* one that we may not look at has this pid */
};

static bool
is_searched(pid_t pid, void *arg)
{
	struct search *s = arg;
	int mapped = has_mapped(s->look, pid, s->file);
	uint32_t inner;

	if (mapped == 0 || mapped == -ESRCH)
		return false;
	inner = s->inner == 0 ? 0 : proc_status(pid, "NSpid");
	if (inner != 0 && inner != s->inner)
		return false;
	if (mapped < 0 || inner != s->inner) {
		s->is_hidden = true;
		return false;
	}
	s->found = pid;
	return true;
}

bool
proc_mapped(struct proc_look *look, uint64_t device, uint64_t inode)
{
	const struct source file = {.device = device, .inode = inode};
	struct search s = {.look = look, .file = &file};

	return any_process(is_searched, &s);
}

/* Does the running process have this very segment, if in another file? */
static bool
is_copy_of_running(
    struct proc_look *look, const struct seg_header *h, pid_t pid)
{
	struct proc_seen *seen = look ? see(look, pid) : NULL;
	struct seg_header now = {0};
	struct segfile *f;
	char path[4096];
	int slot;

	if (seen && seen->uuid_known)
		return seen->has_uuid &&
		    memcmp(seen->uuid, h->uuid, sizeof(h->uuid)) == 0;
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
 * Its pid says nothing to us: of another namespace, or not known. Nobody maps
 * the file: it is over if we can see all processes of this machine, and look at
 * each of them. Else it may run where we cannot see it.
 */
static enum proc_state
check_all(struct proc_look *look, const struct seg_header *h,
    const struct source *file, pid_t *ret_pid)
{
	struct search s = {.look = look, .file = file, .inner = h->pid};

	if (file->inode == 0)
		return PROC_NO; /* bytes of a recording, which is over */
	if (any_process(is_searched, &s)) {
		*ret_pid = s.found;
		return PROC_YES;
	}
	/* hidepid= shows nobody process 1 who may not look at all of them */
	return here()->is_first && !s.is_hidden && access("/proc/1", F_OK) == 0
	    ? PROC_NO
	    : PROC_UNKNOWN;
}

/* Start time of a process; -ESRCH: there is none; -EACCES: it is hidden. */
static int
find_start(struct proc_look *look, pid_t pid, uint64_t *ret)
{
	struct proc_seen *seen = look ? see(look, pid) : NULL;
	int err;

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

enum proc_state
proc_check_in(struct proc_look *look, const struct seg_header *h,
    const struct source *file, pid_t *ret_pid)
{
	pid_t pid = (pid_t)h->pid;
	uint64_t started = 0;
	int err, mapped;

	if (other_boot(h))
		return PROC_NO;
	if (h->pid == 0 || h->pid > INT32_MAX || !here()->proc_is_ours ||
	    h->pid_ns != here()->pid_ns)
		return check_all(look, h, file, ret_pid);
	err = find_start(look, pid, &started);
	if (err == -EACCES)
		return PROC_UNKNOWN;
	if (err < 0 || !same_start(h, started))
		return PROC_NO;
	mapped = has_mapped(look, pid, file);
	if (mapped < 0)
		return mapped == -ESRCH ? PROC_NO : PROC_UNKNOWN;
	if (mapped == 1 || is_copy_of_running(look, h, pid)) {
		*ret_pid = pid;
		return PROC_YES;
	}
	return PROC_EXEC;
}

enum proc_state
proc_check(
    const struct seg_header *h, const struct source *file, pid_t *ret_pid)
{
	return proc_check_in(NULL, h, file, ret_pid);
}

bool
proc_superseded(const struct seg_header *a, const struct seg_header *b)
{
	if (a->pid == 0 || a->pid != b->pid || a->pid_ns != b->pid_ns ||
	    memcmp(a->boot_id, b->boot_id, sizeof(a->boot_id)) != 0 ||
	    memcmp(a->uuid, b->uuid, sizeof(a->uuid)) == 0)
		return false;
	/* after an exec the start time is known; a pid used anew is younger */
	if (b->start_jiffies == 0 || !same_start(a, b->start_jiffies))
		return false;
	if (a->start_monotonic_ns != b->start_monotonic_ns)
		return a->start_monotonic_ns < b->start_monotonic_ns;
	/* the clock may be coarse; a child comes before what it executes */
	if (a->sequence != b->sequence)
		return a->start_jiffies == 0;
	return a->end_kind == SEG_END_NONE && b->end_kind == SEG_END_EXITED;
}

/* ---- the segment of a running process ---- */

/* Is it the file of this mapping? Else there is another under its name. */
static bool
is_mapped_file(const struct segfile *f, const struct mapping *map)
{
	const struct source *file = segfile_source(f);

	return file->inode == map->inode && file->device == map->device;
}

/*
 * By the path that the memory map tells. It begins at the root of the mount
 * namespace of the process: the kernel leaves a chroot out of account.
 */
static int
open_by_path(pid_t pid, const struct mapping *map, struct segfile **ret,
    char path[4096], struct fault *where)
{
	char root[PROC_ROOT_BYTES];
	int err = -ENXIO;

	for (int i = 0; i < 2; i++) {
		if (i == 0)
			(void)snprintf(
			    root, sizeof(root), "/proc/%d/root", (int)pid);
		else if (proc_root(pid, root) < 0)
			break;
		if ((size_t)snprintf(path, 4096, "%s%s", root, map->path) >=
		    4096)
			break;
		err = segfile_open(AT_FDCWD, path, ret, where);
		if (err == 0 && is_mapped_file(*ret, map))
			return 0;
		if (err == 0) {
			segfile_close(*ret);
			err = -ENXIO;
		}
	}
	return err;
}

/* The file behind a mapping, as its process sees it. */
static int
open_mapping(pid_t pid, const struct mapping *map, struct segfile **ret,
    char ret_path[4096], struct fault *where)
{
	size_t len = strlen(map->path);
	char path[4096];
	int err;

	if (ends_with(map->path, len, deleted)) {
		if (!ends_with(map->path, len - strlen(deleted), ".seg"))
			return -ENXIO;
		(void)snprintf(path, sizeof(path),
		    "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, (int)pid,
		    map->start, map->end);
		err = segfile_open(AT_FDCWD, path, ret, where);
		if (err == -EPERM || err == -EACCES || err == -ENOENT)
			return fault_set(
			    where, -ESTALE, "its segment file was deleted");
	} else if (ends_with(map->path, len, ".seg")) {
		err = open_by_path(pid, map, ret, path, where);
	} else {
		return -ENXIO;
	}
	if (err < 0)
		return err;
	if (!is_mapped_file(*ret, map)) {
		segfile_close(*ret); /* a new file under the old name */
		return -ENXIO;
	}
	memcpy(ret_path, path, sizeof(path));
	return 0;
}

/* The slot of this file with the newest segment of the process, or none. */
static bool
find_in_file(const struct segfile *f, uint32_t pid, uint64_t started,
    struct seg_header *best, int *ret_slot)
{
	uint8_t taken[SEGFILE_SLOTS];
	struct seg_header h;
	bool found = false;

	segfile_taken(f, taken);
	for (int i = SEGFILE_OWN; i < segfile_slots(f); i++) {
		if ((i >= 0 && !taken[i]) || segfile_header(f, i, &h, NULL) < 0)
			continue;
		if (h.pid != pid && h.pid != 0)
			continue;
		if (!same_start(&h, started))
			continue; /* a dead one that had the same pid */
		if (found && !proc_superseded(best, &h))
			continue;
		*best = h;
		*ret_slot = i;
		found = true;
	}
	return found;
}

int
proc_open(pid_t pid, struct segfile **ret, int *ret_slot, char ret_path[4096],
    struct fault *where)
{
	struct seg_header best = {0}, h = {0};
	struct segfile *f, *kept = NULL;
	uint64_t started, last_inode = 0;
	uint64_t until_ns = clock_ns(CLOCK_MONOTONIC) + OPEN_BUDGET_NS;
	struct mapping map;
	struct maps maps;
	char path[4096];
	int err, result = -ENXIO, slot;
	uint32_t inner;

	if (start_jiffies(pid, &started) < 0)
		return fault_set(where, -ESRCH, "no such process");
	inner = proc_status(pid, "NSpid");
	err = maps_open(&maps, pid);
	if (err < 0)
		return fault_set(where, err == -ESRCH ? -ESRCH : -EACCES,
		    "its memory map cannot be read: %s", strerror(-err));
	while (maps_next(&maps, &map)) {
		if (map.inode == last_inode)
			continue; /* further pieces of the same file */
		if (clock_ns(CLOCK_MONOTONIC) > until_ns) {
			if (!kept)
				result = fault_set(where, -E2BIG,
				    "it maps more segment files than can be "
				    "looked at in 2 s");
			break;
		}
		err = open_mapping(pid, &map, &f, path, where);
		if (err == -ENXIO)
			continue;
		last_inode = map.inode;
		if (err < 0) {
			if (!kept)
				result = err;
			continue;
		}
		if (!find_in_file(f, inner, started, &h, &slot) ||
		    (kept && !proc_superseded(&best, &h))) {
			if (!kept && result == -ENXIO)
				result = fault_set(where, -EAGAIN,
				    "forked from a traced process");
			segfile_close(f);
			continue;
		}
		segfile_close(kept);
		kept = f;
		best = h;
		*ret_slot = slot;
		memcpy(ret_path, path, sizeof(path));
		result = 0;
	}
	maps_close(&maps);
	if (result == 0)
		*ret = kept;
	return result;
}

uint64_t
proc_resident(pid_t pid)
{
	char path[64], line[256], *second = NULL;
	uint64_t pages = 0;
	FILE *file;

	/* size and resident, in pages, and more */
	(void)snprintf(path, sizeof(path), "/proc/%d/statm", (int)pid);
	file = fopen(path, "re");
	if (!file)
		return 0;
	if (fgets(line, sizeof(line), file))
		second = strchr(line, ' ');
	if (second)
		pages = strtoull(second, NULL, 10);
	(void)fclose(file);
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}
