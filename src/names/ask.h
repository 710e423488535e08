/* ask.h - the jail asks its parent for files. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_NAMES_ASK_H
#define SEEP_NAMES_ASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The child that reads files cannot open any. It names what it needs, and
 * answer.h sends a descriptor: of the module it was started for, of debug
 * information with a build-id or a link's name in the places where such files
 * are, of a .dwo file, of the map of a run-time compiler.
 */
enum ask_kind {
	ASK_MODULE = 1, /* the file that ran */
	ASK_DEBUG = 2,  /* its debug information, by build-id */
	ASK_LINK = 3,   /* the same, by the name in .gnu_debuglink */
	ASK_ALT = 4,    /* what dwz moved out, by build-id and name */
	ASK_SPLIT = 5,  /* a .dwo file, by its path */
	ASK_MAP = 6,    /* /tmp/perf-PID.map */
	ASK_LAST = ASK_MAP,
};

enum { ASK_NAME_BYTES = 4096, ASK_PATH_BYTES = 8192 };

struct ask {
	enum ask_kind kind;
	uint32_t n; /* from 0 on: which of several files, as the answer says */
	const uint8_t *id;
	size_t id_bytes;
	const char *name; /* or NULL */
};

struct ask_answer {
	int fd;
	uint32_t next; /* asks for the next one; 0: there are no more */
	bool by_id;    /* only the build-id says that it is the one */
	char path[ASK_PATH_BYTES];
};

/* The forms on the line; both ends are of one build. */
struct ask_head {
	uint32_t kind;
	uint32_t n;
	uint32_t id_bytes;
	uint8_t id[32];
};
struct ask_reply {
	int32_t err;
	uint32_t next;
	uint32_t by_id;
	uint32_t path_bytes;
};

/*
 * For the child. *ret is written in any case. 0; or a negative errno: there is
 * no such file, or it cannot be had; ret->next says whether to ask on. Makes
 * no call but write(), read() and recvmsg().
 */
int ask_file(int fd, const struct ask *question, struct ask_answer *ret);

/*
 * For the parent: a question in the body of an item. False: it is none that
 * ask_file() writes. `name` has room for ASK_NAME_BYTES.
 */
bool ask_parse(const uint8_t *body, size_t len, struct ask_head *head,
    char *name, struct ask *ret);

/* For the parent; fd is not closed, -1: none. Does not wait. */
int ask_answer(int to, const struct ask_reply *reply, const char *path, int fd);

#endif
