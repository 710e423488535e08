/* opener.h - opens files that others name, in a process that may hang. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_NAMES_OPENER_H
#define SEEP_NAMES_OPENER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Even open() and stat() may never come back: of a FUSE or network file system
 * whose server does not answer. So a process of our own does them, with our
 * rights, and passes descriptors. One question has a few seconds, all of them
 * the deadline; then this process is ended and another one is started. It
 * reads no more of a file than ELF headers and notes (buildid.h).
 */
struct opener;

enum opener_kind {
	OPENER_ELF = 1,   /* an ELF file; others are -ENOEXEC */
	OPENER_MAP = 2,   /* any regular file; a link is not followed */
	OPENER_THERE = 3, /* whatever it is: is it there? */
};

enum { OPENER_PATH_BYTES = 8192, OPENER_ID_BYTES = 32 };

struct opener_question {
	enum opener_kind kind;
	/*
	 * The first root_bytes of the path are a directory that is / to those
	 * who wrote the rest: links do not lead out of it if it is another
	 * process's root.
	 */
	const char *path;
	size_t root_bytes;
	/*
	 * Somebody else's file chose this path: then it must belong to him
	 * (`chooser`), or both to root or ourselves. Else it is -EPERM.
	 */
	bool check_owner;
	uid_t chooser;
};

/* What is known of a file that was there. */
struct opener_file {
	uint64_t device, inode, size;
	uint64_t modified_ns, changed_ns;
	uid_t owner;
	uint32_t mode;
	size_t id_bytes; /* build-id, 0: none */
	uint8_t id[OPENER_ID_BYTES];
};

/* Nothing is started before the first question. -ENOMEM. */
int opener_new(struct opener **ret);

/* Ends its process. NULL is fine. */
void opener_free(struct opener *o);

/* Ends its process; the next question starts another one. */
void opener_rest(struct opener *o);

/* The same, without waiting for its end: it may be a zombie for a while. */
void opener_dismiss(struct opener *o);

/* By CLOCK_MONOTONIC; 0: none. */
void opener_set_deadline(struct opener *o, uint64_t deadline_ns);

/*
 * *ret_fd: for reading, the caller's; ret_fd NULL: none is wanted. -EINVAL: not
 * a regular file; -ETIMEDOUT: no answer in time; -EAGAIN: there is no process
 * to ask; or as open() says.
 */
int opener_ask(struct opener *o, const struct opener_question *q,
    struct opener_file *ret, int *ret_fd);

/* Processes that could not even be killed. */
size_t opener_left(const struct opener *o);

/*
 * A path in a file of `chooser` leads to a file of `owner`: is that his choice?
 * A user who writes a link, or the name of another file into a file of his own,
 * must not choose what root reads. So the file must be his, or both must be
 * root's or ours.
 */
bool opener_may_choose(uid_t chooser, uid_t owner);

/* Does nobody but root and ourselves decide what is in it? */
bool opener_is_trusted(const struct opener_file *f);

#endif
