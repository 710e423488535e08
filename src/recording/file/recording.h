/* recording.h - the recording: one file with the segments of a process tree. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_RECORDING_H
#define SEEP_RECORDING_H

#include "base/std.h"
#include "kit/os/outfile.h"

/*
 * A recording is a magic number, a version, and entries, each with type, length
 * and checksum; docs/RECORDING.md describes every byte. A reader skips types
 * that it does not know, so new types need no new version. A number written
 * here never changes its meaning.
 */
enum {
	RECORDING_VERSION = 2,           /* version 1 is also read */
	RECORDING_ENTRY_MAX = 512 << 20, /* bytes; a longer entry is damage */
	RECORDING_NAMES_MAX = 64 << 20,  /* bytes of all names, unpacked */
};

enum recording_type {
	RECORDING_SEGMENT = 1,    /* struct recording_segment, then a compact segment */
	RECORDING_META = 2,       /* text: lines "key=value", see RECORDING.md */
	RECORDING_UNTRACED = 3,   /* text: lines "pid=", "exe=", "reason=" */
	RECORDING_END = 4,        /* written last; recording_next() does not return it */
	RECORDING_LINE = 5,       /* a part of the time line, see recording/file/codec.h */
	RECORDING_INDEX = 6,      /* where entries are; recording_next() does not return it */
	RECORDING_NAMES = 7,      /* functions of frames, see names/find/wire.h */
	RECORDING_VERDICTS = 8,   /* uuid (16), then recording/parts/verdicts.h */
	RECORDING_AGING = 9,      /* uuid (16), then recording/parts/aging.h */
	RECORDING_RESIDENCE = 10, /* uuid (16), then recording/parts/rss_account.h */
	RECORDING_LOG = 11,       /* a part of an event log, see recording/log/logcode.h */
	/* behind one of these: what it changed, see recording/log/logcode.h */
	RECORDING_LOG_INDEX = 12,
	RECORDING_INVENTORY = 13, /* uuid (16), then recording/parts/inventory.h */
	RECORDING_FLIGHT = 16,    /* struct log_head, then rings: format/seg_flight.h */
};

enum recording_end {
	RECORDING_END_UNKNOWN = 0,
	RECORDING_END_RUNNING = 1,
	RECORDING_END_EXITED = 2,
	RECORDING_END_KILLED = 3,
	RECORDING_END_EXEC = 4, /* replaced by exec: a later segment continues */
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
	uint64_t owner; /* owner of the segment's file: uid + 1; 0: not known */
	uint64_t view;  /* names/find/places.h; 0: as the writer's */
	uint64_t reserved[4];
};
_Static_assert(sizeof(struct recording_segment) == 64, "bundle_segment");

/*
 * Reading. The file is untrusted: no input crashes, and at most one entry
 * (RECORDING_ENTRY_MAX) is in memory at a time.
 */
struct recording;

/*
 * -EINVAL: not a recording; -ENOTSUP: another version; -EBADMSG: damaged; or an
 * error of open() or read(). recording_close(NULL) does nothing.
 */
int recording_open(const char *path, struct recording **ret);

/* The last part of the path was found in a directory: infile_open_entry(). */
int recording_open_entry(const char *path, struct recording **ret);
void recording_close(struct recording *b);

/*
 * 1: an entry, whose bytes are valid (and 8-byte aligned) until the next call
 * on b; 0: end of the file, or of its last whole entry: see
 * recording_truncated(); -EBADMSG: damaged here, but everything before was
 * sound; -ENOMEM, -EIO.
 */
int recording_next(
    struct recording *b, uint32_t *ret_type, const void **ret_bytes, size_t *ret_len);

/*
 * From now on entries of other types are passed over, without being read: so
 * damage inside them is not noticed.
 */
void recording_only(struct recording *b, enum recording_type type);

/* The same for entries of this type alone; may be called for several. */
void recording_without(struct recording *b, enum recording_type type);

/* After recording_only(): entries of this type are not passed over either. */
void recording_also(struct recording *b, enum recording_type type);

/* Where an entry is. */
struct recording_place {
	uint64_t offset, next; /* of its head, and of the next entry */
	uint64_t entries;      /* before it */
	uint32_t type;
	uint32_t crc; /* of the payload as stored, which nobody has checked */
};

/*
 * The entry that recording_next() would read next, without reading it; the
 * result is as of recording_next().
 */
int recording_peek(struct recording *b, struct recording_place *ret);

/* recording_next() continues at, or behind, a place that this b has given. */
void recording_go_to(struct recording *b, const struct recording_place *p);
void recording_go_behind(struct recording *b, const struct recording_place *p);

/*
 * After recording_next() returned 0: is the file cut off, so that its end is
 * missing?
 */
bool recording_truncated(const struct recording *b);

/*
 * Is its writer still at work? Then the end is not missing, but not written
 * yet.
 */
bool recording_is_growing(const struct recording *b);

/*
 * After -EBADMSG: continues behind the damage if the index at the end of the
 * file is sound and names an entry there. Returns false if that is not
 * possible.
 */
bool recording_resume(struct recording *b);

/* Size of the file in bytes when it was opened. */
uint64_t recording_file_bytes(const struct recording *b);

/* Back to the first entry. */
void recording_rewind(struct recording *b);

/*
 * Writing, entry by entry. Nothing appears under `path` before
 * recording_publish() or recording_finish(), so a run that fails does not
 * change what was there. From then on the file grows in place; if the writer is
 * killed, the file is readable up to its last whole entry. Mode 0600. One
 * writer, one thread.
 */
struct recording_writer;

/*
 * If a file of that name exists: return -EEXIST, replace it when ours gets its
 * name, or rename it to PATH.old then.
 */
enum recording_existing {
	RECORDING_REFUSE = OUTFILE_REFUSE,
	RECORDING_REPLACE = OUTFILE_REPLACE,
	RECORDING_KEEP_OLD = OUTFILE_KEEP_OLD,
};

/*
 * Finds out now whether the result can be written later. A character device or
 * a pipe (/dev/null) is written directly, but not with RECORDING_KEEP_OLD.
 * Negative errno as of outfile_open(), which has the rule about links.
 */
int recording_create(
    const char *path, enum recording_existing existing, struct recording_writer **ret);

/*
 * Removes an existing file now, or renames it to PATH.old, as
 * recording_create() was asked to, so that nobody takes it for the result of a
 * run that wrote none.
 */
int recording_clear(struct recording_writer *w);

/*
 * Writes one entry of two parts; either may be empty. The first error is kept.
 */
int recording_append(struct recording_writer *w, enum recording_type type, const void *head,
    size_t head_bytes, const void *body, size_t body_bytes);

/*
 * The same, compressed, unless it shrinks by more than a reader would accept. A
 * reader gets the same bytes either way. `level` is that of zstd.
 */
int recording_append_packed(struct recording_writer *w, enum recording_type type, const void *head,
    size_t head_bytes, const void *body, size_t body_bytes, int level);

/*
 * Gives the file its name now. An error (-EEXIST: somebody has created one) is
 * not kept: recording_finish() tries again. May be called twice.
 */
int recording_publish(struct recording_writer *w);

/*
 * Completes the file for now and gives it its name. If this process is killed
 * afterwards, it leaves a complete recording. The next entry overwrites the end
 * entry.
 */
int recording_checkpoint(struct recording_writer *w);

/*
 * Drops what came after the checkpoint. A full disk is no error afterwards,
 * because everything up to the checkpoint had room. Other errors stay.
 */
int recording_rollback(struct recording_writer *w);

/*
 * Completes the file and puts it in place, also if somebody has removed its
 * name meanwhile. Frees w in any case. -ESTALE: somebody else wrote into it. 0:
 * file and name are on the disk and survive a loss of power.
 */
int recording_finish(struct recording_writer *w);

/* Where the entry is that was written last. */
struct recording_place recording_last(const struct recording_writer *w);

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

/* Its place; stays with w. */
const struct outfile *recording_outfile(const struct recording_writer *w);

/*
 * Removes the file if it has no name yet; keeps a published one. NULL is
 * allowed.
 */
void recording_discard(struct recording_writer *w);

#endif
