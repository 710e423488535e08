/* bundle.h - the recording: one file with the segments of a process tree. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_TRACE_BUNDLE_H
#define SEEP_TRACE_BUNDLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/outfile.h"

/*
 * Magic, version, then entries, each with type, length and checksum; told
 * byte by byte in docs/RECORDING.md. A reader skips types it does not know, so
 * new types need no new version. A number written here never changes its
 * meaning.
 */
enum {
	BUNDLE_VERSION = 2,           /* written; 1 is read, too */
	BUNDLE_ENTRY_MAX = 512 << 20, /* bytes; a longer entry is damage */
	BUNDLE_NAMES_MAX = 64 << 20,  /* bytes of all names, unpacked */
};

enum bundle_type {
	BUNDLE_SEGMENT = 1,  /* struct bundle_segment, then a compact segment */
	BUNDLE_META = 2,     /* text: lines "key=value", see RECORDING.md */
	BUNDLE_UNTRACED = 3, /* text: lines "pid=", "exe=", "reason=" */
	BUNDLE_END = 4,   /* written last; bundle_next() keeps it to itself */
	BUNDLE_LINE = 5,  /* a stretch of the time line, see trace/line.h */
	BUNDLE_INDEX = 6, /* where entries are; bundle_next() keeps it, too */
	BUNDLE_NAMES = 7, /* functions at frames, see names/wire.h */
};

enum bundle_end {
	BUNDLE_END_UNKNOWN = 0,
	BUNDLE_END_RUNNING = 1,
	BUNDLE_END_EXITED = 2,
	BUNDLE_END_KILLED = 3,
	BUNDLE_END_EXEC = 4, /* replaced by exec: a later segment continues */
};

struct bundle_segment {
	uint32_t end_kind;   /* enum bundle_end */
	int32_t exit_status; /* -1: not known */
	int32_t signal;      /* 0: none, or not known */
	uint32_t flags;      /* none yet */
	uint64_t reserved[6];
};
_Static_assert(sizeof(struct bundle_segment) == 64, "bundle_segment");

/*
 * Reading. The file is untrusted: no input crashes, and at most one entry
 * (BUNDLE_ENTRY_MAX) is in memory at a time.
 */
struct bundle;

/*
 * -EINVAL: not a recording; -ENOTSUP: of another version; -EBADMSG: damaged;
 * or what open() and read() say. bundle_close(NULL) is fine.
 */
int bundle_open(const char *path, struct bundle **ret);
void bundle_close(struct bundle *b);

/*
 * 1: an entry, its bytes valid (and 8-byte aligned) until the next call on b;
 * 0: end of the file, or of its last whole entry: see bundle_truncated();
 * -EBADMSG: damaged here, what came before was sound; -ENOMEM, -EIO.
 */
int bundle_next(struct bundle *b, uint32_t *ret_type, const void **ret_bytes,
    size_t *ret_len);

/* After bundle_next() gave 0: the file breaks off, its end is missing. */
bool bundle_truncated(const struct bundle *b);

/* Is its writer at work? Then its end is not missing, but to come. */
bool bundle_is_growing(const struct bundle *b);

/*
 * After -EBADMSG: goes on behind the damage, if the index at the end of the
 * file is sound and names an entry there. False: there is no way further.
 */
bool bundle_resume(struct bundle *b);

/* Bytes of the file, when it was opened. */
uint64_t bundle_file_bytes(const struct bundle *b);

/* Back to the first entry. */
void bundle_rewind(struct bundle *b);

/*
 * Writing, entry by entry. Nothing appears under `path` before
 * bundle_publish() or bundle_finish(): a run that fails leaves what was there.
 * From then on the file grows in place, and whatever ends us leaves it
 * readable up to its last whole entry. 0600. One writer, one thread.
 */
struct bundle_writer;

enum bundle_existing {
	BUNDLE_REFUSE = OUTFILE_REFUSE,   /* an existing file: -EEXIST */
	BUNDLE_REPLACE = OUTFILE_REPLACE, /* is replaced, when ours gets its */
	                                  /* name */
	BUNDLE_KEEP_OLD = OUTFILE_KEEP_OLD, /* becomes PATH.old then */
};

/*
 * Finds out now whether the result can be written later. A character device
 * or a pipe (/dev/null) is written directly, but not with BUNDLE_KEEP_OLD.
 * Negative errno, as of outfile_open(), which has the rule about links.
 */
int bundle_create(const char *path, enum bundle_existing existing,
    struct bundle_writer **ret);

/*
 * Removes an existing file now, or renames it to PATH.old, as bundle_create()
 * was told: nobody shall take it for the result of a run that brings none.
 */
int bundle_clear(struct bundle_writer *w);

/* One entry of two parts, either may be empty. The first error sticks. */
int bundle_append(struct bundle_writer *w, enum bundle_type type,
    const void *head, size_t head_bytes, const void *body, size_t body_bytes);

/*
 * The same, compressed, unless it shrinks beyond what a reader would believe:
 * what is read is what was given. Level as of zstd.
 */
int bundle_append_packed(struct bundle_writer *w, enum bundle_type type,
    const void *head, size_t head_bytes, const void *body, size_t body_bytes,
    int level);

/*
 * Gives the file its name now. An error (-EEXIST: somebody made one) does not
 * stick: bundle_finish() tries again. Twice is fine.
 */
int bundle_publish(struct bundle_writer *w);

/*
 * Completes the file for now, with its name: whoever ends us from here on
 * leaves a whole recording. The next entry takes the place of its end.
 */
int bundle_checkpoint(struct bundle_writer *w);

/*
 * Forgets what came after the checkpoint; a full disk is forgiven, for the
 * rest has fitted before. Other errors stay.
 */
int bundle_rollback(struct bundle_writer *w);

/*
 * Completes the file and puts it in place, also where somebody has taken its
 * name away since; frees w, whatever comes of it. -ESTALE: somebody else wrote
 * into it. 0: file and name are on the disk, and outlive a loss of power.
 */
int bundle_finish(struct bundle_writer *w);

/* Bytes written so far. */
uint64_t bundle_size(const struct bundle_writer *w);

/* Forgets what has no name yet, leaves a published file; NULL is fine. */
void bundle_discard(struct bundle_writer *w);

#endif
