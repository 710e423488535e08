/* doctor_process.c - a running process: its state, or why it is not traced. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <elf.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>

#include "attach/doctor/doctor_parts.h"

#include "base/std.h"
#include "host/proc/folder.h"
#include "host/memory/foreign.h"
#include "segments/read/losses.h"
#include "host/proc/procfs.h"
#include "host/proc/procfs_group.h"
#include "session/load/session.h"
#include "attach/program/inspect.h"
#include "segments/find/segment_dir.h"
#include "findings/who.h"
#include "view/sites/enum_words.h"
#include "kit/os/infile.h"
#include "format/medium.h"
#include "kit/words/text.h"
#include "kit/words/words.h"

enum { ANCESTORS = 16, COMM_MAX = 15 };

/* A process that is looked at. */
struct patient {
	pid_t pid;
	uid_t owner;
	char exe[4096];
	char comm[32];
	char root[32]; /* /proc/PID/root */
	struct doctor_environment environment;
	bool is_loaded;     /* a file libseep.so is in its memory */
	char library[4096]; /* that file, or the one that LD_PRELOAD names */
};

/* ---- it is traced ---- */

static void report_mode(struct doctor_report *r, const struct process *p, pid_t pid)
{
	const struct seg_header *h = &p->header;
	char what[64];

	if (h->state == SEG_INERT) {
		doctor_add(r, DOCTOR_FAIL, "traced", NULL,
		    "the collector is in pid %d, but does nothing: %s", (int)pid,
		    losses_inert(h->inert_reason));
		return;
	}
	if (h->inert_reason != SEG_INERT_NONE)
		doctor_add(r, DOCTOR_WARN, "malloc", "use a build with libc's malloc",
		    "it is maybe traced in part only: %s", losses_inert(h->inert_reason));
	if (h->mode == SEG_MODE_OFF || h->mode == SEG_MODE_DORMANT) {
		(void)snprintf(what, sizeof(what), "seep on %d", (int)pid);
		doctor_add(r, DOCTOR_WARN, "mode", what,
		    "the collector is in pid %d and waits: its mode is %s", (int)pid,
		    enum_words_mode(h->mode));
		return;
	}
	doctor_add(r, DOCTOR_OK, "traced", NULL,
	    "pid %d is traced (mode %s): %s in %s are live now", (int)pid, enum_words_mode(h->mode),
	    WORDS_BYTES(p->totals.live_bytes), WORDS_COUNTED(p->totals.live_blocks, "block"));
}

static void report_traced(struct doctor_report *r, const struct process *p,
    const struct session_brief_file *file, pid_t pid)
{
	char why[REFUSED_DIRECTORY_BYTES], lack[LOG_LACK_BYTES];

	report_mode(r, p, pid);
	doctor_add(r, DOCTOR_OK, "segment", NULL, "its segment is %s", file->path);
	if (refused_directory(&p->header, why, sizeof(why)))
		doctor_add(r, DOCTOR_WARN, "place", "mend the directory, or unset SEEP_DIR",
		    "another directory was asked for, but %s", why);
	if (log_lack_words(&p->header, lack))
		doctor_add(r, DOCTOR_WARN, "event log", "see: man seep-record, --log",
		    "there is no event log: %s", lack);
}

/* ---- it has the library, but no segment ---- */

static bool is_text(const char *a, size_t a_len, const char *b, size_t b_len)
{
	return a_len == b_len && memcmp(a, b, a_len) == 0;
}

/*
 * Does SEEP_ONLY (collector/segment/config.h) leave it out? The name that exec was given is
 * not known here any more, but the name of the process begins like it.
 */
static bool is_left_out(const char *list, const char *exe, const char *comm)
{
	bool has_name = false;

	while (*list) {
		size_t n = strcspn(list, ":");
		const char *path = memchr(list, '/', n) ? exe : text_base(exe);

		has_name |= n > 0;
		if (n > 0 &&
		    (is_text(list, n, path, strlen(path)) ||
		        is_text(list, n < COMM_MAX ? n : COMM_MAX, comm, strlen(comm))))
			return false;
		list += n + (list[n] == ':');
	}
	return has_name;
}

/* The directory that it would use, in its own mount namespace. */
static void place_of(const struct patient *p, char path[4096])
{
	const char *dir = doctor_environment(&p->environment, "SEEP_DIR");
	const char *base = doctor_environment(&p->environment, "SEEP_BASE");

	if (dir && dir[0])
		(void)snprintf(path, 4096, "%.3000s", dir);
	else
		(void)snprintf(path, 4096, "%.3000s/seep-%u", base && base[0] ? base : FOLDER_SHM,
		    (unsigned)p->owner);
}

static size_t check_medium(struct doctor_report *r, const char *path, int fd)
{
	struct statvfs mount;
	struct statfs fs;
	uint64_t room;

	if (fstatfs(fd, &fs) < 0)
		return 0;
	room = (uint64_t)fs.f_bavail * (uint64_t)fs.f_bsize;
	if (medium_of_type((uint32_t)fs.f_type) == 0)
		doctor_add(r, DOCTOR_FAIL, "place", "mount a tmpfs there, or set SEEP_DIR to one",
		    "%s is on a file system (type %#x) that the collector does not use", path,
		    (unsigned)fs.f_type);
	else if (fstatvfs(fd, &mount) == 0 && mount.f_flag & ST_RDONLY)
		doctor_add(r, DOCTOR_FAIL, "place", "mount a tmpfs there, or set SEEP_DIR to one",
		    "%s is mounted read-only for it", path);
	else if (room / MEDIUM_FREE_SHARE < MEDIUM_ROOM_MIN)
		doctor_add(r, DOCTOR_FAIL, "place",
		    "make room (seep ls --prune), or a larger tmpfs",
		    "%s had no room for its segment, or has none now", path);
	else
		return 0;
	return 1;
}

/* The line that the collector has left beside the segments. */
static size_t check_refused(struct doctor_report *r, const struct patient *p, int dir)
{
	struct refused_last last;
	char self[32];
	int fd;
	size_t n;

	(void)snprintf(self, sizeof(self), "/proc/self/fd/%d", dir);
	fd = open(self, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	n = refused_look(fd, &last);
	(void)close(fd);
	if (n == 0 || (uint32_t)last.pid != procfs_status(p->pid, "NSpid"))
		return 0;
	doctor_add(r, DOCTOR_FAIL, "place", "seep doctor, for the directories",
	    "its collector found no place: %s", last.why);
	return 1;
}

static size_t check_place(struct doctor_report *r, const struct patient *p)
{
	char path[4096], why[FOLDER_TEXT_BYTES];
	size_t bad = 0;
	int fd;

	place_of(p, path);
	if (folder_complaint_of(p->pid, why, sizeof(why))) {
		doctor_add(r, DOCTOR_FAIL, "place", "have its owner or root remove it",
		    "it found no place for its segment: %s", why);
		bad++;
	}
	fd = infile_find_in_root(p->root, path, 0);
	if (fd >= 0) {
		bad += check_refused(r, p, fd);
	} else {
		char *slash = strrchr(path, '/');

		if (slash && slash > path)
			*slash = '\0';
		fd = infile_find_in_root(p->root, path, 0);
	}
	if (fd < 0) {
		doctor_add(r, DOCTOR_FAIL, "place",
		    "mount a tmpfs there (a container: shm), or set SEEP_DIR",
		    "%s is not there for it: %s", path, strerror(-fd));
		return bad + 1;
	}
	bad += check_medium(r, path, fd);
	(void)close(fd);
	return bad;
}

/* The soft limit in a line of /proc/PID/limits. */
static uint64_t limit_of(const char *limits, const char *name)
{
	const char *line = limits ? strstr(limits, name) : NULL;
	unsigned long long value;
	char *end;

	if (!line)
		return UINT64_MAX;
	line += strlen(name);
	value = strtoull(line, &end, 10);
	return end > line ? value : UINT64_MAX; /* "unlimited" */
}

static size_t check_limits(struct doctor_report *r, pid_t pid)
{
	char *limits = NULL;
	size_t len, bad = 0;

	if (foreign_text(pid, "limits", &limits, &len) < 0)
		return 0;
	if (limit_of(limits, "Max file size") / MEDIUM_FILE_SHARE < MEDIUM_ROOM_MIN) {
		doctor_add(r, DOCTOR_FAIL, "limits", "raise it (ulimit -f, LimitFSIZE=)",
		    "its limit on file sizes is too low for a segment");
		bad++;
	}
	if (limit_of(limits, "Max address space") / MEDIUM_SPACE_SHARE < MEDIUM_ROOM_MIN) {
		doctor_add(r, DOCTOR_FAIL, "limits", "raise it (ulimit -v, LimitAS=)",
		    "its limit on address space is too low for a segment");
		bad++;
	}
	free(limits);
	return bad;
}

/* AT_SECURE, as the kernel has decided at exec. */
static bool is_secure(pid_t pid)
{
	Elf64_auxv_t a;
	bool is = false;
	char *text;
	size_t len;

	if (foreign_text(pid, "auxv", &text, &len) < 0)
		return false;
	for (size_t at = 0; at + sizeof(a) <= len; at += sizeof(a)) {
		memcpy(&a, text + at, sizeof(a));
		if (a.a_type == AT_SECURE)
			is = a.a_un.a_val != 0;
	}
	free(text);
	return is;
}

static void report_stayed_out(struct doctor_report *r, const struct patient *p)
{
	const char *only = doctor_environment(&p->environment, "SEEP_ONLY");
	const char *private = doctor_environment(&p->environment, "SEEP_PRIVATE");
	size_t known = 0;

	if (is_secure(p->pid)) {
		doctor_add(r, DOCTOR_FAIL, "privileges", "run it as the user it changes to",
		    "it has got privileges by its start (AT_SECURE), where the "
		    "collector does nothing");
		known++;
	}
	if (only && only[0] && is_left_out(only, p->exe, p->comm)) {
		doctor_add(r, DOCTOR_FAIL, "only", "add its name to SEEP_ONLY, or unset that",
		    "SEEP_ONLY is %s, and it is %s", only, text_base(p->exe));
		known++;
	}
	if (private && strcmp(private, "1") == 0) {
		doctor_add(r, DOCTOR_WARN, "private", "unset SEEP_PRIVATE to see it while it runs",
		    "SEEP_PRIVATE=1: its figures are written when it ends");
		known++;
	}
	known += check_limits(r, p->pid);
	known += check_place(r, p);
	if (known == 0 && procfs_status(p->pid, "Seccomp") == 2)
		doctor_add(r, DOCTOR_FAIL, "seccomp",
		    "allow the calls of a start: see the manual of libseep",
		    "it has a filter for system calls (seccomp), which may have "
		    "refused one that the collector needs at its start");
	else if (known == 0)
		doctor_add(r, DOCTOR_FAIL, "traced",
		    "start it again; if that does not help, report a bug",
		    "the collector %s is loaded, but has no segment, and the reason is not known",
		    p->library);
}

/* ---- it does not have the library ---- */

static void check_library(struct doctor_report *r, const struct patient *p)
{
	int fd = infile_find_in_root(p->root, p->library, 0);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		doctor_add(r, DOCTOR_FAIL, "library", "copy or bind it into its root directory",
		    "%s is not there in its mount namespace, so the loader could not preload it",
		    p->library);
	else
		doctor_add(r, DOCTOR_FAIL, "traced",
		    "start it again with seep record, which watches its start",
		    "LD_PRELOAD names %s, but it is not loaded: either it could not be read at "
		    "its start, or the process has replaced its environment since",
		    p->library);
	if (fd >= 0)
		(void)close(fd);
}

/* An ancestor that was started with the collector. */
static bool find_ancestor(pid_t pid, struct procfs_stat *ret, pid_t *ret_pid)
{
	struct doctor_environment e;
	bool found = false;

	for (int i = 0; i < ANCESTORS && !found; i++) {
		if (procfs_stat(pid, ret) < 0 || ret->parent <= 1)
			return false;
		pid = ret->parent;
		if (procfs_stat(pid, ret) < 0 || doctor_environment_read(&e, pid) < 0)
			return false;
		found = doctor_environment_library(&e) != NULL;
		doctor_environment_release(&e);
	}
	*ret_pid = pid;
	return found;
}

static void report_not_preloaded(struct doctor_report *r, const struct patient *p)
{
	struct procfs_group group = {0};
	struct procfs_stat stat;
	char advice[PROCFS_GROUP_NAME + 128];
	pid_t ancestor;

	if (find_ancestor(p->pid, &stat, &ancestor)) {
		doctor_add(r, DOCTOR_FAIL, "traced", "let that pass LD_PRELOAD and SEEP_* on",
		    "it has no LD_PRELOAD with the collector, but its ancestor %s (pid %d) has: a "
		    "program between them cleared the environment (env -i, sudo, a wrapper)",
		    stat.name, (int)ancestor);
		return;
	}
	if (procfs_group_of(p->pid, &group) == 0 && group.unit[0])
		(void)snprintf(
		    advice, sizeof(advice), "seep service enable %s, then restart it", group.unit);
	else
		(void)snprintf(
		    advice, sizeof(advice), "start it with seep record, or with LD_PRELOAD");
	doctor_add(r, DOCTOR_FAIL, "traced", advice,
	    "it was started without the collector: LD_PRELOAD is not in its environment");
}

/* ---- the process ---- */

static bool is_ours(const char *path)
{
	const char *name = text_base(path);

	return text_begins_with(name, "libseep.so") || text_begins_with(name, "libseep-verify.so");
}

static int find_library(struct patient *p)
{
	struct procfs_mapping map;
	struct procfs_maps maps;
	const char *named;
	int err = procfs_maps_open(&maps, p->pid);

	if (err < 0)
		return err;
	while (!p->is_loaded && procfs_maps_next_file(&maps, &map))
		if (is_ours(map.path)) {
			p->is_loaded = true;
			(void)snprintf(p->library, sizeof(p->library), "%s", map.path);
		}
	procfs_maps_close(&maps);
	named = doctor_environment_library(&p->environment);
	if (!p->is_loaded && named)
		(void)snprintf(p->library, sizeof(p->library), "%s", named);
	return 0;
}

static void report_untraced(struct doctor_report *r, struct patient *p)
{
	static struct inspect in;
	const struct inspect_how how = {.is_foreign = p->owner != geteuid(), .is_running = true};
	char link[32];

	if (p->is_loaded) {
		report_stayed_out(r, p);
		return;
	}
	(void)snprintf(in.program, sizeof(in.program), "%s", p->exe);
	(void)snprintf(link, sizeof(link), "/proc/%d/exe", (int)p->pid);
	if (is_secure(p->pid))
		inspect_conclude(&in, INSPECT_SECURE,
		    "run it as the user it changes to, or a copy without the "
		    "bit or the capabilities",
		    "%s has got privileges by its start (AT_SECURE): the loader ignored LD_PRELOAD",
		    p->exe);
	inspect_program(&in, link, &how);
	if (!p->library[0])
		report_not_preloaded(r, p);
	else if (in.kind == INSPECT_FINE)
		check_library(r, p);
	r->group = "program";
	doctor_program(r, &in, false);
	r->group = "process";
}

static int look_closer(struct doctor_report *r, struct patient *p)
{
	struct session_brief_file file;
	struct session *s;
	int err;

	err = session_load_pid_brief(p->pid, &s, &file);
	if (err == 0 && s->count > 0) {
		report_traced(r, s->processes[0], &file, p->pid);
	} else if (err == -EAGAIN) {
		doctor_add(r, DOCTOR_OK, "traced", NULL,
		    "it was forked from a traced process, and has allocated nothing so far");
	} else if (err == -ENOSPC) {
		doctor_add(r, DOCTOR_FAIL, "slots",
		    "seep ls --prune, or start the family with SEEP_CHILD_FILES=1",
		    "it was forked from a traced process whose family has no "
		    "room for more children");
	} else if (err == -ESTALE) {
		doctor_add(r, DOCTOR_WARN, "segment", "start it again",
		    "it is traced, but its segment was deleted, and only root can still read it");
	} else if (err == -ENXIO || err == 0) {
		report_untraced(r, p);
	} else if (err == -EACCES || err == -EPERM) {
		return -EACCES;
	} else if (err != -ESRCH) {
		doctor_add(r, DOCTOR_WARN, "segment", NULL, "its segment cannot be read: %s",
		    strerror(-err));
	}
	if (err == 0)
		session_free(s);
	return err == -ESRCH ? err : 0;
}

static int look(struct doctor_report *r, void *context)
{
	static struct patient p;
	struct procfs_stat stat;
	char link[32];
	ssize_t n;
	int err;

	p.pid = *(pid_t *)context;
	if (access("/proc/self/stat", F_OK) < 0)
		return -ENODEV;
	if (procfs_stat(p.pid, &stat) < 0 || procfs_owner(p.pid, &p.owner) < 0)
		return -ESRCH;
	(void)snprintf(p.root, sizeof(p.root), "/proc/%d/root", (int)p.pid);
	(void)snprintf(link, sizeof(link), "/proc/%d/exe", (int)p.pid);
	memcpy(p.comm, stat.name, sizeof(p.comm));
	n = readlink(link, p.exe, sizeof(p.exe) - 1);
	if (n < 0 && errno == ENOENT) {
		doctor_add(r, DOCTOR_FAIL, "process", NULL,
		    "%s (pid %d) is a thread of the kernel, or just ends: it has no heap",
		    stat.name, (int)p.pid);
		return 0;
	}
	if (n < 0)
		return -EACCES;
	doctor_add(r, DOCTOR_OK, "process", NULL, "pid %d is %s", (int)p.pid, p.exe);
	err = doctor_environment_read(&p.environment, p.pid);
	if (err == 0)
		err = find_library(&p);
	if (err == 0)
		err = look_closer(r, &p);
	doctor_environment_release(&p.environment);
	/* it holds a lock that readers of its files need */
	return err == -ETIMEDOUT ? -EBUSY : err;
}

int doctor_process(struct doctor_report *r, pid_t pid)
{
	char what[32];
	int err;

	r->group = "process";
	(void)snprintf(what, sizeof(what), "pid %d", (int)pid);
	err = doctor_apart(r, what, look, &pid);
	return err == -ETIMEDOUT ? 0 : err;
}
