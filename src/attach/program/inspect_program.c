/* inspect_program.c - finds reasons why a program cannot be traced. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <sys/prctl.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>

#include "base/cpu/elf_machine.h"

#include "base/std.h"
#include "attach/program/inspect.h"
#include "attach/program/launch.h"
#include "kit/os/infile.h"
#include "kit/words/text.h"

/* where _dl_find_object came */
#define FIND_OBJECT_VERSION "GLIBC_2.35"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

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

static const char *const allocator_libraries[] = {
    "libjemalloc",
    "libtcmalloc",
    "libmimalloc",
};

static bool starts_with_one_of(const char *name, const char *const *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!strncmp(name, list[i], strlen(list[i])))
			return true;
	return false;
}

/* One program while it is judged. */
struct look {
	struct inspect *r;
	const struct inspect_how *how;
	struct elf_reader *reader;
};

void inspect_conclude(
    struct inspect *r, enum inspect_kind kind, const char *advice, const char *fmt, ...)
{
	struct inspect_note *n = &r->notes[r->note_count];
	__builtin_va_list ap;

	for (unsigned i = 0; i < r->note_count; i++)
		if (r->notes[i].kind == kind)
			return;
	if (r->note_count == INSPECT_NOTES)
		return;
	r->note_count++;
	n->kind = kind;
	__builtin_va_start(ap, fmt);
	(void)vsnprintf(n->text, sizeof(n->text), fmt, ap);
	__builtin_va_end(ap);
	(void)snprintf(n->advice, sizeof(n->advice), "%s", advice);
	if (r->kind != INSPECT_FINE || kind >= INSPECT_INSIDE)
		return; /* the first reason is enough */
	r->kind = kind;
	(void)snprintf(r->message, sizeof(r->message), "%s; %s", n->text, n->advice);
}

/* The rules by which Linux sets AT_SECURE, as far as a file decides them. */
static void check_secure_file(struct inspect *r, const char *file, const struct inspect_how *how)
{
	uid_t user = how->has_user ? how->user : getuid();
	struct statvfs fs;
	struct stat st;
	const char *what = NULL;

	if (stat(file, &st) < 0)
		return;
	if (statvfs(file, &fs) == 0 && (fs.f_flag & ST_NOSUID))
		return;
	if ((st.st_mode & S_ISUID) && st.st_uid != user)
		what = "is setuid";
	else if ((st.st_mode & S_ISGID) && (st.st_mode & S_IXGRP) &&
	    (how->has_user || st.st_gid != getgid()))
		what = "is setgid";
	else if (user != 0 && getxattr(file, "security.capability", NULL, 0) > 0)
		what = "has file capabilities";
	if (what)
		inspect_conclude(r, INSPECT_SECURE,
		    "run seep as the user it changes to (as root: sudo seep "
		    "record ...), or a copy without that bit",
		    "%s %s: the loader ignores preloaded libraries there, so it "
		    "will run untraced",
		    r->program, what);
}

static void check_secure(struct inspect *r, const char *file, const struct inspect_how *how)
{
	char self[32];
	int fd;

	if (how->is_running || how->has_no_new_privs ||
	    (!how->has_user && prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1))
		return;
	if (!how->root) {
		check_secure_file(r, file, how);
		return;
	}
	fd = infile_find_in_root(how->root, file, 0);
	if (fd < 0)
		return;
	(void)snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	check_secure_file(r, self, how);
	(void)close(fd);
}

static void check_sanitizer_name(struct inspect *r, const char *who, const char *name)
{
	if (starts_with_one_of(text_base(name), sanitizer_libraries, COUNT(sanitizer_libraries)))
		inspect_conclude(r, INSPECT_SANITIZER,
		    "use a build without -fsanitize=..., or the sanitizer's "
		    "own leak check",
		    "%s uses a sanitizer (%s), which stops the program when "
		    "anything is preloaded before it",
		    who, text_base(name));
}

static void note_allocator(struct inspect *r, const char *name)
{
	if (!r->allocator[0] &&
	    starts_with_one_of(text_base(name), allocator_libraries, COUNT(allocator_libraries)))
		snprintf(r->allocator, sizeof(r->allocator), "%.63s", text_base(name));
}

static bool check_library(void *context, const char *who, const char *name)
{
	struct look *l = context;

	check_sanitizer_name(l->r, who, name);
	note_allocator(l->r, name);
	return true;
}

/* What the collector needs, from its own file. */
static void check_versions(struct look *l, const char *path, const struct elf_facts *libc)
{
	struct elf_facts *ours = malloc(sizeof(*ours));
	char library[PATH_MAX];
	const struct elf_file file = {.path = library};
	const char *missing = NULL;
	uid_t owner;

	if (ours && launch_find_library("libseep.so", library, sizeof(library)) == 0 &&
	    elf_reader_read(l->reader, &file, ours, &owner) == 0)
		for (uint32_t at = 0; at < ours->needs_bytes && !missing;
		     at += (uint32_t)strlen(ours->needs + at) + 1)
			if (!elf_reader_lists(libc->defines, libc->defines_bytes, ours->needs + at))
				missing = ours->needs + at;
	if (missing)
		inspect_conclude(l->r, INSPECT_VERSION,
		    "do not preload it there; use a newer system",
		    "%s is a glibc without %s, which libseep.so needs: the "
		    "program would not start",
		    path, missing);
	else if (!elf_reader_lists(libc->defines, libc->defines_bytes, FIND_OBJECT_VERSION))
		inspect_conclude(l->r, INSPECT_OLD_LIBC, "use a system with glibc 2.35 or newer",
		    "%s is a glibc older than 2.35 (no _dl_find_object), where "
		    "the collector does nothing, so %s will run untraced",
		    path, l->r->program);
	free(ours);
}

static void look_at_found(void *context, const char *path, const struct elf_facts *facts)
{
	struct look *l = context;

	if (!strcmp(text_base(path), ELF_LIBC) && !l->r->libc[0]) {
		(void)snprintf(l->r->libc, sizeof(l->r->libc), "%.255s", path);
		if (facts->defines_bytes > 0)
			check_versions(l, path, facts);
	}
}

/* An allocator under names of its own, which nobody can replace. */
static void check_inside(struct inspect *r, const struct elf_facts *f)
{
	for (unsigned i = 0; i < ELF_INSIDE && !(f->own & 1); i++)
		if (f->inside >> i & 1)
			inspect_conclude(r, INSPECT_INSIDE,
			    "use a build with the allocator as a shared "
			    "library, or without it",
			    "%s has %s inside, under names of its own (%s): "
			    "blocks from there are not seen",
			    r->program, elf_inside[i].allocator, elf_inside[i].function);
}

static const char *allocator_inside(const struct elf_facts *f)
{
	for (unsigned i = 0; i < ELF_INSIDE; i++)
		if (f->inside >> i & 1)
			return elf_inside[i].allocator;
	return NULL;
}

static void check_symbols(struct inspect *r, const struct elf_facts *f)
{
	const char *inside = allocator_inside(f);

	if (f->has_sanitizer)
		inspect_conclude(r, INSPECT_SANITIZER,
		    "use a build without -fsanitize=..., or the sanitizer's "
		    "own leak check",
		    "%s has a sanitizer linked in, which has its own malloc and "
		    "does not bear another",
		    r->program);
	if (f->own & 1)
		inspect_conclude(r, INSPECT_OWN_MALLOC,
		    "use a build with libc's malloc, or with the allocator as "
		    "a shared library",
		    "%s brings its own malloc%s%s%s inside the executable, "
		    "which is called instead of ours, so it will run untraced",
		    r->program, inside ? " (" : "", inside ? inside : "", inside ? ")" : "");
	for (unsigned i = 1; i < ELF_FAMILY; i++)
		if (f->own >> i & 1)
			inspect_conclude(r, INSPECT_OWN_PART, "use a build with libc's",
			    "%s brings its own %s inside the executable, which "
			    "is called instead of ours: what it frees or "
			    "allocates without libc's is not seen, so blocks may "
			    "look live that are not",
			    r->program, elf_family[i]);
	check_inside(r, f);
	if (f->is_go)
		inspect_conclude(r, INSPECT_GO, "use Go's own profiles (pprof) for its heap",
		    "%s is written in Go, whose heap is not malloc's: only "
		    "what its C code allocates is seen",
		    r->program);
}

static void check_loader(struct inspect *r, const struct elf_facts *f)
{
	const char *loader = text_base(f->interpreter);

	/* the loader itself, run as a command, does honour LD_PRELOAD */
	if (!loader[0] && f->dynamic && !strncmp(f->soname, "ld-linux", 8))
		return;
	if (!loader[0])
		inspect_conclude(r, INSPECT_STATIC, "use a build without -static",
		    "%s is statically linked%s: no library can be loaded into "
		    "it, so it will run untraced",
		    r->program, f->dynamic ? " (static-pie)" : "");
	else if (strncmp(loader, "ld-linux", 8) && strncmp(loader, "ld64.so", 7) &&
	    strncmp(loader, "ld.so", 5))
		inspect_conclude(r, INSPECT_LIBC, "use a build against glibc",
		    "%s uses another C library than glibc (its loader is %s), so "
		    "it will run untraced",
		    r->program, f->interpreter);
}

static void check_machine(struct inspect *r, const struct elf_facts *f)
{
	if (!f->native)
		inspect_conclude(r, INSPECT_MACHINE, "use a 64-bit build",
		    "%s is a %s-bit program for machine %u, this collector is "
		    "for 64-bit %s, so it will run untraced",
		    r->program, f->elf_class == 1 ? "32" : "64", f->machine, CPU_NAME);
}

static void judge(struct look *l, const char *file, const struct libraries_program *p)
{
	struct inspect *r = l->r;
	const struct elf_facts *facts = p->facts;
	bool is_loadable;

	r->is_read = true;
	r->is_native = facts->native;
	(void)snprintf(r->interpreter, sizeof(r->interpreter), "%.255s", facts->interpreter);
	check_secure(r, file, l->how);
	check_machine(r, facts);
	if (facts->native)
		check_loader(r, facts);
	is_loadable = r->kind == INSPECT_FINE || r->kind == INSPECT_SECURE;
	if (is_loadable)
		libraries_each(l->reader, p, check_library, l);
	if (is_loadable)
		check_symbols(r, facts);
	else if (facts->is_go)
		check_symbols(r, &(struct elf_facts){.is_go = 1});
}

void inspect_program(struct inspect *r, const char *file, const struct inspect_how *how)
{
	const struct elf_file program = {.path = file, .root = how->root};
	struct look l = {.r = r, .how = how, .reader = elf_reader_new()};
	struct libraries_program p = {.path = r->program,
	    .is_foreign = how->is_foreign,
	    .root = how->root,
	    .found = look_at_found};
	static struct elf_facts facts;

	if (l.reader && elf_reader_read(l.reader, &program, &facts, &p.owner) == 0) {
		p.facts = &facts;
		judge(&l, file, &p);
	} /* otherwise a script without "#!", or we may not read it */
	elf_reader_free(l.reader);
}
