/* procs.c - one look at /proc: who maps which segment, who is of a session. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "record/procs.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

enum {
	STAT_BYTES = 4096,
	ENVIRON_MAX = 4 << 20,
	PARENTS_MAX = 64,
	FILES_MAX = 4096, /* mapped by one process */
};

static ssize_t
read_proc(pid_t pid, const char *what, char *to, size_t bytes)
{
	char path[64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, what);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	n = read(fd, to, bytes - 1);
	if (n < 0)
		n = -errno;
	else
		to[n] = '\0';
	close(fd);
	return n;
}

/* Name, state, start; false: gone, or a zombie. */
static bool
read_stat(struct procs_process *p)
{
	char text[STAT_BYTES];
	char *open, *close, *at;
	char state;

	if (read_proc(p->pid, "stat", text, sizeof(text)) <= 0)
		return false;
	open = strchr(text, '(');
	close = strrchr(text, ')'); /* the name may hold anything */
	if (!open || !close || close < open || close[1] != ' ')
		return false;
	*close = '\0';
	snprintf(p->name, sizeof(p->name), "%.31s", open + 1);
	at = close + 2;
	state = *at;
	for (int field = 3; field < 22; field++) {
		at = strchr(at, ' ');
		if (!at)
			return false;
		at++;
		if (field == 3)
			p->parent = (pid_t)strtol(at, NULL, 10);
	}
	p->start_jiffies = strtoull(at, NULL, 10);
	return state != 'Z' && state != 'X';
}

static void
read_ns_pid(struct procs_process *p)
{
	char text[STAT_BYTES];
	char *line, *end;

	p->ns_pid = p->pid;
	if (read_proc(p->pid, "status", text, sizeof(text)) <= 0)
		return;
	line = strstr(text, "\nNSpid:");
	if (!line)
		return;
	line++;
	line[strcspn(line, "\n")] = '\0';
	end = strrchr(line, '\t'); /* innermost namespace comes last */
	if (end && isdigit((unsigned char)end[1]))
		p->ns_pid = (pid_t)strtol(end + 1, NULL, 10);
}

static int
add_file(struct procs_process *p, uint64_t device, uint64_t inode)
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

/* "start-end perms offset major:minor inode path", numbers but the last hex */
static bool
parse_map(char *line, uint64_t *ret_device, uint64_t *ret_inode)
{
	unsigned long high, low;
	char *at = line;

	for (int field = 0; field < 3; field++) {
		at = strchr(at, ' ');
		if (!at)
			return false;
		at++;
	}
	high = strtoul(at, &at, 16);
	if (*at != ':')
		return false;
	low = strtoul(at + 1, &at, 16);
	*ret_device = makedev(high, low);
	*ret_inode = strtoull(at, &at, 10);
	return *ret_inode != 0;
}

static int
read_maps(struct procs_process *p)
{
	char path[64];
	char *line = NULL;
	size_t room = 0;
	int err = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)p->pid);
	f = fopen(path, "re");
	if (!f) {
		p->hidden = errno == EACCES || errno == EPERM;
		return 0;
	}
	while (err == 0 && getline(&line, &room, f) > 0) {
		uint64_t device, inode;

		if (!strstr(line, ".seg") ||
		    !parse_map(line, &device, &inode) ||
		    (p->file_count > 0 &&
		        p->files[p->file_count - 1].device == device &&
		        p->files[p->file_count - 1].inode == inode))
			continue;
		if (p->file_count >= FILES_MAX) {
			p->hidden = true; /* there may be more */
			break;
		}
		err = add_file(p, device, inode);
	}
	free(line);
	fclose(f);
	return err;
}

static bool
has_session(pid_t pid, const char *session)
{
	char path[64], wanted[96];
	char *text = NULL;
	size_t len = 0, room = 0;
	bool found = false;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/environ", (int)pid);
	snprintf(wanted, sizeof(wanted), "SEEP_SESSION=%.64s", session);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	while (room < ENVIRON_MAX) {
		char *more;
		ssize_t n;

		if (len == room) {
			room = room ? room * 2 : 16384;
			more = realloc(text, room + 1);
			if (!more)
				break;
			text = more;
		}
		n = read(fd, text + len, room - len);
		if (n <= 0)
			break;
		len += (size_t)n;
	}
	close(fd);
	if (!text)
		return false;
	text[len] = '\0';
	for (size_t at = 0; at < len; at += strlen(text + at) + 1)
		if (!strcmp(text + at, wanted))
			found = true;
	free(text);
	return found;
}

static int
look_at(struct procs *all, pid_t pid, uint64_t since, const char *session)
{
	struct procs_process p = {.pid = pid};
	struct procs_process *more;
	int err;

	if (!read_stat(&p) || p.start_jiffies < since)
		return 0;
	err = read_maps(&p);
	if (err < 0)
		goto out;
	p.in_session = session && has_session(pid, session);
	if (!p.in_session && !p.hidden && p.file_count == 0)
		goto out;
	read_ns_pid(&p);
	err = -ENOMEM;
	more = reallocarray(all->list, all->count + 1, sizeof(*more));
	if (!more)
		goto out;
	all->list = more;
	more[all->count++] = p;
	return 0;
out:
	free(p.files);
	return err;
}

int
procs_init(struct procs *p, uint64_t since_jiffies, const char *session)
{
	struct dirent *e;
	DIR *d;
	int err = 0;

	memset(p, 0, sizeof(*p));
	d = opendir("/proc");
	if (!d)
		return -errno;
	while (err == 0 && (e = readdir(d))) {
		long pid = strtol(e->d_name, NULL, 10);

		if (pid > 0 && pid != getpid())
			err = look_at(p, (pid_t)pid, since_jiffies, session);
	}
	closedir(d);
	if (err < 0)
		procs_release(p);
	return err;
}

void
procs_release(struct procs *p)
{
	for (size_t i = 0; i < p->count; i++)
		free(p->list[i].files);
	free(p->list);
	memset(p, 0, sizeof(*p));
}

bool
procs_process_maps(
    const struct procs_process *p, uint64_t device, uint64_t inode)
{
	for (size_t i = 0; i < p->file_count; i++)
		if (p->files[i].device == device && p->files[i].inode == inode)
			return true;
	return false;
}

bool
procs_maps(const struct procs *p, uint64_t device, uint64_t inode)
{
	for (size_t i = 0; i < p->count; i++)
		if (procs_process_maps(&p->list[i], device, inode))
			return true;
	return false;
}

const struct procs_process *
procs_writer(const struct procs *p, uint64_t device, uint64_t inode,
    pid_t ns_pid, uint64_t start_jiffies)
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

bool
procs_may_descend(const struct procs_process *p, pid_t ancestor)
{
	struct procs_process x = *p;

	if (p->parent <= 1)
		return true; /* whose child it was is not to be known */
	for (int i = 0; i < PARENTS_MAX && x.parent > 1; i++) {
		if (x.parent == ancestor)
			return true;
		x.pid = x.parent;
		x.parent = 0;
		if (!read_stat(&x))
			return false;
	}
	return false;
}

bool
procs_has_segment(pid_t pid)
{
	struct procs_process p = {.pid = pid};
	bool has;

	(void)read_maps(&p);
	has = p.hidden || p.file_count > 0;
	free(p.files);
	return has;
}

bool
procs_session_runs(uint64_t since_jiffies, const char *session)
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

uint64_t
procs_start_jiffies(pid_t pid)
{
	struct procs_process p = {.pid = pid};

	return read_stat(&p) ? p.start_jiffies : 0;
}
