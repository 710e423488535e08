/* inspect.c - checks before its start whether a command can be traced. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "attach/program/inspect.h"

#include "host/proc/folder.h"
#include "host/memory/foreign_parts.h"
#include "host/proc/procfs.h"
#include "kit/os/infile.h"
#include "kit/os/clock.h"
#include "kit/words/text.h"
#include "kit/os/outfile.h"

enum {
	SCRIPTS_MAX = 4,  /* scripts that run scripts; Linux stops at 5 */
	LINE_BYTES = 256, /* of a "#!" line, as in Linux */
};

#define PATIENCE_NS UINT64_C(5000000000)  /* time for one program */
#define LOST_NS     UINT64_C(10000000000) /* for all that take too long */
#define HASTE_NS    UINT64_C(20000000)    /* time for each program after that */

/* ---- the program behind a command ---- */

/* Joins; false if it does not fit. */
static bool join(char *to, size_t bytes, const char *dir, size_t dir_len, const char *name)
{
	int n;

	if (dir_len == 0)
		n = snprintf(to, bytes, "./%s", name);
	else
		n = snprintf(to, bytes, "%.*s/%s", (int)dir_len, dir, name);
	return n > 0 && (size_t)n < bytes;
}

/* For a user of another root: may anybody execute it? */
static int check_executable_in(const char *root, const char *path)
{
	int fd = infile_find_in_root(root, path, 0), err = 0;
	struct stat st;

	if (fd < 0)
		return fd == -ENOTDIR ? -ENOENT : fd;
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) ||
	    !(st.st_mode & (S_IXUSR | S_IXGRP | S_IXOTH)))
		err = -EACCES;
	(void)close(fd);
	return err;
}

static int check_executable(const char *root, const char *path)
{
	struct stat st;

	if (root)
		return check_executable_in(root, path);
	if (stat(path, &st) < 0)
		return errno == ENOTDIR ? -ENOENT : -errno;
	if (!S_ISREG(st.st_mode))
		return -EACCES;
	return faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) < 0 ? -EACCES : 0;
}

/* As execvp(): a name with a slash is a path, others are sought in PATH. */
static int find_command(const char *root, const char *command, char *to, size_t bytes)
{
	const char *path = getenv("PATH");
	int err = -ENOENT;

	if (!command[0])
		return -ENOENT;
	if (strchr(command, '/')) {
		if (strlen(command) >= bytes)
			return -ENOENT;
		strcpy(to, command);
		return check_executable(root, command);
	}
	if (!path)
		path = "/bin:/usr/bin";
	for (;;) {
		size_t len = strcspn(path, ":");

		if (join(to, bytes, path, len, command)) {
			int here = check_executable(root, to);

			if (here == 0)
				return 0;
			/*
			 * it exists, but we may not execute it: continue, as
			 * shells do
			 */
			if (here == -EACCES && (root || access(to, F_OK) == 0))
				err = -EACCES;
		}
		if (!path[len])
			return err;
		path += len + 1;
	}
}

/* Skips what `env` takes before the name of the program. */
static char *program_of_env(char *rest)
{
	char *save = NULL;
	char *word = strtok_r(rest, " \t", &save);

	while (word && (word[0] == '-' || strchr(word, '=')))
		word = strtok_r(NULL, " \t", &save);
	return word;
}

/* 1: a script, its interpreter is in `to`; 0: not a script. */
static int interpreter_of(const char *root, const char *path, char *to, size_t bytes)
{
	char line[LINE_BYTES + 1];
	char *interpreter, *rest;
	int fd = root ? infile_open_in_root(root, path) : infile_open(AT_FDCWD, path);
	ssize_t n;

	if (fd < 0)
		return 0;
	n = pread(fd, line, LINE_BYTES, 0);
	close(fd);
	if (n < 2 || line[0] != '#' || line[1] != '!')
		return 0;
	line[n] = '\0';
	line[strcspn(line, "\n")] = '\0';
	interpreter = line + 2 + strspn(line + 2, " \t");
	rest = interpreter + strcspn(interpreter, " \t");
	if (*rest)
		*rest++ = '\0';
	if (!strcmp(text_base(interpreter), "env")) {
		char *program = program_of_env(rest);

		if (program && find_command(root, program, to, bytes) == 0)
			return 1;
	}
	if (strlen(interpreter) >= bytes)
		return 0;
	strcpy(to, interpreter);
	return 1;
}

int inspect_find(const char *command, const char *root, struct inspect *ret)
{
	char next[sizeof(ret->program)];
	int err;

	err = find_command(root, command, ret->path, sizeof(ret->path));
	if (err < 0)
		return err;
	strcpy(ret->program, ret->path);
	for (int i = 0; i < SCRIPTS_MAX; i++) {
		if (interpreter_of(root, ret->program, next, sizeof(next)) == 0)
			break;
		strcpy(ret->program, next);
	}
	return 0;
}

static int look_at_command(const char *command, struct inspect *ret)
{
	int err = inspect_find(command, NULL, ret);

	if (err == 0)
		inspect_program(ret, ret->program, &(struct inspect_how){0});
	return err;
}

/* ---- the program of a process ---- */

/* A process of another user has a directory of its own, not ours. */
static void check_place(struct inspect *r, pid_t pid, uid_t owner)
{
	char why[FOLDER_TEXT_BYTES];

	if (owner != geteuid() && folder_complaint_of(pid, why, sizeof(why)))
		inspect_conclude(r, INSPECT_PLACE, "have that removed",
		    "%s (pid %d) runs as uid %u and finds no place for its "
		    "segment, so it is not traced: %s",
		    r->program, (int)pid, (unsigned)owner, why);
}

/*
 * Uses the link in /proc, which leads to the very file, whatever has its name
 * now.
 */
static int look_at_process(pid_t pid, struct inspect *ret)
{
	char link[32];
	uid_t owner;

	if (procfs_owner(pid, &owner) < 0)
		return -ESRCH;
	(void)snprintf(link, sizeof(link), "/proc/%d/exe", (int)pid);
	inspect_program(ret, link, &(struct inspect_how){.is_foreign = owner != geteuid()});
	check_place(ret, pid, owner);
	return 0;
}

/* ---- the process that inspects ---- */

struct answer {
	int32_t err;
	struct inspect inspect;
};

struct look {
	const char *command; /* or NULL, then: */
	pid_t pid;
	struct answer *answer;
};

static int serve(int fd, void *look)
{
	const struct look *l = look;
	struct answer *a = l->answer;

	a->err = l->command ? look_at_command(l->command, &a->inspect)
	                    : look_at_process(l->pid, &a->inspect);
	(void)write_all(fd, a, sizeof(*a));
	return 0;
}

/*
 * Files of others are opened, and their file systems may never answer. So a
 * process of our own inspects them, and is left behind if it hangs. 0, -EAGAIN.
 */
static int look_apart(const struct look *l, uint64_t patience_ns, struct answer *a)
{
	struct answer *got = malloc(sizeof(*got));
	struct look look = {.command = l->command, .pid = l->pid, .answer = a};
	const struct helper_plan plan = {
	    .run = serve, .context = &look, .flags = FOREIGN_HELPER, .channel = HELPER_PIPE};
	int fd, err = -EAGAIN;
	pid_t child;

	if (got && foreign_may_start() && helper_start(&plan, &child, &fd) == 0) {
		err = helper_read(fd, got, sizeof(*got), clock_ns(CLOCK_MONOTONIC) + patience_ns);
		if (err == 0)
			*a = *got;
		(void)close(fd);
		(void)foreign_end(child);
	}
	free(got);
	return err == 0 ? 0 : -EAGAIN;
}

int inspect_command(const char *command, struct inspect *ret)
{
	struct answer a = {0};
	int err;

	if (look_apart(&(struct look){.command = command}, PATIENCE_NS, &a) < 0) {
		/* exec will find out */
		memset(&a, 0, sizeof(a));
		(void)snprintf(a.inspect.path, sizeof(a.inspect.path), "%s", command);
		(void)snprintf(a.inspect.program, sizeof(a.inspect.program), "%s", command);
	}
	err = a.err;
	*ret = a.inspect;
	return err;
}

/* A user with many processes could otherwise make us wait for each of them. */
static int look_at_one_of_many(const struct look *l, struct answer *a)
{
	static uint64_t lost_ns;
	uint64_t begin = clock_ns(CLOCK_MONOTONIC);
	int err;

	err = look_apart(l, lost_ns < LOST_NS ? PATIENCE_NS : HASTE_NS, a);
	if (err < 0)
		lost_ns += clock_ns(CLOCK_MONOTONIC) - begin;
	return err;
}

bool inspect_pid(pid_t pid, struct inspect *ret)
{
	char link[32];
	struct answer a = {0};
	ssize_t n;

	memset(ret, 0, sizeof(*ret));
	snprintf(link, sizeof(link), "/proc/%d/exe", (int)pid);
	/* calls no file system, and takes no lock of the process */
	n = readlink(link, ret->program, sizeof(ret->program) - 1);
	if (n <= 0)
		return false;
	ret->program[n] = '\0';
	a.inspect = *ret;
	if (look_at_one_of_many(&(struct look){.pid = pid}, &a) < 0 || a.err < 0)
		return false;
	*ret = a.inspect;
	return true;
}
