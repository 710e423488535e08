/* inspect.c - looks at a command before it starts: can it be traced? */
/* SPDX-License-Identifier: Apache-2.0 */
#include "record/inspect.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "cpu/machine.h"
#include "reader/folder.h"
#include "record/elf.h"
#include "trace/infile.h"

enum {
	SCRIPTS_MAX = 4,   /* scripts run by scripts; Linux stops at 5 */
	OBJECTS_MAX = 256, /* libraries looked at */
	CODEC_BYTES = 256, /* of a "#!" line, as in Linux */
};

/* A program and the libraries it would load, breadth first. */
struct closure {
	char *paths[OBJECTS_MAX]; /* files still to be looked at, or done */
	char *names[OBJECTS_MAX]; /* as DT_NEEDED says */
	size_t count;
};

static const char *const library_dirs[] = {
    "/lib/" CPU_LIBRARY_DIR,
    "/usr/lib/" CPU_LIBRARY_DIR,
    "/lib64",
    "/usr/lib64",
    "/lib",
    "/usr/lib",
    "/usr/local/lib",
    "/usr/local/lib64",
};

static const char *const sanitizer_libraries[] = {
    "libasan.so",
    "libtsan.so",
    "libmsan.so",
    "liblsan.so",
    "libhwasan.so",
    "libclang_rt.asan",
    "libclang_rt.tsan",
    "libclang_rt.msan",
    "libclang_rt.hwasan",
};

static const char *const sanitizer_symbols[] = {
    "__asan_init",
    "__tsan_init",
    "__msan_init",
    "__lsan_init",
    "__hwasan_init",
};

static const char *const allocator_libraries[] = {
    "libjemalloc",
    "libtcmalloc",
    "libmimalloc",
};

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static bool
starts_with_one_of(const char *name, const char *const *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!strncmp(name, list[i], strlen(list[i])))
			return true;
	return false;
}

static const char *
base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Joins; false when it does not fit. */
static bool
join(char *to, size_t bytes, const char *dir, size_t dir_len, const char *name)
{
	int n;

	if (dir_len == 0)
		n = snprintf(to, bytes, "./%s", name);
	else
		n = snprintf(to, bytes, "%.*s/%s", (int)dir_len, dir, name);
	return n > 0 && (size_t)n < bytes;
}

static int
check_executable(const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return errno == ENOTDIR ? -ENOENT : -errno;
	if (!S_ISREG(st.st_mode))
		return -EACCES;
	return faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) < 0 ? -EACCES : 0;
}

/* As execvp(): a name with a slash is a path, others are sought in PATH. */
static int
find_command(const char *command, char *to, size_t bytes)
{
	const char *path = getenv("PATH");
	int err = -ENOENT;

	if (!command[0])
		return -ENOENT;
	if (strchr(command, '/')) {
		if (strlen(command) >= bytes)
			return -ENOENT;
		strcpy(to, command);
		return check_executable(command);
	}
	if (!path)
		path = "/bin:/usr/bin";
	for (;;) {
		size_t len = strcspn(path, ":");

		if (join(to, bytes, path, len, command)) {
			if (check_executable(to) == 0)
				return 0;
			/* there, but not for us: go on, as the shells do */
			if (access(to, F_OK) == 0)
				err = -EACCES;
		}
		if (!path[len])
			return err;
		path += len + 1;
	}
}

/* Skips what `env` takes before the name of the program. */
static char *
program_of_env(char *rest)
{
	char *save = NULL;
	char *word = strtok_r(rest, " \t", &save);

	while (word && (word[0] == '-' || strchr(word, '=')))
		word = strtok_r(NULL, " \t", &save);
	return word;
}

/* 1: a script, its interpreter is in `to`; 0: not a script. */
static int
interpreter_of(const char *path, char *to, size_t bytes)
{
	char line[CODEC_BYTES + 1];
	char *interpreter, *rest;
	int fd = infile_open(AT_FDCWD, path);
	ssize_t n;

	if (fd < 0)
		return 0;
	n = pread(fd, line, CODEC_BYTES, 0);
	close(fd);
	if (n < 2 || line[0] != '#' || line[1] != '!')
		return 0;
	line[n] = '\0';
	line[strcspn(line, "\n")] = '\0';
	interpreter = line + 2 + strspn(line + 2, " \t");
	rest = interpreter + strcspn(interpreter, " \t");
	if (*rest)
		*rest++ = '\0';
	if (!strcmp(base_name(interpreter), "env")) {
		char *program = program_of_env(rest);

		if (program && find_command(program, to, bytes) == 0)
			return 1;
	}
	if (strlen(interpreter) >= bytes)
		return 0;
	strcpy(to, interpreter);
	return 1;
}

static void __attribute__((format(printf, 3, 4)))
conclude(struct inspect *r, enum inspect_kind kind, const char *fmt, ...)
{
	__builtin_va_list ap;

	if (r->kind != INSPECT_FINE)
		return; /* the first reason is enough */
	r->kind = kind;
	__builtin_va_start(ap, fmt);
	(void)vsnprintf(r->message, sizeof(r->message), fmt, ap);
	__builtin_va_end(ap);
}

/* The rules by which Linux sets AT_SECURE, as far as a file decides them. */
static void
check_secure(struct inspect *r)
{
	struct statvfs fs;
	struct stat st;
	const char *what = NULL;

	if (stat(r->program, &st) < 0)
		return;
	if (statvfs(r->program, &fs) == 0 && (fs.f_flag & ST_NOSUID))
		return;
	if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1)
		return;
	if ((st.st_mode & S_ISUID) && st.st_uid != getuid())
		what = "is setuid";
	else if ((st.st_mode & S_ISGID) && (st.st_mode & S_IXGRP) &&
	    st.st_gid != getgid())
		what = "is setgid";
	else if (getuid() != 0 &&
	    getxattr(r->program, "security.capability", NULL, 0) > 0)
		what = "has file capabilities";
	if (what)
		conclude(r, INSPECT_SECURE,
		    "%s %s: the loader ignores preloaded libraries there, so it "
		    "will run untraced; run seep as the user it changes to (as "
		    "root: sudo seep record ...), or a copy without that bit",
		    r->program, what);
}

static void
check_sanitizer_name(struct inspect *r, const char *who, const char *name)
{
	if (starts_with_one_of(base_name(name), sanitizer_libraries,
	        COUNT(sanitizer_libraries)))
		conclude(r, INSPECT_SANITIZER,
		    "%s uses a sanitizer (%s), which stops the program when "
		    "anything is preloaded before it; use a build without "
		    "-fsanitize=..., or the sanitizer's own leak check",
		    who, base_name(name));
}

static void
note_allocator(struct inspect *r, const char *name)
{
	if (!r->allocator[0] &&
	    starts_with_one_of(base_name(name), allocator_libraries,
	        COUNT(allocator_libraries)))
		snprintf(r->allocator, sizeof(r->allocator), "%.63s",
		    base_name(name));
}

/* A file that is ELF of our kind. */
static bool
is_native(const char *path)
{
	int fd = infile_open(AT_FDCWD, path);
	struct elf e;
	bool native;

	if (fd < 0 || elf_init(&e, fd) < 0)
		return false;
	native = e.native;
	elf_release(&e);
	return native;
}

/* Tries NAME in each directory of a list; `origin` stands for $ORIGIN. */
static bool
find_in_list(const char *list, const char *origin, const char *name, char *to,
    size_t bytes)
{
	while (*list) {
		size_t len = strcspn(list, ":");
		const char *entry = list;
		char dir[PATH_MAX];

		list += len + (list[len] == ':');
		if (len == 0)
			continue;
		if (len >= 7 && !strncmp(entry, "$ORIGIN", 7))
			snprintf(dir, sizeof(dir), "%s%.*s", origin,
			    (int)(len - 7), entry + 7);
		else if (len >= 9 && !strncmp(entry, "${ORIGIN}", 9))
			snprintf(dir, sizeof(dir), "%s%.*s", origin,
			    (int)(len - 9), entry + 9);
		else
			snprintf(dir, sizeof(dir), "%.*s", (int)len, entry);
		if (join(to, bytes, dir, strlen(dir), name) && is_native(to))
			return true;
	}
	return false;
}

static bool
find_library(const char *name, const char *user, const char *runpath, char *to,
    size_t bytes)
{
	const char *env = getenv("LD_LIBRARY_PATH");
	char origin[PATH_MAX];
	const char *slash = strrchr(user, '/');

	if (strchr(name, '/')) {
		snprintf(to, bytes, "%s", name);
		return is_native(to);
	}
	snprintf(origin, sizeof(origin), "%.*s",
	    slash ? (int)(slash - user) : 1, slash ? user : ".");
	if (find_in_list(runpath, origin, name, to, bytes))
		return true;
	if (env && find_in_list(env, origin, name, to, bytes))
		return true;
	for (size_t i = 0; i < COUNT(library_dirs); i++)
		if (join(to, bytes, library_dirs[i], strlen(library_dirs[i]),
		        name) &&
		    is_native(to))
			return true;
	return false;
}

static void
closure_add(
    struct closure *c, const char *name, const char *user, const char *runpath)
{
	char path[PATH_MAX];

	/* the loader and libc bring in nothing of interest */
	if (!strncmp(name, "ld-linux", 8) || !strcmp(name, "libc.so.6"))
		return;
	for (size_t i = 0; i < c->count; i++)
		if (!strcmp(c->names[i], name))
			return;
	if (c->count == OBJECTS_MAX ||
	    !find_library(name, user, runpath, path, sizeof(path)))
		return;
	c->names[c->count] = strdup(name);
	c->paths[c->count] = strdup(path);
	if (c->names[c->count] && c->paths[c->count]) {
		c->count++;
		return;
	}
	free(c->names[c->count]);
	free(c->paths[c->count]);
}

static void
follow(
    struct inspect *r, struct closure *c, const struct elf *e, const char *path)
{
	for (size_t i = 0; i < e->needed_count; i++) {
		check_sanitizer_name(r, path, e->needed[i]);
		note_allocator(r, e->needed[i]);
		closure_add(c, e->needed[i], path, e->runpath);
	}
}

static void
check_preloads(struct inspect *r, struct closure *c)
{
	const char *env = getenv("LD_PRELOAD");
	char *copy = env ? strdup(env) : NULL;
	char *save = NULL;

	for (char *w = copy ? strtok_r(copy, " :", &save) : NULL; w;
	     w = strtok_r(NULL, " :", &save)) {
		check_sanitizer_name(r, "LD_PRELOAD", w);
		note_allocator(r, w);
		closure_add(c, w, "/", "");
	}
	free(copy);
}

/* Looks at everything the loader would bring in. */
static void
check_libraries(struct inspect *r, const struct elf *e)
{
	struct closure *c = calloc(1, sizeof(*c));

	if (!c)
		return;
	follow(r, c, e, r->program);
	check_preloads(r, c);
	for (size_t i = 0; i < c->count && r->kind == INSPECT_FINE; i++) {
		int fd = infile_open(AT_FDCWD, c->paths[i]);
		struct elf library;

		if (fd < 0 || elf_init(&library, fd) < 0)
			continue;
		follow(r, c, &library, c->paths[i]);
		elf_release(&library);
	}
	for (size_t i = 0; i < c->count; i++) {
		free(c->names[i]);
		free(c->paths[i]);
	}
	free(c);
}

static void
check_symbols(struct inspect *r, const struct elf *e)
{
	static const char *const own_malloc[] = {"malloc"};
	static const char *const own_part[] = {"free", "calloc", "realloc",
	    "reallocarray", "memalign", "aligned_alloc", "posix_memalign"};
	uint32_t part;

	if (elf_defines(e, sanitizer_symbols, COUNT(sanitizer_symbols), true) !=
	    0)
		conclude(r, INSPECT_SANITIZER,
		    "%s has a sanitizer linked in, which has its own malloc and "
		    "does not bear another; use a build without -fsanitize=..., "
		    "or the sanitizer's own leak check",
		    r->program);
	if (elf_defines(e, own_malloc, 1, false) != 0)
		conclude(r, INSPECT_OWN_MALLOC,
		    "%s brings its own malloc inside the executable, which is "
		    "called instead of ours, so it will run untraced; use a build "
		    "with libc's malloc, or with the allocator as a shared library",
		    r->program);
	part = elf_defines(e, own_part, COUNT(own_part), false);
	if (part != 0)
		conclude(r, INSPECT_OWN_PART,
		    "%s brings its own %s inside the executable, which is called "
		    "instead of ours: what it frees or allocates without libc's "
		    "is not seen, so blocks may look live that are not; use a "
		    "build with libc's",
		    r->program, own_part[__builtin_ctz(part)]);
}

static void
check_loader(struct inspect *r, const struct elf *e)
{
	const char *loader = base_name(e->interpreter);

	/* the loader itself, run as a command, does honour LD_PRELOAD */
	if (!loader[0] && e->dynamic && !strncmp(e->soname, "ld-linux", 8))
		return;
	if (!loader[0])
		conclude(r, INSPECT_STATIC,
		    "%s is statically linked: no library can be loaded into it, "
		    "so it will run untraced; use a build without -static",
		    r->program);
	else if (strncmp(loader, "ld-linux", 8) &&
	    strncmp(loader, "ld64.so", 7) && strncmp(loader, "ld.so", 5))
		conclude(r, INSPECT_LIBC,
		    "%s uses another C library than glibc (its loader is %s), so "
		    "it will run untraced; use a build against glibc",
		    r->program, e->interpreter);
}

static void
inspect_program(struct inspect *r)
{
	int fd = infile_open(AT_FDCWD, r->program);
	struct elf e;

	if (fd < 0 || elf_init(&e, fd) < 0)
		return; /* a script without "#!", or not readable for us */
	check_secure(r);
	if (!e.native)
		conclude(r, INSPECT_MACHINE,
		    "%s is a %s-bit program for machine %u, this collector is "
		    "for 64-bit %s, so it will run untraced; use a 64-bit build",
		    r->program, e.elf_class == 1 ? "32" : "64", e.machine,
		    CPU_NAME);
	else
		check_loader(r, &e);
	if (r->kind == INSPECT_FINE)
		check_libraries(r, &e);
	if (r->kind == INSPECT_FINE)
		check_symbols(r, &e);
	elf_release(&e);
}

int
inspect_command(const char *command, struct inspect *ret)
{
	char next[sizeof(ret->program)];
	int err;

	memset(ret, 0, sizeof(*ret));
	err = find_command(command, ret->path, sizeof(ret->path));
	if (err < 0)
		return err;
	strcpy(ret->program, ret->path);
	for (int i = 0; i < SCRIPTS_MAX; i++) {
		if (interpreter_of(ret->program, next, sizeof(next)) == 0)
			break;
		strcpy(ret->program, next);
	}
	inspect_program(ret);
	return 0;
}

/* A process that has changed its user does not use our directory. */
static void
check_place(struct inspect *r, pid_t pid)
{
	char link[32], why[FOLDER_TEXT_BYTES];
	struct stat st;

	snprintf(link, sizeof(link), "/proc/%d", (int)pid);
	if (stat(link, &st) == 0 && st.st_uid != geteuid() &&
	    folder_complaint_of(pid, why, sizeof(why)))
		conclude(r, INSPECT_PLACE,
		    "%s (pid %d) runs as uid %u and finds no place for its "
		    "segment, so it is not traced: %s; have that removed",
		    r->program, (int)pid, (unsigned)st.st_uid, why);
}

bool
inspect_pid(pid_t pid, struct inspect *ret)
{
	char link[32], program[sizeof(ret->program)];
	ssize_t n;

	memset(ret, 0, sizeof(*ret));
	snprintf(link, sizeof(link), "/proc/%d/exe", (int)pid);
	n = readlink(link, program, sizeof(program) - 1);
	if (n <= 0)
		return false;
	program[n] = '\0';
	if (inspect_command(program, ret) == 0) {
		check_place(ret, pid);
		return true;
	}
	strcpy(ret->program, program); /* deleted since, most likely */
	return false;
}
