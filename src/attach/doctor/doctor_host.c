/* doctor_host.c - what the machine offers: the kernel, the collector. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>

#include "attach/doctor/doctor_parts.h"

#include "base/std.h"
#include "attach/program/launch.h"

/* ---- the collector ---- */

bool doctor_library(struct doctor_report *r, char path[4096])
{
	int err = launch_find_library("libseep.so", path, PATH_MAX);
	struct statvfs fs;

	if (err == -EPERM)
		doctor_add(r, DOCTOR_FAIL, "collector", "chmod go-w it",
		    "%s can be written by others, who could run code in your programs", path);
	else if (err == -EINVAL)
		doctor_add(r, DOCTOR_FAIL, "collector", "install seep elsewhere",
		    "%s cannot be preloaded: its path contains a space or a colon", path);
	else if (err < 0)
		doctor_add(r, DOCTOR_FAIL, "collector",
		    "it should be beside the seep command, in ../lib/seep or "
		    "in ../lib: make install",
		    "the collector %s is missing", path);
	else if (statvfs(path, &fs) == 0 && fs.f_flag & ST_NOEXEC)
		doctor_add(r, DOCTOR_FAIL, "collector",
		    "install seep on a file system that is mounted with exec",
		    "%s is on a file system that is mounted noexec, so no program can load it",
		    path);
	else
		doctor_add(r, DOCTOR_OK, "collector", NULL, "%s", path);
	return err == 0;
}

/* ---- the kernel ---- */

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
		    "use Linux 4.14 or newer; an emulator (qemu-user) lacks it, too",
		    "MADV_WIPEONFORK: %s; without it the collector does "
		    "nothing in programs that fork",
		    strerror(errno));
	(void)munmap(p, page);
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
		    "/proc is mounted with hidepid: processes of others are hidden");
	else
		doctor_add(r, DOCTOR_OK, "proc", NULL, "/proc is mounted");
}

static int look(struct doctor_report *r, void *context)
{
	char library[4096];

	(void)context;
	(void)doctor_library(r, library);
	check_proc(r);
	check_memory(r);
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
