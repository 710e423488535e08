/* inspect.h - looks at a command before it starts: can it be traced? */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_RECORD_INSPECT_H
#define SEEP_RECORD_INSPECT_H

#include <stdbool.h>
#include <sys/types.h>

enum inspect_kind {
	INSPECT_FINE = 0,   /* nothing known against it */
	INSPECT_STATIC,     /* no loader, so nothing can be preloaded */
	INSPECT_SECURE,     /* setuid, setgid, capabilities: loader drops us */
	INSPECT_MACHINE,    /* other class, byte order or CPU */
	INSPECT_LIBC,       /* not glibc's loader */
	INSPECT_OWN_MALLOC, /* the executable defines malloc: it wins over us */
	INSPECT_OWN_PART,   /* it defines free, or others of the family */
	INSPECT_SANITIZER,  /* a preload would make it stop at once: refuse */
	INSPECT_PLACE,      /* of a process: another user has its directory */
};

struct inspect {
	enum inspect_kind kind;
	char path[4096];    /* the file that exec will find */
	char program[4096]; /* the file inspected: path, or an interpreter */
	char allocator[64]; /* shared allocator with an operator new, or "" */
	char message[1024]; /* one line, unless FINE: what, why, what to try */
};

/*
 * Finds `command` as execvp() would and looks at it; for a script at its
 * interpreter, also behind /usr/bin/env. Reads PATH, LD_PRELOAD and
 * LD_LIBRARY_PATH. Files are untrusted; what cannot be read is FINE.
 * -ENOENT: no such command; -EACCES: it cannot be executed.
 */
int inspect_command(const char *command, struct inspect *ret);

/* The same for what a living process runs; false: it cannot be known. */
bool inspect_pid(pid_t pid, struct inspect *ret);

#endif
