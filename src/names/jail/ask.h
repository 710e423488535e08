/* ask.h - the jail asks its parent for files. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_ASK_H
#define SEEP_ASK_H

#include "base/std.h"

/*
 * The child that reads files cannot open any. It names the file that it needs,
 * and its parent sends a descriptor (worker.h). It can ask for: the module it
 * was started for; debug information, by build-id or by the name in a link, in
 * the places where such files are; a .dwo file; the map of a run-time compiler.
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
	uint32_t next; /* ask for this one next; 0: there are no more */
	bool by_id;    /* only its build-id shows that it is the right file */
	char path[ASK_PATH_BYTES];
};

/* The structs as they are sent; both ends come from one build. */
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
 * For the child. Always writes *ret. Returns 0, or a negative errno if there is
 * no such file or it cannot be opened; ret->next says whether to ask again.
 * Calls only write(), read() and recvmsg().
 */
int ask_file(int fd, const struct ask *question, struct ask_answer *ret);

/*
 * For the parent: decodes the body of an item. False: ask_file() cannot have
 * written it. `name` has room for ASK_NAME_BYTES.
 */
bool ask_parse(const uint8_t *body, size_t len, struct ask_head *head, char *name, struct ask *ret);

/*
 * For the parent: sends fd, or no descriptor if it is -1, and does not close
 * it. Does not wait.
 */
int ask_answer(int to, const struct ask_reply *reply, const char *path, int fd);

#endif
