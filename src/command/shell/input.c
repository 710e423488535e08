/* input.c - reads INPUT of a command line: a file, a directory or a PID. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "command/shell/input.h"

#include "command/cmd.h"
#include "command/shell/die.h"
#include "command/shell/output.h"
#include "host/proc/folder.h"
#include "host/proc/procfs.h"
#include "kit/words/words.h"
#include "names/find/program.h"
#include "segments/find/dead.h"
#include "segments/find/proc.h"
#include "session/load/history.h"
#include "session/load/session_moment.h"

enum { SWAPPED_LOOKS = 16 }; /* processes that are compared */

bool input_is_pid(const char *text, pid_t *ret)
{
	unsigned long n;
	/* cppcheck-suppress nullPointerRedundantCheck ; a caller without memory has died */
	size_t len = strspn(text, "0123456789");

	if (len == 0 || text[len] != '\0' || len > 10)
		return false;
	n = strtoul(text, NULL, 10);
	*ret = n > INT32_MAX ? INT32_MAX : (pid_t)n;
	return true;
}

pid_t input_pid(const char *command, const char *text)
{
	pid_t pid;

	if (!input_is_pid(text, &pid) || pid == 0)
		die(CMD_USAGE, "%s: takes the PID of a process, not \"%s\"", command, text);
	return pid;
}

static bool note_collector(void *context, uint64_t start, const char *path, bool gone)
{
	const char *slash = strrchr(path, '/');
	bool *found = context;

	(void)start;
	(void)gone;
	*found |= slash && strncmp(slash, "/libseep.so", 11) == 0;
	return true;
}

/*
 * The collector is loaded, but its user's directory belongs to somebody else.
 */
static void die_if_without_place(pid_t pid)
{
	char why[FOLDER_TEXT_BYTES];
	bool has_collector = false;

	if (procfs_files(pid, note_collector, &has_collector) < 0 || !has_collector)
		return;
	if (!folder_complaint_of(pid, why, sizeof(why)))
		die(CMD_INPUT,
		    "process %d: not traced: the collector is in it, but has "
		    "no segment, because there was no room for one, or its "
		    "directory has too many files (seep ls says more, seep ls "
		    "--prune makes room)",
		    (int)pid);
	die(CMD_INPUT,
	    "process %d: not traced, because it found no place for its "
	    "segment: %s; have that removed, or start it with SEEP_DIR=DIR",
	    (int)pid, why);
}

static _Noreturn void die_gone(pid_t pid)
{
	char path[PATH_MAX];

	if (access("/proc/self/stat", F_OK) < 0)
		die(CMD_INPUT,
		    "process %d: /proc is not there, and seep sees "
		    "processes nowhere else",
		    (int)pid);
	if (input_dead_directory(pid, path))
		die(CMD_INPUT, "process %d has ended; what is left of it: seep report %d", (int)pid,
		    (int)pid);
	(void)snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	if (access(path, F_OK) == 0)
		die(CMD_INPUT,
		    "process %d has ended, although its parent has not waited "
		    "for it yet (a zombie)",
		    (int)pid);
	die(CMD_INPUT,
	    "process %d: there is no such process"
	    " (for a file of that name: ./%d)",
	    (int)pid, (int)pid);
}

void input_die_pid(pid_t pid, int err, const struct fault *where)
{
	switch (err) {
	case -ESRCH:
		die_gone(pid);
	case -EACCES:
	case -EPERM:
		if (geteuid() == 0)
			die(CMD_INPUT,
			    "process %d: seep may not look at it, although it "
			    "runs as root: the right CAP_SYS_PTRACE is missing, "
			    "here or in the user namespace of that process",
			    (int)pid);
		die(CMD_INPUT,
		    "process %d: seep may not look at it, because it belongs "
		    "to another user or hides itself; try as root, or, if it "
		    "is yours, name the directory of its segment (SEEP_DIR, "
		    "or /dev/shm/seep-%u) in place of the PID",
		    (int)pid, (unsigned)geteuid());
	case -ENXIO:
		die_if_without_place(pid);
		die(CMD_INPUT, "process %d: not traced; start it with: seep record CMD", (int)pid);
	case -EAGAIN:
		die(CMD_INPUT,
		    "process %d: forked from a traced process, but has"
		    " recorded no event yet; try again later",
		    (int)pid);
	case -ENOSPC:
		die(CMD_INPUT,
		    "process %d: forked from a traced process, but not traced "
		    "itself: %s; seep ls --prune gives back the slots of "
		    "children that have ended, to those that are forked from "
		    "then on",
		    (int)pid, where->text);
	case -ESTALE:
		die(CMD_INPUT,
		    "process %d: traced, but its segment file was deleted;"
		    " only root can still reach it",
		    (int)pid);
	default:
		die(CMD_INPUT, "process %d: its segment cannot be read: %s", (int)pid, where->text);
	}
}

/* What unpacks the file, if it is compressed, or NULL. */
static const char *unpacker(const char *path)
{
	static const struct {
		const char *bytes, *command;
	} packed[] = {{"\x1f\x8b", "gunzip"}, {"\x28\xb5\x2f\xfd", "unzstd"},
	    {"\xfd\x37zXZ", "unxz"}, {"BZh", "bunzip2"}, {NULL, NULL}};
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	char start[8] = "";
	struct stat st;
	ssize_t n = 0;

	if (fd < 0)
		return NULL;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		n = read(fd, start, sizeof(start));
	close(fd);
	for (size_t i = 0; packed[i].bytes && n > 0; i++)
		if (strncmp(start, packed[i].bytes, strlen(packed[i].bytes)) == 0)
			return packed[i].command;
	return NULL;
}

/* It exists, and is nothing of ours. */
static _Noreturn void die_foreign(const char *path)
{
	const char *command;
	struct stat st;

	if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
		die(CMD_INPUT,
		    "%s: a pipe or a device; seep reads recordings from files, "
		    "so write it to one first",
		    path);
	command = unpacker(path);
	if (command)
		die(CMD_INPUT, "%s: compressed; unpack it first: %s %s", path, command, path);
	die(CMD_INPUT, "%s: not a recording, segment or snapshot of seep", path);
}

static _Noreturn void die_file(
    const char *path, bool is_default, int err, const struct fault *where)
{
	if (err == -ENOENT && is_default)
		die(CMD_INPUT,
		    "%s: no such file here; make one with: seep record CMD, or "
		    "name an INPUT (seep ls lists traced processes)",
		    path);
	switch (err) {
	case -ENOENT:
	case -ENOTDIR:
		if (strcmp(path, "-") == 0)
			die(CMD_INPUT,
			    "-: seep reads recordings from files, not from "
			    "standard input");
		if (!strchr(path, '/'))
			die(CMD_INPUT,
			    "%s: no such file or directory, and no PID (seep "
			    "ls lists traced processes)",
			    path);
		die(CMD_INPUT, "%s: no such file or directory", path);
	case -EACCES:
	case -EPERM:
		die(CMD_INPUT,
		    "%s: may not be read (%s);"
		    " try as its owner or as root",
		    path, where->text);
	case -EINVAL:
		die_foreign(path);
	case -ENODATA:
		die(CMD_INPUT, "%s: nothing to report: %s", path, where->text);
	case -ENOTSUP:
		die(CMD_INPUT,
		    "%s: written by another version of seep (%s);"
		    " use that one to read it",
		    path, where->text);
	case -ENOTUNIQ:
		die(CMD_INPUT,
		    "%s: a history of several services; name one of them, as "
		    "%s/SERVICE: %s",
		    path, path, where->text);
	case -EBADMSG:
		die(CMD_INPUT,
		    "%s: damaged: %s;"
		    " nothing of it can be trusted, record again",
		    path, where->text);
	default:
		die(CMD_INPUT, "%s: cannot be read: %s", path, where->text);
	}
}

/* What seep watch has written down, and removed where it was. */
static int load_from_history(pid_t pid, struct session **ret, struct fault *where)
{
	char path[HISTORY_PATH_BYTES], *folder;
	struct fault why;
	int err = -ESRCH;

	for (int i = 0; err == -ESRCH && i < HISTORY_DEFAULTS; i++) {
		if (!history_default(i, path) ||
		    history_scan_pid(path, pid, ret, &folder, &why) < 0)
			continue;
		die_warn("process %d has ended; this is what seep watch kept "
		         "of it in %s",
		    (int)pid, folder);
		free(folder);
		err = 0;
	}
	return err < 0 ? fault_set(where, err, "no such process") : 0;
}

/* Looks for a process that has ended in one directory. -ESRCH: not there. */
typedef int look_fn(void *context, const char *directory);

/* In seep-UID of a base; of root in those of all users. */
static int look_below(const char *base, look_fn *look, void *context)
{
	DIR *d = opendir(base);
	const struct dirent *e;
	int err = -ESRCH;

	while (d && err == -ESRCH && (e = readdir(d))) {
		char path[PATH_MAX], expected[FOLDER_PATH_BYTES];
		struct stat st;
		uid_t owner;

		if (strncmp(e->d_name, "seep-", 5) != 0 ||
		    snprintf(path, sizeof(path), "%s/%s", base, e->d_name) >= (int)sizeof(path) ||
		    lstat(path, &st) < 0 || (geteuid() != 0 && st.st_uid != geteuid()))
			continue;
		/* files that others have put there are not of that user */
		folder_default(st.st_uid, expected);
		if (strcmp(expected + sizeof(FOLDER_SHM), e->d_name) == 0 &&
		    folder_look(path, st.st_uid, &owner) == FOLDER_FIT)
			err = look(context, path);
	}
	if (d)
		(void)closedir(d);
	return err;
}

/* In the directories that `seep ls` reads. */
static int look_for_dead(look_fn *look, void *context)
{
	const char *directory = getenv("SEEP_DIR");
	const char *base = getenv("SEEP_BASE");
	char own[FOLDER_PATH_BYTES];
	uid_t owner;
	int err = -ESRCH;

	if (directory && directory[0])
		err = look(context, directory);
	if (err != -ESRCH)
		return err;
	/* files that others have put there do not come from our processes */
	folder_default(geteuid(), own);
	if (folder_look(own, geteuid(), &owner) == FOLDER_FIT)
		err = look(context, own);
	if (err == -ESRCH && base && base[0] == '/')
		err = look_below(base, look, context);
	if (err == -ESRCH)
		err = look_below(FOLDER_RUN, look, context);
	return err;
}

struct loading {
	pid_t pid;
	struct session **ret;
	struct fault *where;
};

static int load_dead(void *context, const char *directory)
{
	const struct loading *l = context;

	return session_load_dead(0, directory, l->pid, l->ret, l->where);
}

struct placing {
	pid_t pid;
	char *ret;
};

static int note_directory(void *context, const char *directory)
{
	const struct placing *p = context;
	struct dead d;
	int err = dead_find(0, directory, p->pid, &d);

	if (err < 0)
		return err;
	segfile_close(d.file);
	return snprintf(p->ret, PATH_MAX, "%s", directory) >= PATH_MAX ? -ESRCH : 0;
}

bool input_dead_directory(pid_t pid, char ret[PATH_MAX])
{
	struct placing p = {pid, ret};

	return look_for_dead(note_directory, &p) == 0;
}

char *input_of_moment(const char *text, struct moment *ret)
{
	const char *at = text ? strrchr(text, '@') : NULL;
	struct moment_fault fault;
	struct stat st;
	char *input;
	pid_t pid;

	if (!at || at == text || stat(text, &st) == 0)
		return NULL;
	input = strndup(text, (size_t)(at - text));
	if (!input)
		die(CMD_INPUT, "out of memory");
	if (input_is_pid(input, &pid))
		die(CMD_USAGE,
		    "%s: a process that runs has one state, and no readings to choose from; "
		    "seep record keeps some",
		    text);
	if (stat(input, &st) < 0) {
		free(input);
		return NULL;
	}
	if (!moment_parse(at + 1, ret, &fault))
		die(CMD_USAGE,
		    "%s: after the @ comes a moment, as 12.34, 340ms, 50%%, -2h or "
		    "2026-11-15T12:00, not \"%s\": at character %zu: %s",
		    text, at + 1, fault.column, fault.words);
	return input;
}

static void set_back(struct session *s, const char *text, const char *input, const struct moment *m)
{
	struct fault where = {""};
	int err = session_moment_read(s, input, m, &where);

	if (err == -ENODATA || err == -EINVAL)
		die(CMD_USAGE, "%s: %s", text, where.text);
	if (err < 0)
		die(CMD_INPUT, "%s: %s", text, where.text);
	die_warn(
	    "%s: a reading has no peaks, ages, verdicts and resident memory; they are left out",
	    s->title);
}

struct session *input_load(const char *text)
{
	const char *path = text ? text : INPUT_DEFAULT;
	struct fault where = {""};
	struct moment moment;
	struct session *s;
	char *input;
	pid_t pid;
	int err;

	if (text && input_is_pid(text, &pid)) {
		privacy_note(NULL);
		err = session_load_pid(pid, &s, &where);
		if (err == -ESRCH)
			err = look_for_dead(load_dead, &(struct loading){pid, &s, &where});
		if (err == -ESRCH)
			err = load_from_history(pid, &s, &where);
		if (err < 0)
			input_die_pid(pid, err, &where);
		input = NULL;
	} else {
		input = input_of_moment(text, &moment);
		path = input ? input : path;
		privacy_note(path);
		err = session_load(path, &s, &where);
		if (err < 0)
			die_file(path, !text, err, &where);
	}
	for (size_t i = 0; i < s->note_count; i++)
		die_warn("%s", s->notes[i]);
	if (input)
		set_back(s, text, input, &moment);
	free(input);
	return s;
}

void input_check_pid(const char *command, const struct session *s, unsigned pid)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->processes[i]->header.pid == pid)
			return;
	if (pid)
		die(CMD_INPUT, "%s: the input has no process %u", command, pid);
}

void input_warn_swapped(const char *command, const struct session *old, const struct session *new)
{
	size_t later = 0, earlier = 0;

	for (size_t i = 0; i < old->count && i < SWAPPED_LOOKS; i++) {
		const struct process *p = old->processes[i];
		const struct process *q = session_find(new, p->header.uuid);

		later += q && p->duration_ns > q->duration_ns;
		earlier += q && p->duration_ns < q->duration_ns;
	}
	if (later > earlier)
		die_warn("%s: the old input is later than the new one, so what "
		         "has grown seems to have shrunk; the older comes first",
		    command);
}

/* ---- one_process: chooses the process for a format that holds one ---- */

static uint64_t peak_of(const struct process *p)
{
	return p->totals.peak_bytes;
}

const struct process *one_process_choose(
    const struct session *s, unsigned pid, bool logs, const char *format)
{
	const struct process *best = NULL;
	size_t count = 0;

	for (size_t i = 0; i < s->count; i++) {
		const struct process *p = s->processes[i];

		if ((pid != 0 && p->header.pid != pid) ||
		    (logs && p->header.log_state != SEG_LOG_ON))
			continue;
		count++;
		if (!best || peak_of(p) > peak_of(best))
			best = p;
	}
	if (count > 1)
		die_warn("--format %s holds one process: this is %" PRIu32
		         " (%s), which has the highest peak of %zu; --pid N "
		         "chooses another",
		    format, best->header.pid, program_name(&best->header), count);
	return best;
}

uint32_t one_process_number(const struct session *s, const struct process *one)
{
	uint32_t i = 0;

	while (i < s->count && s->processes[i] != one)
		i++;
	return i;
}
