/* opener.h - opens files at untrusted paths, in a process that may hang. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_OPENER_H
#define SEEP_OPENER_H

#include "base/std.h"

/*
 * Even open() and stat() may never return, for example on a FUSE or network
 * file system whose server does not answer. So a child process with our rights
 * calls them, and passes descriptors. One question may take a few seconds, all
 * questions together until the deadline; then this process is ended and another
 * one is started. It reads no more of a file than ELF headers and notes
 * (objfile.h).
 */
struct opener;

enum opener_kind {
	OPENER_ELF = 1,   /* an ELF file; any other gives -ENOEXEC */
	OPENER_MAP = 2,   /* any regular file; links are not followed */
	OPENER_THERE = 3, /* a file of any kind: does it exist? */
};

enum { OPENER_PATH_BYTES = 8192, OPENER_ID_BYTES = 32 };

struct opener_question {
	enum opener_kind kind;
	/*
	 * The first root_bytes of the path are the directory that is / for the
	 * process which wrote the rest. If it is another process's root, links
	 * do not lead out of it.
	 */
	const char *path;
	size_t root_bytes;
	/*
	 * check_owner: the owner of another file (`chooser`) chose this path.
	 * So the file must belong to him too, or both to root or us; otherwise
	 * -EPERM.
	 */
	bool check_owner;
	uid_t chooser;
};

/* What is known of a file that exists. */
struct opener_file {
	uint64_t device, inode, size;
	uint64_t modified_ns, changed_ns;
	uid_t owner;
	uint32_t mode;
	size_t id_bytes; /* build-id, 0: none */
	uint8_t id[OPENER_ID_BYTES];
};

/* Starts no process before the first question. -ENOMEM. */
int opener_new(struct opener **ret);

/* Ends its process. NULL is fine. */
void opener_free(struct opener *o);

/* Ends its process; the next question starts another one. */
void opener_rest(struct opener *o);

/* The same, but does not wait for its end: it may be a zombie for a while. */
void opener_dismiss(struct opener *o);

/* In CLOCK_MONOTONIC; 0: none. */
void opener_set_deadline(struct opener *o, uint64_t deadline_ns);

/*
 * ret_fd: opened for reading, owned by the caller; NULL: none is wanted.
 * -EINVAL: not a regular file; -ETIMEDOUT: no answer in time; -EAGAIN: there is
 * no process to ask; or an error of open().
 */
int opener_ask(
    struct opener *o, const struct opener_question *q, struct opener_file *ret, int *ret_fd);

/* Number of processes that could not even be killed. */
size_t opener_left(const struct opener *o);

/*
 * A path in a file of `chooser` leads to a file of `owner`: may he choose that
 * file? A user who makes a link, or writes the name of another file into a file
 * of his own, must not choose what root reads. So the file must be his, or both
 * must be root's or ours.
 */
bool opener_may_choose(uid_t chooser, uid_t owner);

/* Can only root and we decide what is in a file of this owner? */
bool opener_is_trusted(const struct opener_file *f);

/* ---- opening: opens one file safely: the work of the opener's process ---- */

/* The structs as they are sent; both ends come from one build. */
struct opening_question {
	uint32_t kind;
	uint32_t root_bytes;
	uint32_t chooser;
	uint8_t check_owner;
	uint8_t wants_fd;
	char path[OPENER_PATH_BYTES];
};
struct opening_reply {
	int32_t err;
	struct opener_file file;
};

/*
 * Checks the file before it opens it, because opening a device or a pipe can
 * have effects. May never return. *ret_fd: for reading, or -1.
 */
void opening_do(const struct opening_question *q, struct opening_reply *ret, int *ret_fd);

#endif
