/* doctor_host.c - what the machine offers: the kernel, the collector. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attach/doctor/doctor_parts.h"
#include "segments/find/cause.h"
#include "attach/program/launch.h"
#include "kit/os/helper.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

/* ---- the collector ---- */

bool doctor_library(struct doctor_report *r, char path[4096])
{
	int err = launch_find_library("libseep.so", path, PATH_MAX);
	struct statvfs fs;

	if (err == -EPERM)
		doctor_add(r, DOCTOR_FAIL, "collector", "chmod go-w it",
		    "%s can be written by others, who could run code in your "
		    "programs",
		    path);
	else if (err == -EINVAL)
		doctor_add(r, DOCTOR_FAIL, "collector", "install seep elsewhere",
		    "%s cannot be preloaded: its path contains a space or a "
		    "colon",
		    path);
	else if (err < 0)
		doctor_add(r, DOCTOR_FAIL, "collector",
		    "it should be beside the seep command, in ../lib/seep or "
		    "in ../lib: make install",
		    "the collector %s is missing", path);
	else if (statvfs(path, &fs) == 0 && fs.f_flag & ST_NOEXEC)
		doctor_add(r, DOCTOR_FAIL, "collector",
		    "install seep on a file system that is mounted with exec",
		    "%s is on a file system that is mounted noexec, so no "
		    "program can load it",
		    path);
	else
		doctor_add(r, DOCTOR_OK, "collector", NULL, "%s", path);
	return err == 0;
}

/* ---- the kernel ---- */

/* The first number in a file of /proc; -1: it cannot be read. */
static long number_in(const char *path)
{
	FILE *f = fopen(path, "re");
	char line[32], *end;
	long n = -1;

	if (f && fgets(line, sizeof(line), f)) {
		n = strtol(line, &end, 10);
		if (end == line)
			n = -1;
	}
	if (f)
		(void)fclose(f);
	return n;
}

static void check_reading(struct doctor_report *r)
{
	char from = 'x', to = 0;
	const struct iovec a = {&to, 1}, b = {&from, 1};

	if (process_vm_readv(getpid(), &a, 1, &b, 1, 0) == 1)
		doctor_add(r, DOCTOR_OK, "process_vm_readv", NULL,
		    "memory of other processes can be read");
	else
		doctor_add(r, DOCTOR_WARN, "process_vm_readv",
		    "a container's filter may forbid it (seccomp), or the "
		    "kernel lacks CONFIG_CROSS_MEMORY_ATTACH",
		    "process_vm_readv: %s; seep leaks and the ages of live "
		    "blocks need it",
		    strerror(errno));
}

static int end_when_told(int none, void *go)
{
	const int *ends = go;
	char byte;

	(void)none;
	(void)close(ends[1]);
	return read(ends[0], &byte, 1) == 0 ? 7 : 1;
}

/* A child that has ended, and been waited for, is asked for its status. */
static void check_pidfd(struct doctor_report *r)
{
	int go[2], fd, status, err = -ENOTSUP;
	const struct helper_plan plan = {.run = end_when_told, .context = go};
	pid_t child = 0;

	if (pipe2(go, O_CLOEXEC) < 0)
		return;
	fd = helper_start(&plan, &child, NULL);
	if (fd == 0)
		fd = cause_open(child);
	(void)close(go[0]);
	(void)close(go[1]); /* it ends now */
	if (child > 0)
		(void)waitpid(child, &status, 0);
	if (fd < 0) {
		doctor_add(r, DOCTOR_WARN, "pidfd", "use Linux 5.3 or newer",
		    "pidfd_open: %s; seep watch then learns of the end of a "
		    "process later",
		    strerror(-fd));
		return;
	}
	doctor_add(r, DOCTOR_OK, "pidfd", NULL, "the end of a process is known at once");
	err = cause_status(fd, &status);
	(void)close(fd);
	if (err == 0)
		doctor_add(r, DOCTOR_OK, "pidfd_exit", NULL,
		    "the exit status of other processes is known");
	else
		doctor_add(r, DOCTOR_WARN, "pidfd_exit", "use Linux 6.15 or newer, if you need it",
		    "the kernel does not say how a process ended that is no "
		    "child of seep, so watch may print \"unknown\"");
}

static void check_memory(struct doctor_report *r)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *p = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return;
	if (madvise(p, page, MADV_WIPEONFORK) == 0)
		doctor_add(r, DOCTOR_OK, "wipeonfork", NULL, "a forked child is recognised");
	else
		doctor_add(r, DOCTOR_FAIL, "wipeonfork",
		    "use Linux 4.14 or newer; an emulator (qemu-user) lacks it, "
		    "too",
		    "MADV_WIPEONFORK: %s; without it the collector does "
		    "nothing in programs that fork",
		    strerror(errno));
	if (madvise(p, page, MADV_POPULATE_WRITE) == 0)
		doctor_add(r, DOCTOR_OK, "populate", NULL, "segments grow as they need to");
	else
		doctor_add(r, DOCTOR_WARN, "populate", "use Linux 5.14 or newer",
		    "MADV_POPULATE_WRITE: %s; a segment has 4 MiB at most, and "
		    "forked children have no room",
		    strerror(errno));
	(void)munmap(p, page);
}

static void check_settings(struct doctor_report *r)
{
	long yama = number_in("/proc/sys/kernel/yama/ptrace_scope");
	long overcommit = number_in("/proc/sys/vm/overcommit_memory");

	if (yama <= 0)
		doctor_add(
		    r, DOCTOR_OK, "yama", NULL, "processes of the same user may be looked at");
	else if (yama == 3)
		doctor_add(r, DOCTOR_WARN, "yama",
		    "only a reboot changes kernel.yama.ptrace_scope = 3",
		    "kernel.yama.ptrace_scope is 3: nobody may read the memory "
		    "of a process, so seep leaks PID fails; all else works");
	else if (yama == 2 || geteuid() != 0)
		doctor_add(r, geteuid() == 0 ? DOCTOR_OK : DOCTOR_WARN, "yama",
		    "run seep leaks as root, or use seep record --leaks",
		    "kernel.yama.ptrace_scope is %ld: %s may read the memory of "
		    "a process, which seep leaks PID needs",
		    yama, yama == 2 ? "only root" : "only root and a parent");
	else
		doctor_add(r, DOCTOR_OK, "yama", NULL,
		    "kernel.yama.ptrace_scope is %ld, which does not bind root", yama);
	if (overcommit == 2)
		doctor_add(r, DOCTOR_WARN, "overcommit",
		    "raise vm.overcommit_ratio, or set it to 0 or 1",
		    "vm.overcommit_memory is 2: memory that is reserved counts, "
		    "so a program may get less, and the collector's tables may "
		    "find no room");
	else if (overcommit >= 0)
		doctor_add(r, DOCTOR_OK, "overcommit", NULL, "reserving memory costs nothing");
}

static void check_proc(struct doctor_report *r)
{
	struct utsname u;

	if (uname(&u) == 0)
		doctor_add(
		    r, DOCTOR_OK, "kernel", NULL, "%s %s on %s", u.sysname, u.release, u.machine);
	if (access("/proc/self/maps", R_OK) != 0)
		doctor_add(r, DOCTOR_FAIL, "proc", "mount -t proc proc /proc",
		    "there is no /proc: running processes cannot be found");
	else if (access("/proc/1/stat", R_OK) != 0)
		doctor_add(r, DOCTOR_WARN, "proc",
		    "run seep as root, or in the group of the mount option gid=",
		    "/proc is mounted with hidepid: processes of others are "
		    "hidden");
	else
		doctor_add(r, DOCTOR_OK, "proc", NULL, "/proc is mounted");
}

static int look(struct doctor_report *r, void *context)
{
	char library[4096];

	(void)context;
	(void)doctor_library(r, library);
	check_proc(r);
	check_reading(r);
	check_pidfd(r);
	check_memory(r);
	check_settings(r);
	doctor_watch(r);
	return 0;
}

static int look_at_places(struct doctor_report *r, void *context)
{
	(void)context;
	doctor_places(r);
	return 0;
}

void doctor_host(struct doctor_report *r)
{
	r->group = "host";
	(void)doctor_apart(r, "the machine", look, NULL);
	(void)doctor_apart(r, "the directories for segments", look_at_places, NULL);
}
