/* procs.c - lists the processes that map segments or are in a session. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "segments/find/procs.h"

#include "host/proc/procfs.h"
#include "kit/os/clock.h"

/* The collector's clock may be coarse: two ticks of the slowest kernel. */
#define CLOCK_COARSE_NS UINT64_C(20000000)

enum {
	PARENTS_MAX = 64,
	FILES_MAX = 4096, /* files mapped by one process */
};

static int add_file(struct procs_process *p, uint64_t device, uint64_t inode)
{
	struct procs_file *more;

	for (size_t i = 0; i < p->file_count; i++)
		if (p->files[i].device == device && p->files[i].inode == inode)
			return 0;
	more = reallocarray(p->files, p->file_count + 1, sizeof(*more));
	if (!more)
		return -ENOMEM;
	p->files = more;
	more[p->file_count++] = (struct procs_file){device, inode};
	return 0;
}

static int read_maps(struct procs_process *p)
{
	struct procfs_mapping map;
	struct procfs_maps maps;
	int err = procfs_maps_open(&maps, p->pid);

	if (err < 0) {
		/*
		 * a process that has ended maps nothing; others may map a
		 * segment
		 */
		p->hidden = err != -ESRCH && err != -ENOMEM;
		return err == -ENOMEM ? err : 0;
	}
	while (err == 0 && procfs_maps_next_file(&maps, &map)) {
		if (!strstr(map.path, ".seg"))
			continue;
		if (p->file_count >= FILES_MAX) {
			p->hidden = true; /* there may be more */
			break;
		}
		err = add_file(p, map.device, map.inode);
	}
	procfs_maps_close(&maps);
	return err;
}

struct look {
	struct procs *all;
	uint64_t since_jiffies;
	char variable[96]; /* "": do not look for a session */
	int err;
};

static int look_at(struct look *l, pid_t pid)
{
	struct procs_process p = {.pid = pid};
	struct procs_process *more;
	struct procfs_stat stat;
	int err;

	if (procfs_stat(pid, &stat) < 0 || stat.start_jiffies < l->since_jiffies)
		return 0;
	err = read_maps(&p);
	if (err < 0)
		goto out;
	p.in_session = l->variable[0] && procfs_has_variable(pid, l->variable);
	if (!p.in_session && !p.hidden && p.file_count == 0)
		goto out;
	p.parent = stat.parent;
	p.start_jiffies = stat.start_jiffies;
	memcpy(p.name, stat.name, sizeof(p.name));
	p.ns_pid = (pid_t)procfs_status(pid, "NSpid");
	if (p.ns_pid == 0)
		p.ns_pid = pid;
	err = -ENOMEM;
	more = reallocarray(l->all->list, l->all->count + 1, sizeof(*more));
	if (!more)
		goto out;
	l->all->list = more;
	more[l->all->count++] = p;
	return 0;
out:
	free(p.files);
	return err;
}

static bool visit(pid_t pid, void *context)
{
	struct look *l = context;

	if (pid != getpid())
		l->err = look_at(l, pid);
	return l->err < 0;
}

int procs_init(struct procs *p, uint64_t since_jiffies, const char *session)
{
	struct look l = {.all = p, .since_jiffies = since_jiffies};
	int err;

	memset(p, 0, sizeof(*p));
	p->begin_ns = clock_ns(CLOCK_MONOTONIC);
	if (session)
		(void)snprintf(l.variable, sizeof(l.variable), "SEEP_SESSION=%.64s", session);
	err = procfs_each(visit, &l);
	if (err >= 0)
		err = l.err;
	if (err < 0)
		procs_release(p);
	return err;
}

void procs_release(struct procs *p)
{
	for (size_t i = 0; i < p->count; i++)
		free(p->list[i].files);
	free(p->list);
	memset(p, 0, sizeof(*p));
}

bool procs_process_maps(const struct procs_process *p, uint64_t device, uint64_t inode)
{
	for (size_t i = 0; i < p->file_count; i++)
		if (p->files[i].device == device && p->files[i].inode == inode)
			return true;
	return false;
}

bool procs_maps(const struct procs *p, uint64_t device, uint64_t inode)
{
	for (size_t i = 0; i < p->count; i++)
		if (procs_process_maps(&p->list[i], device, inode))
			return true;
	return false;
}

const struct procs_process *procs_writer(
    const struct procs *p, uint64_t device, uint64_t inode, pid_t ns_pid, uint64_t start_jiffies)
{
	for (size_t i = 0; i < p->count; i++) {
		const struct procs_process *x = &p->list[i];

		if (x->ns_pid != ns_pid)
			continue;
		if (procs_process_maps(x, device, inode))
			return x;
		if (x->hidden && x->start_jiffies == start_jiffies)
			return x;
	}
	return NULL;
}

bool procs_may_map(const struct procs *p, uint64_t device, uint64_t inode, pid_t ns_pid)
{
	for (size_t i = 0; i < p->count; i++)
		if (p->list[i].ns_pid == ns_pid &&
		    (p->list[i].hidden || procs_process_maps(&p->list[i], device, inode)))
			return true;
	return false;
}

enum proc_state procs_check(
    const struct procs *p, const struct seg_header *h, const struct source *file, bool is_first)
{
	enum proc_state state = proc_check_own(h, file);

	if ((state != PROC_NO && state != PROC_EXEC) || h->start_jiffies != 0)
		return state;
	if ((is_first && h->start_monotonic_ns + CLOCK_COARSE_NS >= p->begin_ns) ||
	    procs_may_map(p, file->device, file->inode, (pid_t)h->pid))
		return PROC_UNKNOWN;
	return state;
}

bool procs_may_descend(const struct procs_process *p, pid_t ancestor)
{
	pid_t parent = p->parent;
	struct procfs_stat stat;

	if (parent <= 1)
		return true; /* its first parent has ended and cannot be known */
	for (int i = 0; i < PARENTS_MAX && parent > 1; i++) {
		if (parent == ancestor)
			return true;
		if (procfs_stat(parent, &stat) < 0)
			return false;
		parent = stat.parent;
	}
	return false;
}

bool procs_has_segment(pid_t pid)
{
	struct procs_process p = {.pid = pid};
	bool has;

	(void)read_maps(&p);
	has = p.hidden || p.file_count > 0;
	free(p.files);
	return has;
}

bool procs_session_runs(uint64_t since_jiffies, const char *session)
{
	struct procs p;
	bool runs = false;

	if (procs_init(&p, since_jiffies, session) < 0)
		return false;
	for (size_t i = 0; i < p.count; i++)
		runs |= p.list[i].in_session;
	procs_release(&p);
	return runs;
}

uint64_t procs_start_jiffies(pid_t pid)
{
	struct procfs_stat stat;

	return procfs_stat(pid, &stat) == 0 ? stat.start_jiffies : 0;
}
