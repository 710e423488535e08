/* inspect_program.c - finds reasons why a program cannot be traced. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "cpu/machine.h"
#include "record/inspect_parts.h"
#include "record/libraries.h"
#include "util/text.h"

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

static bool
starts_with_one_of(const char *name, const char *const *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!strncmp(name, list[i], strlen(list[i])))
			return true;
	return false;
}

void
inspect_conclude(
    struct inspect *r, enum inspect_kind kind, const char *fmt, ...)
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
check_secure(struct inspect *r, const char *file)
{
	struct statvfs fs;
	struct stat st;
	const char *what = NULL;

	if (stat(file, &st) < 0)
		return;
	if (statvfs(file, &fs) == 0 && (fs.f_flag & ST_NOSUID))
		return;
	if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1)
		return;
	if ((st.st_mode & S_ISUID) && st.st_uid != getuid())
		what = "is setuid";
	else if ((st.st_mode & S_ISGID) && (st.st_mode & S_IXGRP) &&
	    st.st_gid != getgid())
		what = "is setgid";
	else if (getuid() != 0 &&
	    getxattr(file, "security.capability", NULL, 0) > 0)
		what = "has file capabilities";
	if (what)
		inspect_conclude(r, INSPECT_SECURE,
		    "%s %s: the loader ignores preloaded libraries there, so it "
		    "will run untraced; run seep as the user it changes to (as "
		    "root: sudo seep record ...), or a copy without that bit",
		    r->program, what);
}

static void
check_sanitizer_name(struct inspect *r, const char *who, const char *name)
{
	if (starts_with_one_of(text_base(name), sanitizer_libraries,
	        COUNT(sanitizer_libraries)))
		inspect_conclude(r, INSPECT_SANITIZER,
		    "%s uses a sanitizer (%s), which stops the program when "
		    "anything is preloaded before it; use a build without "
		    "-fsanitize=..., or the sanitizer's own leak check",
		    who, text_base(name));
}

static void
note_allocator(struct inspect *r, const char *name)
{
	if (!r->allocator[0] &&
	    starts_with_one_of(text_base(name), allocator_libraries,
	        COUNT(allocator_libraries)))
		snprintf(r->allocator, sizeof(r->allocator), "%.63s",
		    text_base(name));
}

static bool
check_library(void *context, const char *who, const char *name)
{
	struct inspect *r = context;

	check_sanitizer_name(r, who, name);
	note_allocator(r, name);
	return r->kind == INSPECT_FINE;
}

static void
check_symbols(struct inspect *r, const struct elf_facts *f)
{
	if (f->has_sanitizer)
		inspect_conclude(r, INSPECT_SANITIZER,
		    "%s has a sanitizer linked in, which has its own malloc and "
		    "does not bear another; use a build without -fsanitize=..., "
		    "or the sanitizer's own leak check",
		    r->program);
	if (f->own & 1)
		inspect_conclude(r, INSPECT_OWN_MALLOC,
		    "%s brings its own malloc inside the executable, which is "
		    "called instead of ours, so it will run untraced; use a build "
		    "with libc's malloc, or with the allocator as a shared library",
		    r->program);
	for (unsigned i = 1; i < ELF_FAMILY; i++)
		if (f->own >> i & 1)
			inspect_conclude(r, INSPECT_OWN_PART,
			    "%s brings its own %s inside the executable, which "
			    "is called instead of ours: what it frees or "
			    "allocates without libc's is not seen, so blocks may "
			    "look live that are not; use a build with libc's",
			    r->program, elf_family[i]);
}

static void
check_loader(struct inspect *r, const struct elf_facts *f)
{
	const char *loader = text_base(f->interpreter);

	/* the loader itself, run as a command, does honour LD_PRELOAD */
	if (!loader[0] && f->dynamic && !strncmp(f->soname, "ld-linux", 8))
		return;
	if (!loader[0])
		inspect_conclude(r, INSPECT_STATIC,
		    "%s is statically linked: no library can be loaded into it, "
		    "so it will run untraced; use a build without -static",
		    r->program);
	else if (strncmp(loader, "ld-linux", 8) &&
	    strncmp(loader, "ld64.so", 7) && strncmp(loader, "ld.so", 5))
		inspect_conclude(r, INSPECT_LIBC,
		    "%s uses another C library than glibc (its loader is %s), so "
		    "it will run untraced; use a build against glibc",
		    r->program, f->interpreter);
}

static void
check_machine(struct inspect *r, const struct elf_facts *f)
{
	if (!f->native)
		inspect_conclude(r, INSPECT_MACHINE,
		    "%s is a %s-bit program for machine %u, this collector is "
		    "for 64-bit %s, so it will run untraced; use a 64-bit build",
		    r->program, f->elf_class == 1 ? "32" : "64", f->machine,
		    CPU_NAME);
}

void
inspect_program(struct inspect *r, const char *file, bool is_foreign)
{
	const struct elf_file program = {.path = file};
	struct elf_reader *reader = elf_reader_new();
	struct libraries_program p = {
	    .path = r->program, .is_foreign = is_foreign};
	static struct elf_facts facts;

	if (reader &&
	    elf_reader_read(reader, &program, &facts, &p.owner) == 0) {
		p.facts = &facts;
		check_secure(r, file);
		check_machine(r, &facts);
		if (facts.native)
			check_loader(r, &facts);
		if (r->kind == INSPECT_FINE)
			libraries_each(reader, &p, check_library, r);
		if (r->kind == INSPECT_FINE)
			check_symbols(r, &facts);
	} /* otherwise a script without "#!", or we may not read it */
	elf_reader_free(reader);
}
