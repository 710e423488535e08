/* history.h - the directory of seep watch: services, folders, chapters. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_HISTORY_H
#define SEEP_HISTORY_H

#include "base/std.h"
#include "kit/os/fault.h"
#include "kit/os/infile.h"
#include "session/load/session.h"

/*
 * A history has a folder of chapters for each service, and a file that says
 * which version of seep may read it (recording/file/chapter.h).
 */

/*
 * The folder to read if a user names the directory `path`: for free(). It is
 * the only service of a history; or `path` itself, if that is a service, or no
 * history at all. -ENOTUNIQ: there are several services, which the text lists;
 * -ENODATA: there is none; -ENOTSUP: another version; -ENOMEM, or as open()
 * says.
 */
int history_find(const char *path, char **ret, struct fault *where);

/*
 * The services of a history that have chapters, for listing_release(). Folders
 * that are links are none. -EINVAL: no history; -ENOTSUP: another version;
 * -ENOMEM, or as open() says.
 */
int history_services(const char *path, struct listing_names *ret, struct fault *where);

enum { HISTORY_PATH_BYTES = 4096, HISTORY_DEFAULTS = 2 };

/*
 * Where seep watch keeps its history unless it is told otherwise. 0: that of
 * this user: $XDG_STATE_HOME/seep or ~/.local/state/seep; root has
 * /var/lib/seep. 1: that of root, which a group may be allowed to read; not for
 * root. False: there is none, or its name is too long.
 */
bool history_default(int which, char path[HISTORY_PATH_BYTES]);

/* ---- history_scan: the processes of all services of a history ---- */

/* The newest end state that the history has of a process. */
struct history_item {
	const char *service;
	const char *folder;  /* HISTORY/SERVICE */
	const char *chapter; /* the name of the file */
	uint64_t stored_bytes;
	const struct process *process; /* figures, but no names */
};

struct history_scan {
	uint64_t until_ns; /* CLOCK_MONOTONIC: no chapter is opened after it */
	uint32_t pid;      /* only those that had this one; 0: all */
	uint64_t unread;   /* out: chapters that there was no time for */
	uint64_t damaged;  /* out: chapters that could not be read whole */
};

/*
 * Calls `each` for every process, service by service, the newest chapters
 * first; a folder of chapters is as a service without a name. Time lines are not read, so
 * processes that run, or whose end was not written, are not among them. Errors as of
 * history_services(), -ENOMEM, or what `each` returns if that is negative.
 */
typedef int history_each(void *context, const struct history_item *item);
int history_scan(const char *path, struct history_scan *q, history_each *each, void *context,
    struct fault *where);

/*
 * The last process with this pid in the history, with all that its service's
 * chapters have of it. *ret_folder is for free(). -ESRCH: there is none; or as
 * of history_services() and session_load().
 */
int history_scan_pid(
    const char *path, pid_t pid, struct session **ret, char **ret_folder, struct fault *where);

/* ---- chapters: a folder of chapters becomes one session ---- */

/* Is one of the names that of a chapter (recording/file/chapter.h)? */
bool chapters_are_in(const struct listing_names *names);
bool chapters_has(const char *name);

/* The chapters among the names, by number; the texts stay with `names`. */
struct chapters_order {
	const char **list; /* for free() */
	size_t count;
};
int chapters_sort(const struct listing_names *names, struct chapters_order *ret);

/*
 * Reads the chapters among the names in `folder`, in the order of their
 * numbers, as if one recording had been made. Counters go on from chapter to
 * chapter, so those of a process are what the last chapter has that knows it. A
 * process is the same if uuid, owner, pid and start are. The time line begins
 * with the first chapter that can be read; where nobody watched, it has a gap.
 * A chapter that cannot be read, or belongs to somebody else than the folder,
 * becomes a note. -ENOMEM.
 */
int chapters_load(
    struct session *s, const char *folder, const struct listing_names *names, struct fault *where);

#endif
