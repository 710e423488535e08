/* recording.h - the recording: one file with the segments of a process tree. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_TRACE_RECORDING_H
#define SEEP_TRACE_RECORDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/outfile.h"

/*
 * A recording is a magic number, a version, and entries, each with type, length
 * and checksum; docs/RECORDING.md describes every byte. A reader skips types
 * that it does not know, so new types need no new version. A number written
 * here never changes its meaning.
 */
enum {
	RECORDING_VERSION = 2,           /* written; 1 is read, too */
	RECORDING_ENTRY_MAX = 512 << 20, /* bytes; a longer entry is damage */
	RECORDING_NAMES_MAX = 64 << 20,  /* bytes of all names, unpacked */
};

enum recording_type {
	RECORDING_SEGMENT =
	    1, /* struct recording_segment, then a compact segment */
	RECORDING_META = 2,     /* text: lines "key=value", see RECORDING.md */
	RECORDING_UNTRACED = 3, /* text: lines "pid=", "exe=", "reason=" */
	RECORDING_END =
	    4, /* written last; recording_next() keeps it to itself */
	RECORDING_LINE = 5, /* a stretch of the time line, see trace/codec.h */
	RECORDING_INDEX =
	    6, /* where entries are; recording_next() keeps it, too */
	RECORDING_NAMES = 7,    /* functions at frames, see names/wire.h */
	RECORDING_VERDICTS = 8, /* uuid (16), then as trace/verdicts.h has it */
};

enum recording_end {
	RECORDING_END_UNKNOWN = 0,
	RECORDING_END_RUNNING = 1,
	RECORDING_END_EXITED = 2,
	RECORDING_END_KILLED = 3,
	RECORDING_END_EXEC =
	    4, /* replaced by exec: a later segment continues */
};

/* recording_segment.flags */
enum {
	RECORDING_SEGMENT_OOM = 1, /* the kernel killed it: out of memory */
};

struct recording_segment {
	uint32_t end_kind;   /* enum recording_end */
	int32_t exit_status; /* -1: not known */
	int32_t signal;      /* 0: none, or not known */
	uint32_t flags;      /* RECORDING_SEGMENT_* */
	/* whose names are its own: see "names" in docs/RECORDING.md */
	uint64_t owner; /* of the segment's file: uid + 1; 0: not known */
	uint64_t view;  /* of the files that it saw; 0: the writer's own */
	uint64_t reserved[4];
};
_Static_assert(sizeof(struct recording_segment) == 64, "bundle_segment");

/*
 * Reading. The file is untrusted: no input crashes, and at most one entry
 * (RECORDING_ENTRY_MAX) is in memory at a time.
 */
struct recording;

/*
 * -EINVAL: not a recording; -ENOTSUP: of another version; -EBADMSG: damaged;
 * or what open() and read() say. recording_close(NULL) is fine.
 */
int recording_open(const char *path, struct recording **ret);

/* The last part of the path was found in a directory: infile_open_entry(). */
int recording_open_entry(const char *path, struct recording **ret);
void recording_close(struct recording *b);

/*
 * 1: an entry, its bytes valid (and 8-byte aligned) until the next call on b;
 * 0: end of the file, or of its last whole entry: see recording_truncated();
 * -EBADMSG: damaged here, what came before was sound; -ENOMEM, -EIO.
 */
int recording_next(struct recording *b, uint32_t *ret_type,
    const void **ret_bytes, size_t *ret_len);

/*
 * From now on entries of other types are passed over, without being read: so
 * damage inside them is not noticed.
 */
void recording_only(struct recording *b, enum recording_type type);

/* After recording_next() gave 0: the file is cut off, its end is missing. */
bool recording_truncated(const struct recording *b);

/* Is its writer at work? Then its end is not missing, but to come. */
bool recording_is_growing(const struct recording *b);

/*
 * After -EBADMSG: goes on behind the damage, if the index at the end of the
 * file is sound and names an entry there. False: there is no way further.
 */
bool recording_resume(struct recording *b);

/* Bytes of the file, when it was opened. */
uint64_t recording_file_bytes(const struct recording *b);

/* Back to the first entry. */
void recording_rewind(struct recording *b);

/*
 * Writing, entry by entry. Nothing appears under `path` before
 * recording_publish() or recording_finish(): a run that fails leaves what was there.
 * From then on the file grows in place, and whatever ends us leaves it
 * readable up to its last whole entry. 0600. One writer, one thread.
 */
struct recording_writer;

enum recording_existing {
	RECORDING_REFUSE = OUTFILE_REFUSE, /* an existing file: -EEXIST */
	RECORDING_REPLACE =
	    OUTFILE_REPLACE, /* is replaced, when ours gets its */
	                     /* name */
	RECORDING_KEEP_OLD = OUTFILE_KEEP_OLD, /* becomes PATH.old then */
};

/*
 * Finds out now whether the result can be written later. A character device
 * or a pipe (/dev/null) is written directly, but not with RECORDING_KEEP_OLD.
 * Negative errno, as of outfile_open(), which has the rule about links.
 */
int recording_create(const char *path, enum recording_existing existing,
    struct recording_writer **ret);

/*
 * Removes an existing file now, or renames it to PATH.old, as
 * recording_create() was asked to, so that nobody takes it for the result of a
 * run that wrote none.
 */
int recording_clear(struct recording_writer *w);

/* One entry of two parts, either may be empty. The first error sticks. */
int recording_append(struct recording_writer *w, enum recording_type type,
    const void *head, size_t head_bytes, const void *body, size_t body_bytes);

/*
 * The same, compressed, unless it shrinks beyond what a reader would believe:
 * what is read is what was given. Level as of zstd.
 */
int recording_append_packed(struct recording_writer *w,
    enum recording_type type, const void *head, size_t head_bytes,
    const void *body, size_t body_bytes, int level);

/*
 * Gives the file its name now. An error (-EEXIST: somebody made one) does not
 * stick: recording_finish() tries again. Twice is fine.
 */
int recording_publish(struct recording_writer *w);

/*
 * Completes the file for now and gives it its name. If this process is killed
 * afterwards, it leaves a complete recording. The next entry overwrites the end
 * entry.
 */
int recording_checkpoint(struct recording_writer *w);

/*
 * Forgets what came after the checkpoint; a full disk is forgiven, for the
 * rest has fitted before. Other errors stay.
 */
int recording_rollback(struct recording_writer *w);

/*
 * Completes the file and puts it in place, also where somebody has taken its
 * name away since; frees w, whatever comes of it. -ESTALE: somebody else wrote
 * into it. 0: file and name are on the disk, and outlive a loss of power.
 */
int recording_finish(struct recording_writer *w);

/* Bytes written so far. */
uint64_t recording_size(const struct recording_writer *w);

/*
 * What was appended so far outlives a loss of power, if the file has its name.
 * Does not complete the file. Negative errno; an error does not stick.
 */
int recording_sync(struct recording_writer *w);

/*
 * After a full disk: the file ends with its last whole entry again, and entries
 * can be appended as soon as there is room. Other errors stay. Entries that
 * failed are lost; who writes differences starts over.
 */
int recording_recover(struct recording_writer *w);

/* Gives back memory that the next entry takes again; for who rests long. */
void recording_rest(struct recording_writer *w);

/* The file, to change who may read it; stays with w. */
int recording_descriptor(const struct recording_writer *w);

/* Forgets what has no name yet, leaves a published file; NULL is fine. */
void recording_discard(struct recording_writer *w);

#endif
