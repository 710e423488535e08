/* segfile.h - a segment file and the log beside it: one process, and forked children in slots. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_SEGFILE_H
#define SEEP_SEGFILE_H

#include "base/std.h"
#include "segments/read/segment_copy.h"

/*
 * The file may belong to a running process and may be damaged or hostile: no
 * content crashes or hangs the reader, memory is bounded by SEGMENT_MAX_BYTES
 * for each struct segment held.
 */
struct segfile;

/*
 * Slots are numbered: first those in which a child has a segment, then the
 * lines of children in their first events. For these only sums are known. They
 * are shown as a segment with one site, "(child ended early)".
 */
enum {
	SEGFILE_OWN = -1, /* "slot" of the file's own process */
	SEGFILE_SLOTS = SEG_SLOTS + SEG_EARLY,
};

/*
 * A process by its segment: which one of which file. A uuid alone is what a
 * process says of itself, and another one may say the same.
 */
struct live_key {
	uint8_t uuid[16];
	uint64_t device, inode;
	int64_t slot;
};
_Static_assert(sizeof(struct live_key) == 40, "no padding to compare");

/*
 * `dir` as of source_open(), AT_FDCWD for a path. Fails if the file's own
 * header is not that of a segment; errors as of segment_copy_read(), or of open().
 */
int segfile_open(int dir, const char *path, struct segfile **ret, struct fault *where);

/* The same for a path whose last part was found in a directory. */
int segfile_open_entry(const char *path, struct segfile **ret, struct fault *where);

/* The same for a path that this process has chosen: see foreign_ask.h. */
int segfile_open_of(pid_t pid, const char *path, struct segfile **ret, struct fault *where);

/* The same over memory, which the caller keeps until segfile_close(). */
int segfile_open_bytes(const void *bytes, size_t len, struct segfile **ret, struct fault *where);

/* NULL is fine. */
void segfile_close(struct segfile *f);

/* Device, inode, sizes; valid as long as f. */
const struct source *segfile_source(const struct segfile *f);

/* The key of the process in a slot, which has this uuid. */
struct live_key segfile_key(const struct segfile *f, int slot, const uint8_t uuid[16]);

/* Number of slots, used or not: 0..SEGFILE_SLOTS. */
int segfile_slots(const struct segfile *f);

/* Is it a line of a child in its first events? */
bool segfile_is_early(const struct segfile *f, int slot);

/* Which slots are used, by number; all 0 if there are none. */
void segfile_taken(const struct segfile *f, uint8_t ret[SEGFILE_SLOTS]);

/* The offset in the file of a slot's byte: if it is zero, the slot is free. */
uint64_t segfile_taken_at(const struct segfile *f, int slot, size_t *ret_bytes);

/* Reads the header in a slot, or SEGFILE_OWN; -ENODATA: no child. */
int segfile_header(const struct segfile *f, int slot, struct seg_header *ret, struct fault *where);

/*
 * The offset of a slot's segment in the source; -ENODATA: no child, or one in
 * its first events.
 */
int segfile_window(const struct segfile *f, int slot, uint64_t *ret_base, uint64_t *ret_limit);

/* A copy of what is in the slot; for segment_copy_free(). */
int segfile_read(const struct segfile *f, int slot, struct segment **ret, struct fault *where);

/* The same with segment_copy_read_ledger(). */
int segfile_read_ledger(
    const struct segfile *f, int slot, struct segment **ret, struct fault *where);

/* Is it what a collector calls a segment or a snapshot, and no hidden file? */
bool segfile_is_name(const char *name);

/* Is it a file beside segments that is no input by itself? */
bool segfile_is_beside(const char *name);

/* Removes the files beside the segment `name` in this directory. */
void segfile_remove_beside(int dir, const char *name);

/* segfile_read() and segment_copy_compact() in one; *ret is for free(). */
int segfile_compact(
    const struct segfile *f, int slot, void **ret, size_t *ret_len, struct fault *where);

/* ---- logfile: the log file beside a segment: opens it, and finds a pool in it ---- */

/*
 * Opens NAME.log and what `end` adds ("", ".ctl") in the directory `dir`. It
 * must be a regular file. A descriptor, or a negative errno.
 */
int logfile_open(int dir, const char *name, const char *end, int flags);

/* All of these bytes, or -EBADMSG. */
int logfile_read(int fd, uint64_t at, void *to, size_t bytes);

/*
 * Where the pool number `pool` is in the file, and its first byte in the file
 * .ctl. -EBADMSG: there is no such pool.
 */
int logfile_find_pool(int fd, uint32_t pool, uint64_t *ret_offset, uint64_t *ret_control);

#endif
