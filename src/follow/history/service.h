/* service.h - one service of a history, and the chapter that it writes. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_SERVICE_H
#define SEEP_SERVICE_H

#include "base/std.h"
#include "follow/history/store.h"
#include "follow/history/history_pace.h"
#include "follow/recorder/where.h"
#include "names/find/names.h"
#include "recording/file/chapter.h"
#include "recording/file/codec.h"
#include "segments/read/segfile.h"

/*
 * A chapter is begun when there is something to write, and is complete in
 * itself: its time line begins with all that is known of each process. A full
 * disk is no end: `err` has the reason while nothing can be written, the
 * segments stay where they are, and service_retry() goes on.
 */
struct service {
	const struct store *store;
	struct tail_room *room; /* memory to watch processes with */
	const struct names_options *naming;
	char text[256]; /* unit, container or program */
	enum folder_kind kind;
	uid_t uid;
	bool is_chosen; /* see store.h */
	char folder[FOLDER_NAME_BYTES];

	struct chapter *chapter; /* NULL: none is open */
	struct timeline_writer line;
	struct embed *embed; /* NULL: no names */
	struct where where;
	struct kept_roots roots; /* of its processes, also of ended ones */
	struct pace pace;
	uint64_t begun_ns; /* history_pace_monotonic_ns() */
	uint64_t next_look_ns, flushed_ns, used_ns;
	uint64_t numbers;     /* of processes in this chapter */
	uint64_t serial;      /* of the time line: rises when it begins anew */
	uint64_t sites;       /* of the last look */
	bool has_rows;        /* in the current look */
	bool is_place_said;   /* that SEEP_DIR of one could not be used */
	bool is_dirty;        /* written since the last sync */
	size_t living;        /* processes that run, for who counts them */
	size_t segments;      /* last states in this chapter */
	uint64_t aging_bytes; /* of ages and births in this chapter */
	size_t refused;       /* segments that could not be read */
	int err;              /* why nothing can be written; 0: it can */
	uint64_t err_ns;      /* since when */
};

/* One process that is followed in the time line. */
struct service_process {
	struct tail *tail;
	uint64_t serial;         /* of the time line that the tail is for */
	uint64_t module_changes; /* seen by where_look() */
	bool is_unreadable;      /* in this time line */
};

/* Memory alone. `s` has store, room, naming, text, kind, uid, folder. */
void service_init(struct service *s);

/* Leaves an unfinished chapter as it is: *.seep.part. */
void service_release(struct service *s);

/* Opens a chapter, unless one is open. Negative errno, also in s->err. */
int service_open(struct service *s);

/* An event of the time line, now. */
void service_mark(struct service *s, enum codec_mark kind, pid_t pid, const char *label);

/* Is a look due? With `rows` it covers the sites. */
bool service_look_due(struct service *s, bool *ret_rows);

/* Looks at one process. -ENOMEM; other failures leave it out, or are s->err. */
int service_look(
    struct service *s, struct service_process *p, const struct segfile *f, int slot, bool rows);
void service_process_release(struct service_process *p);

/* After all processes were looked at. */
void service_looked(struct service *s);

/*
 * Writes the state of a process as it is, or was at its end. `pid` is for a
 * process that runs, else 0; `view` is as of kept_roots_enter(). 1: it cannot
 * be read, and never will be; negative errno: not now, see s->err.
 */
int service_add(struct service *s, const struct segfile *f, int slot, struct recording_segment *end,
    pid_t pid, uint64_t view);

/*
 * Writes ages and births of a process (recording/parts/aging.h). Unless they are its last
 * ones in this chapter, all such entries take at most a tenth of it. -EAGAIN: not
 * now; other errors are in s->err.
 */
int service_add_aging(
    struct service *s, const uint8_t uuid[16], const void *bytes, size_t len, bool is_last);

/* What was written so far is on the disk. Negative errno, also in s->err. */
int service_sync(struct service *s);

/* Is the chapter to be turned: a day, its size, or nobody in it any more? */
bool service_is_full(const struct service *s);

/*
 * The chapter is complete but for its names. Then a child process finds these
 * and gives the file its last name, because names may take half a minute; if
 * `wait` is set, this process does it. *ret_child is the child, or 0. The next
 * chapter can begin at once. Negative errno, also in s->err.
 */
int service_finish(struct service *s, bool wait, pid_t *ret_child);

/*
 * After an error: makes the chapter sound again and forgets s->err. Whether
 * there is room now is seen by writing: the caller turns the chapter.
 */
void service_retry(struct service *s);

/* ---- chapter_repair: completes a chapter whose writer was killed ---- */

/*
 * A killed watch leaves *.seep.part, a recording that is cut off. This copies
 * its whole entries, adds names and the end, and puts the result in the place
 * of the part, which is removed only when that is safe. A part that has no
 * process in it is removed; one whose writer is at work (-EBUSY), or for which
 * there is no room, stays. `folder` is the service's, `part` the file's name.
 * Negative errno.
 */
int chapter_repair(const struct store *s, const char *folder, const char *part,
    const struct names_options *naming);

#endif
