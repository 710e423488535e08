/* procfs.c - the files of /proc/PID: the one place that knows their text. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "host/proc/procfs.h"

#include <sys/sysmacros.h>

#include "host/memory/foreign.h"
#include "host/memory/foreign_ask.h"

enum { STAT_BYTES = 1024 };

/* A number at *p, which moves behind it and behind one `end`. */
static bool take_number(char **p, int base, char end, uint64_t *ret)
{
	char *behind;

	errno = 0;
	*ret = strtoull(*p, &behind, base);
	if (errno != 0 || behind == *p || *behind != end)
		return false;
	*p = behind + 1;
	return true;
}

/* ---- stat, status, statm ---- */

int procfs_parse_stat(char *text, struct procfs_stat *ret)
{
	static const int fields[] = {4, 22, 26, 27, 28};
	uint64_t values[sizeof(fields) / sizeof(fields[0])] = {0};
	char *name = strchr(text, '('), *p;
	int field = 2;

	p = strrchr(text, ')'); /* field 2, the name, may contain anything */
	if (!name || !p || p < name || p[1] != ' ' || p[2] == '\0')
		return -EBADMSG;
	*p = '\0';
	*ret = (struct procfs_stat){.state = p[2]};
	(void)snprintf(ret->name, sizeof(ret->name), "%.31s", name + 1);
	p++;
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		for (; field < fields[i]; field++) {
			p = strchr(p, ' ');
			if (!p)
				return -EBADMSG;
			p++;
		}
		values[i] = strtoull(p, NULL, 10);
	}
	ret->parent = (pid_t)values[0];
	ret->start_jiffies = values[1];
	ret->code_start = values[2];
	ret->code_end = values[3];
	ret->stack_start = values[4];
	return ret->state == 'Z' || ret->state == 'X' ? -ESRCH : 0;
}

/* *ret_pid: whose it is, as the file says. */
static int read_stat(int fd, struct procfs_stat *ret, pid_t *ret_pid)
{
	char text[STAT_BYTES];
	ssize_t n;

	if (fd < 0)
		return -ENOENT;
	n = read(fd, text, sizeof(text) - 1);
	(void)close(fd);
	text[n > 0 ? n : 0] = '\0';
	*ret_pid = (pid_t)strtol(text, NULL, 10);
	return procfs_parse_stat(text, ret) < 0 ? -ESRCH : 0;
}

static int open_stat(pid_t pid)
{
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	return open(path, O_RDONLY | O_CLOEXEC);
}

/* If only its first thread has ended, its memory is that of another one. */
static int stat_of(int fd, struct procfs_stat *ret)
{
	struct procfs_stat other;
	pid_t pid = 0, living;
	int err;

	*ret = (struct procfs_stat){0};
	err = read_stat(fd, ret, &pid);
	if (err != -ESRCH || ret->state != 'Z')
		return err;
	living = living_thread(pid);
	if (living == pid || read_stat(open_stat(living), &other, &pid) < 0)
		return -ESRCH;
	ret->state = other.state;
	ret->code_start = other.code_start;
	ret->code_end = other.code_end;
	ret->stack_start = other.stack_start;
	return 0;
}

int procfs_stat(pid_t pid, struct procfs_stat *ret)
{
	return stat_of(open_stat(pid), ret);
}

int procfs_zombie(pid_t pid, uint64_t start_jiffies, int *ret_status)
{
	char path[64], text[STAT_BYTES], *p;
	uint64_t start = 0;
	ssize_t n = 0;
	int fd;

	(void)snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		n = read(fd, text, sizeof(text) - 1);
		(void)close(fd);
	}
	text[n > 0 ? n : 0] = '\0';
	p = strrchr(text, ')'); /* the name may contain anything */
	if (!p || p[1] != ' ' || p[2] != 'Z')
		return -ESRCH;
	p += 2;
	for (int field = 3; field < 52; field++) {
		if (field == 22)
			start = strtoull(p, NULL, 10);
		p = strchr(p, ' ');
		if (!p)
			return -ESRCH;
		p++;
	}
	*ret_status = (int)strtol(p, NULL, 10);
	return start == start_jiffies ? 0 : -ESRCH;
}

int procfs_stat_at(int process, struct procfs_stat *ret)
{
	return stat_of(openat(process, "stat", O_RDONLY | O_CLOEXEC), ret);
}

int procfs_open(pid_t pid)
{
	char path[32];
	int fd;

	(void)snprintf(path, sizeof(path), "/proc/%d", (int)living_thread(pid));
	fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 && errno == ENOENT ? -ESRCH : fd < 0 ? -errno : fd;
}

int procfs_uids_at(int process, uid_t ret[PROCFS_UIDS])
{
	int fd = openat(process, "status", O_RDONLY | O_CLOEXEC);
	char text[STAT_BYTES * 4], *p;
	ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);

	if (fd >= 0)
		(void)close(fd);
	text[n > 0 ? n : 0] = '\0';
	/* the name of the process comes before, but has no line end in it */
	p = strstr(text, "\nUid:");
	if (!p)
		return -ESRCH;
	p += strlen("\nUid:");
	for (size_t i = 0; i < PROCFS_UIDS; i++)
		ret[i] = (uid_t)strtoul(p, &p, 10);
	return 0;
}

/* The text behind "NAME:" in /proc/PID/status; false: there is none. */
static bool status_line(pid_t pid, const char *name, char *ret, size_t room)
{
	size_t name_bytes = strlen(name);
	char path[64], line[256];
	bool found = false;
	FILE *file;

	(void)snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	file = fopen(path, "re");
	if (!file)
		return false;
	while (!found && fgets(line, sizeof(line), file)) {
		found = strncmp(line, name, name_bytes) == 0 && line[name_bytes] == ':';
		if (found)
			(void)snprintf(ret, room, "%s", line + name_bytes + 1);
	}
	(void)fclose(file);
	return found;
}

uint64_t procfs_status_kib(pid_t pid, const char *name)
{
	char line[256];

	return status_line(living_thread(pid), name, line, sizeof(line)) ? strtoull(line, NULL, 10)
	                                                                 : 0;
}

uint32_t procfs_status(pid_t pid, const char *name)
{
	char line[256], *p;

	if (!status_line(pid, name, line, sizeof(line)))
		return 0;
	p = line + strlen(line);
	while (p > line && isspace((unsigned char)p[-1]))
		*--p = '\0';
	while (p > line && isdigit((unsigned char)p[-1]))
		p--;
	return (uint32_t)strtoul(p, NULL, 10);
}

int procfs_owner(pid_t pid, uid_t *ret)
{
	struct stat st;
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	if (stat(path, &st) < 0)
		return -ESRCH;
	*ret = st.st_uid;
	return 0;
}

uint64_t procfs_resident(pid_t pid)
{
	char path[64], line[256], *second = NULL;
	uint64_t pages = 0;
	FILE *file;

	/* size and resident, in pages, and more */
	(void)snprintf(path, sizeof(path), "/proc/%d/statm", (int)living_thread(pid));
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

/* ---- maps ---- */

/* "START-END perms offset major:minor inode   path" */
bool procfs_parse_mapping(char *line, struct procfs_mapping *ret)
{
	uint64_t offset, device_major, device_minor;
	char *p = line, *behind;

	if (!take_number(&p, 16, '-', &ret->start) || !take_number(&p, 16, ' ', &ret->end))
		return false;
	if (strnlen(p, sizeof(ret->rights)) < sizeof(ret->rights) ||
	    p[sizeof(ret->rights) - 1] != ' ')
		return false;
	memcpy(ret->rights, p, sizeof(ret->rights));
	ret->rights[sizeof(ret->rights) - 1] = '\0';
	p += sizeof(ret->rights);
	if (!take_number(&p, 16, ' ', &offset) || !take_number(&p, 16, ':', &device_major) ||
	    !take_number(&p, 16, ' ', &device_minor) || !isdigit((unsigned char)*p))
		return false;
	ret->inode = strtoull(p, &behind, 10);
	if (*behind != ' ' && *behind != '\0')
		return false;
	ret->device = makedev((unsigned)device_major, (unsigned)device_minor);
	ret->path = behind + strspn(behind, " ");
	return ret->start < ret->end;
}

int procfs_maps_open(struct procfs_maps *m, pid_t pid)
{
	size_t len;
	int err;

	*m = (struct procfs_maps){0};
	err = foreign_text(pid, "maps", &m->text, &len);
	m->next = m->text;
	return err == -ENOENT ? -ESRCH : err;
}

void procfs_maps_close(struct procfs_maps *m)
{
	free(m->text);
}

bool procfs_maps_next(struct procfs_maps *m, struct procfs_mapping *ret)
{
	while (*m->next) {
		char *line = m->next, *end = strchrnul(line, '\n');

		m->next = *end ? end + 1 : end;
		*end = '\0';
		if (procfs_parse_mapping(line, ret))
			return true;
	}
	return false;
}

bool procfs_maps_next_file(struct procfs_maps *m, struct procfs_mapping *ret)
{
	while (procfs_maps_next(m, ret))
		if (ret->inode != 0)
			return true;
	return false;
}

bool procfs_is_deleted(const char *path)
{
	static const char end[] = " (deleted)";
	size_t len = strlen(path), n = strlen(end);

	return len >= n && memcmp(path + len - n, end, n) == 0;
}

int procfs_files(pid_t pid, bool (*each)(void *, uint64_t, const char *, bool), void *context)
{
	struct procfs_mapping map;
	struct procfs_maps maps;
	int err;

	err = procfs_maps_open(&maps, pid);
	if (err < 0)
		return err == -ESRCH ? -ESRCH : -EACCES;
	while (err == 0 && procfs_maps_next_file(&maps, &map))
		if (!each(context, map.start, map.path, procfs_is_deleted(map.path)))
			err = -ENOMEM;
	procfs_maps_close(&maps);
	return err;
}

int procfs_maps_file(pid_t pid, uint64_t device, uint64_t inode)
{
	struct procfs_mapping map;
	struct procfs_maps maps;
	int found = 0, err;

	err = procfs_maps_open(&maps, pid);
	if (err < 0)
		return err;
	while (!found && procfs_maps_next_file(&maps, &map))
		found = map.device == device && map.inode == inode;
	procfs_maps_close(&maps);
	return found;
}

static int look_at_directory(const char *path, struct statx *ret)
{
	*ret = (struct statx){0};
	return statx(AT_FDCWD, path, AT_STATX_DONT_SYNC, STATX_INO | STATX_MNT_ID, ret);
}

/* A bind mount of a directory below itself has its inode, but not its mount. */
static bool is_same_directory(const struct statx *a, const struct statx *b)
{
	return a->stx_ino == b->stx_ino && a->stx_dev_major == b->stx_dev_major &&
	    a->stx_dev_minor == b->stx_dev_minor && a->stx_mnt_id == b->stx_mnt_id;
}

/*
 * ".." stops at our own root, not at the root of the process. So it leads out
 * of a chroot, up to the root of the mount namespace, where it stays.
 */
int procfs_walk_root(pid_t pid, char ret_path[PROCFS_ROOT_BYTES])
{
	struct statx here, above;
	size_t n =
	    (size_t)snprintf(ret_path, PROCFS_ROOT_BYTES, "/proc/%d/root", (int)living_thread(pid));

	if (look_at_directory(ret_path, &here) < 0)
		return -ENOENT;
	for (; n + sizeof("/..") <= PROCFS_ROOT_BYTES; n += strlen("/..")) {
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

/* A directory on the way may be on a file system that does not answer. */
int procfs_root(pid_t pid, char ret_path[PROCFS_ROOT_BYTES])
{
	const struct foreign_request r = {.kind = FOREIGN_ROOT, .pid = pid};
	size_t len;
	char *text;
	int err;

	if (foreign_text_is_mine(pid))
		return procfs_walk_root(pid, ret_path);
	err = foreign_ask(&r, &text, &len);
	if (err < 0)
		return err;
	if (len < PROCFS_ROOT_BYTES)
		memcpy(ret_path, text, len + 1);
	free(text);
	return len < PROCFS_ROOT_BYTES ? 0 : -ENOENT;
}

/* ---- the others ---- */

bool procfs_has_variable(pid_t pid, const char *entry)
{
	bool found = false;
	char *text;
	size_t len;

	if (foreign_text(pid, "environ", &text, &len) < 0)
		return false;
	for (size_t at = 0; at < len && !found; at += strlen(text + at) + 1)
		found = strcmp(text + at, entry) == 0;
	free(text);
	return found;
}

int procfs_each(bool (*each)(pid_t pid, void *context), void *context)
{
	DIR *dir = opendir("/proc");
	const struct dirent *e;
	bool found = false;

	if (!dir)
		return -errno;
	while (!found && (e = readdir(dir))) {
		char *end;
		long pid;

		if (!isdigit((unsigned char)e->d_name[0]))
			continue;
		pid = strtol(e->d_name, &end, 10);
		if (*end == '\0' && pid > 0 && pid <= INT32_MAX)
			found = each((pid_t)pid, context);
	}
	(void)closedir(dir);
	return found;
}

/* ---- living: a process whose first thread has ended is seen through another one ---- */

/* The letter behind the name, which may contain anything; '\0': none. */
static char state_of(int directory, const char *name)
{
	char path[64], text[512], *end;
	ssize_t n;
	int fd;

	(void)snprintf(path, sizeof(path), "%.32s/stat", name);
	fd = openat(directory, path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);
	if (fd >= 0)
		(void)close(fd);
	text[n > 0 ? n : 0] = '\0';
	end = strrchr(text, ')');
	if (!end || end[1] != ' ')
		return '\0';
	return end[2];
}

static bool has_ended(char state)
{
	return state == '\0' || state == 'Z' || state == 'X';
}

pid_t living_thread(pid_t pid)
{
	char path[64], name[16];
	const struct dirent *e;
	pid_t found = pid;
	DIR *tasks;

	(void)snprintf(name, sizeof(name), "%d", (int)pid);
	(void)snprintf(path, sizeof(path), "/proc/%s/task", name);
	tasks = opendir(path);
	if (!tasks)
		return pid;
	if (has_ended(state_of(dirfd(tasks), name)))
		while (found == pid && (e = readdir(tasks)))
			if (isdigit((unsigned char)e->d_name[0]) &&
			    !has_ended(state_of(dirfd(tasks), e->d_name)))
				found = (pid_t)strtol(e->d_name, NULL, 10);
	(void)closedir(tasks);
	return found > 0 ? found : pid;
}
