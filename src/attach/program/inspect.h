/* inspect.h - checks before its start whether a command can be traced. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_INSPECT_H
#define SEEP_INSPECT_H

#include "base/std.h"
#include "attach/program/elf_reader.h"

enum inspect_kind {
	INSPECT_FINE = 0,   /* no reason against tracing is known */
	INSPECT_STATIC,     /* no loader, so nothing can be preloaded */
	INSPECT_SECURE,     /* setuid, setgid, capabilities: loader drops us */
	INSPECT_MACHINE,    /* other class, byte order or CPU */
	INSPECT_LIBC,       /* not glibc's loader */
	INSPECT_OWN_MALLOC, /* the executable defines malloc: it wins over us */
	INSPECT_OWN_PART,   /* it defines free, or others of the family */
	INSPECT_SANITIZER,  /* it would stop at once with a preload: refuse */
	INSPECT_PLACE,      /* of a process: another user owns its directory */
	INSPECT_VERSION,    /* its glibc lacks what we need: it cannot start */
	INSPECT_OLD_LIBC,   /* a glibc in which the collector does nothing */
	/* remarks, which never become struct inspect.kind: */
	INSPECT_INSIDE, /* an allocator with functions of its own is inside */
	INSPECT_GO,     /* Go's heap is not malloc's */
	INSPECT_KINDS,
};

/* Anything that was found; each kind once. */
enum { INSPECT_NOTES = 10 };
struct inspect_note {
	enum inspect_kind kind;
	char text[768];   /* what, and why: a sentence without a full stop */
	char advice[256]; /* what to try */
};

struct inspect {
	enum inspect_kind kind;
	char path[4096];       /* the file that exec will find */
	char program[4096];    /* the file inspected: path, or an interpreter */
	char allocator[64];    /* shared allocator with an operator new, or "" */
	char message[1024];    /* unless FINE, one line: what, why, what to try */
	bool is_read;          /* it is an ELF file that could be read */
	bool is_native;        /* for this machine */
	char interpreter[256]; /* its loader, or "" */
	char libc[256];        /* the file of glibc that it would use, or "" */
	unsigned note_count;
	struct inspect_note notes[INSPECT_NOTES];
};

/*
 * Finds `command` as execvp() would and inspects it. For a script it inspects
 * the interpreter, also behind /usr/bin/env. Reads PATH, LD_PRELOAD and
 * LD_LIBRARY_PATH. Files are untrusted; a file that cannot be read is FINE.
 * -ENOENT: no such command; -EACCES: it cannot be executed.
 */
int inspect_command(const char *command, struct inspect *ret);

/*
 * The same for the program of a running process; false: it cannot be found out.
 */
bool inspect_pid(pid_t pid, struct inspect *ret);

/* ---- inspect_parts: the steps of inspect.h, for callers that may hang ---- */

/* Who will start the program, and where. */
struct inspect_how {
	bool is_foreign; /* a process of another user runs it */
	bool is_running; /* so it was decided whether it is secure */
	bool has_user;   /* not started by us, but by: */
	uid_t user;
	bool has_no_new_privs; /* setuid and capabilities have no effect */
	const char *root;      /* NULL, or the directory that is / for it */
};

/*
 * Keeps it, and makes the first one that is no remark the reason why the
 * program is not traced. Others of the same kind are ignored.
 */
void inspect_conclude(struct inspect *r, enum inspect_kind kind, const char *advice,
    const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/*
 * Fills path and program as inspect_command() does: finds the file, and the
 * interpreter of a script. Errors as there. May hang.
 */
int inspect_find(const char *command, const char *root, struct inspect *ret);

/*
 * Judges r->program, which is read under the name `file`. Call this in a process
 * that may hang.
 */
void inspect_program(struct inspect *r, const char *file, const struct inspect_how *how);

/* ---- libraries: finds the libraries that the loader would load ---- */

struct libraries_program {
	const char *path;
	const struct elf_facts *facts;
	uid_t owner;
	/*
	 * A process of another user runs it. So a file may only lead to files
	 * of its owner, see struct elf_file.
	 */
	bool is_foreign;
	/* NULL, or the directory that is / for all paths (struct elf_file) */
	const char *root;
	/*
	 * NULL, or called for each library that was found, glibc's libc
	 * included.
	 */
	void (*found)(void *context, const char *path, const struct elf_facts *facts);
};

/*
 * Calls `each` for the names that the program, LD_PRELOAD and then the
 * libraries themselves ask for, until it returns false. `who` is the file that
 * asks, or "LD_PRELOAD". Up to 256 libraries are searched for: in RUNPATH,
 * LD_LIBRARY_PATH and the standard directories.
 */
void libraries_each(struct elf_reader *reader, const struct libraries_program *program,
    bool (*each)(void *context, const char *who, const char *name), void *context);

#endif
