/* collect_parts.h - what the files of collect.h share. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_COLLECT_PARTS_H
#define SEEP_COLLECT_PARTS_H

#include "base/std.h"
#include "follow/recorder/collect.h"
#include "format/format.h"
#include "recording/file/recording.h"
#include "segments/find/segment_dir.h"

struct collect_file {
	char *dir;
	char *name;
	uid_t uid; /* the file's owner */
	uint64_t device, inode;
	bool mapped; /* mapped by a running process: not to be deleted */
	bool failed; /* something in it could not be recorded, so it is kept */
	size_t open; /* rows not written yet */
};

struct collect_row {
	size_t file;
	int slot;
	pid_t pid;
	uint64_t pid_ns;
	uint64_t start_jiffies;
	uint64_t start_ns;
	uint64_t sequence;
	bool inert;
	uint32_t inert_reason, place_owner;
	struct live_key key;
	bool gone;       /* certainly no process writes it any more */
	bool superseded; /* replaced by a younger segment of the same process */
	bool ours;       /* has the command's pid and start */
	struct recording_segment end;
};

/* Keeps the list in order. -ENOMEM. */
int collect_add_key(struct collect_keys *k, const struct live_key *key);

/* A segment that is not there any more needs no key. */
void collect_drop_key(struct collect_keys *k, const struct live_key *key);
void collect_drop_file(struct collect_keys *k, uint64_t device, uint64_t inode);

/* ---- copy_snapshots: moves the snapshots of a session beside its recording ---- */

struct copied_snapshots {
	char folder[PATH_MAX]; /* FILE.snapshots */
	int fd;                /* of that folder; -1: not made yet */
	const char *session;
	size_t moved;
	size_t left;           /* could not be moved, and are where they were */
	int err;               /* errno of the last of these */
	uint64_t others_bytes; /* what those of other users may still take */
	size_t others;         /* files of other users */
};

/*
 * Moves the snapshots of the session from the directory of segments into the
 * folder FILE.snapshots, which is created if there is a snapshot. Overwrites
 * nothing, deletes a file only after it has been copied in full, and keeps
 * holes. Snapshots of other users in the tree are copied, so that the copies
 * belong to us, up to 256 MiB. `k` counts the results.
 */
void copy_snapshots(const struct segment_dir *s, const char *file, struct copied_snapshots *k);

/* ---- flight_keep: the last events of a process go into the recording ---- */

/* Bytes of rings of one process that are kept at most. */
#define FLIGHT_KEEP_MAX (UINT64_C(256) << 20)

/*
 * Writes the rings of a process with SEEP_LOG=last as entries
 * (RECORDING_FLIGHT). `may_take` is asked before each entry whether so many bytes
 * may be written. What cannot be read is left out. -ENOMEM, or an error of the
 * recording.
 */
int flight_keep(const char *dir, const char *name, const struct seg_header *h,
    bool (*may_take)(void *context, uint64_t bytes), void *context, struct recording_writer *w);

#endif
