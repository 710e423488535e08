/* store.h - the directory of a history, which one watch writes. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_STORE_H
#define SEEP_STORE_H

#include "base/std.h"
#include "follow/engine/engine.h"
#include "kit/os/fault.h"
#include "session/process/process.h"

/* What a history is allowed to be; set before store_open(). */
struct store_plan {
	const char *path; /* NULL: the default */
	bool has_group;   /* who may read it beside us */
	gid_t group;
	uint64_t size_bytes; /* of one service */
	uint64_t keep_ns;
};

struct store {
	struct store_plan plan;
	char path[PATH_MAX]; /* absolute */
	int fd, lock_fd;
};

/*
 * Makes the directory, if it is missing, checks that it is ours and that nobody
 * else may write it, and locks it. -EBUSY: another watch writes it; -EPERM: of
 * another owner, or not closed; -ENOTSUP: of another version; -ENOTEMPTY: it
 * has files but is no history; or a negative errno. Nothing is held then.
 */
int store_open(struct store *s, const struct store_plan *plan, struct fault *where);

/* Unlocks. */
void store_release(struct store *s);

/*
 * Makes the folder of a service, or a folder in that, and gives its path.
 * Negative errno; -EPERM: something else is there.
 */
int store_folder(const struct store *s, const char *name, char path[PATH_MAX]);

/* A file of ours becomes readable for the group, if there is one. */
int store_share(const struct store *s, int fd);

/* Calls `each` with the name of every folder. */
void store_each(
    const struct store *s, void (*each)(void *context, const char *name), void *context);

/*
 * Removes the oldest chapters of a service until the rest, with `more` bytes to
 * come, fits its size, and those that ended before `now_ns` (since 1970; 0: not
 * known, so none) less the time to keep. The chapter that is being written stays.
 */
void store_thin(const struct store *s, const char *folder, uint64_t now_ns, uint64_t more);

/* ---- folder_name: the folder of a service in a history ---- */

enum folder_kind {
	FOLDER_UNIT,      /* "nginx", with ".service": of the service manager */
	FOLDER_CONTAINER, /* an id, given by the container's manager */
	FOLDER_PROGRAM,   /* a name that the process itself has chosen */
};

/* Who is watched. The text is untrusted. */
struct folder_service {
	const char *text;
	enum folder_kind kind;
	uid_t uid; /* of the process */
	/* by a user in cgroups of his own; the name of a program always is */
	bool is_chosen;
};

enum { FOLDER_NAME_BYTES = 160 }; /* with the zero */

/*
 * A file name of printable ASCII that is never "." or "..", does not begin with
 * a dot or a hyphen, and has no slash. Different services have different
 * names: a program cannot take the name of a unit, nor a user that of another
 * user's or the machine's. Programs of `self` have plain names.
 *
 * What is not a letter, a digit or one of "_.@:+,=-" becomes %HH. A program
 * whose name looks like that of a unit or a container has its first character
 * escaped. A unit ends in ".service" or another suffix of units, a container
 * that has no id but a name ends in %n, names that others chose in %uUID, and a
 * name that is too long in %h and a hash of the whole.
 */
void folder_name(const struct folder_service *s, uid_t self, char to[FOLDER_NAME_BYTES]);

/* ---- folder_service: which service a process that runs belongs to ---- */

/*
 * For folder_name(): its text is that of the process. `uid` is the owner of its
 * segment file.
 */
void folder_service_of(const struct engine_process *p, uid_t uid, struct folder_service *ret);

/* ---- kept_roots: the root directories of containers, kept for names ---- */

/*
 * Names are found when a chapter ends, by the files of a process. The files of
 * a container can be reached through its processes alone, and not any more when
 * the last one has ended. So the root directory is kept open while a process
 * runs, and until the chapter that has its last state is written. What a
 * container had mounted below its root is not kept: modules that lay there
 * have no names then. All zero is an empty struct.
 */
struct kept_roots {
	struct kept_root *list;
	size_t count, room;
};

void kept_roots_release(struct kept_roots *r);

/*
 * Keeps the root of a process that runs, if it is another one than ours. The
 * caller checks afterwards that the pid is still that of the process. Returns
 * its view (names/find/places.h) for the functions below. 0: it has our root, or it
 * cannot be kept.
 */
uint64_t kept_roots_enter(struct kept_roots *r, pid_t pid);

/* One process with this view has ended. */
void kept_roots_leave(struct kept_roots *r, uint64_t view);

/* Closes those in which nobody runs. */
void kept_roots_drop(struct kept_roots *r);

/*
 * The root of this view; of view 0 the only one there is. All zero: none. It is
 * valid until kept_roots_drop().
 */
struct process_root kept_roots_find(const struct kept_roots *r, uint64_t view);

#endif
