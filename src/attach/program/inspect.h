/* inspect.h - checks before its start whether a command can be traced. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_INSPECT_H
#define SEEP_INSPECT_H

#include <stdbool.h>
#include <sys/types.h>

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

#endif
