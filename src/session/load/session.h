/* session.h - one or more processes, from whatever input. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_SESSION_H
#define SEEP_SESSION_H

#include "base/std.h"
#include "session/process/process.h"

/* An event that seep record noted while it ran. */
struct session_mark {
	uint64_t time_us; /* since the recording began */
	uint32_t kind;    /* enum codec_mark */
	uint32_t pid;
	char label[64];
};

/* A snapshot beside the input; it can be an INPUT itself. */
struct session_snapshot {
	char *path;
	uint8_t uuid[16]; /* of the process, as in its header */
	uint32_t pid, number;
	uint32_t reason;  /* enum seg_snapshot */
	uint64_t time_ns; /* since 1970 */
	char label[SEG_SNAPSHOT_LABEL_BYTES];
	bool is_loaded; /* as one of the processes */
};

struct timeline;

/* All inputs of seep become one of these; all reports use it. */
struct session {
	struct process **processes; /* by start */
	size_t count;
	char **notes; /* sentences about what could not be read */
	size_t note_count;
	/* forked children that called exec in their first events: not listed */
	struct session_early {
		uint64_t processes, allocations, allocated_bytes;
	} early_exec;
	bool is_truncated; /* something is cut off or damaged */
	bool lacks_end;    /* the end of the recording that was read last */
	/* beyond the limits of the reader, which docs/FORMAT.md lists */
	struct session_lost {
		uint64_t processes; /* not read */
		uint64_t files;     /* of a directory, not opened */
		uint64_t marks;     /* of a recording */
		uint64_t points;    /* of its time line */
	} lost;
	struct session_work *work;  /* while it is read */
	struct session_mark *marks; /* of a recording */
	size_t mark_count;
	struct session_snapshot *snapshots; /* by time, see below */
	size_t snapshot_count;
	uint32_t command_pid;        /* of the recorded command; 0: not known */
	bool leaks_asked;            /* record --leaks: verdicts are expected */
	uint64_t start_ns;           /* of the recording, since 1970; 0: not known */
	uint64_t until_us;           /* the last moment in its time line */
	struct timeline *line;       /* what timeline.h asks; NULL: there is none */
	struct process_names *names; /* of all recordings, by .all */
	char *title;                 /* "INPUT at ...", of a session_moment_read(); else NULL */
};

/*
 * Reads a segment or snapshot file with its slots, a recording, or a directory
 * of them (all files but *.ctl). In a directory, a file that cannot be read
 * becomes a note, and a damaged one sets is_truncated. Chapters in a directory
 * become one recording (history.h); a history stands for its only service
 * (history.h). *ret is for session_free().
 * -ENOTUNIQ: a history of several services, which the text lists; -EINVAL: not a file of seep;
 * -ENODATA: nothing in it yet; -EBADMSG: damaged; -ENOTSUP: other version; -EFBIG; -ENOMEM; or
 * as open() says.
 */
int session_load(const char *path, struct session **ret, struct fault *where);

/* The same for a running process; errors as of proc_open(). */
int session_load_pid(pid_t pid, struct session **ret, struct fault *where);

/*
 * The same for one slot of an open file, for readers that keep it open. `pid`:
 * the process runs with this one; 0: it does not, or we do not see it. Without
 * `blocks` its memory is not read, so ages and sizes of live blocks are missing.
 * Errors as of segfile_read().
 */
struct segfile;
int session_load_slot(const struct segfile *f, int slot, pid_t pid, bool blocks,
    struct session **ret, struct fault *where);

/* The same for several of them. One that cannot be read becomes a note. */
struct session_slot {
	const struct segfile *file;
	int slot;
	pid_t pid;
};
int session_load_slots(const struct session_slot *list, size_t count, bool blocks,
    struct session **ret, struct fault *where);

/*
 * A process that has ended, and whose segment is still in the directory: the
 * last one that had this pid. The directory was chosen by the process
 * `chooser`, or, if that is 0, by our own user: see foreign_ask.h. -ESRCH:
 * there is none.
 */
int session_load_dead(
    pid_t chooser, const char *directory, pid_t pid, struct session **ret, struct fault *where);

/*
 * The same for a segment in memory, with its slots; nothing is looked up in
 * /proc.
 */
int session_load_bytes(const void *bytes, size_t len, struct session **ret, struct fault *where);

/*
 * Snapshots in a directory, or in FILE.snapshots/ of a recording FILE, are
 * listed but not loaded, except for the newest one of a process of which
 * nothing else is there. This function loads all of them, after the other
 * processes: as one process (by uuid) at several moments. What cannot be read
 * becomes a note. -ENOMEM.
 */
int session_add_snapshots(struct session *s, struct fault *where);

/* NULL is fine. */
void session_free(struct session *s);

/* Its number in the session; s->count: there is none. */
size_t session_number(const struct session *s, const uint8_t uuid[16]);

/* The process with this uuid; NULL: there is none. */
struct process *session_find(const struct session *s, const uint8_t uuid[16]);

/*
 * How the process of a segment ended, as far as the segment and /proc show it.
 */
enum process_end session_end(const struct seg_header *h, const struct source *file, pid_t *ret_pid);

/* The same with a proc_cache that is kept between calls (proc.h). */
struct proc_cache;
enum process_end session_end_in(struct proc_cache *cache, const struct seg_header *h,
    const struct source *file, pid_t *ret_pid);

/*
 * Reads a segment or snapshot for a list. No memory of a process is read, and
 * no slot after until_ns (of CLOCK_MONOTONIC). `dir` as in openat().
 */
struct session_brief {
	uint64_t until_ns;
	struct proc_cache *cache; /* for all files of a list */
	uint64_t unread;          /* out: slots in use that were not read */
};
int session_load_brief(int dir, const char *name, struct session_brief *brief, struct session **ret,
    struct fault *where);

/* The same for one running process; errors as of proc_open(). */
struct session_brief_file {
	char path[4096];
	uint64_t device, inode, stored_bytes;
	uid_t uid;
};
int session_load_pid_brief(pid_t pid, struct session **ret, struct session_brief_file *ret_file);

#endif
