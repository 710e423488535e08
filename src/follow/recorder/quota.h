/* quota.h - limits memory and disk space of a recording, by owner. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_QUOTA_H
#define SEEP_QUOTA_H

#include "base/std.h"
#include "follow/recorder/tail.h"
#include "recording/file/recording.h"

/*
 * Segments of the tree may come from processes that have become other users.
 * These users can write anything into their segments, and as many as they like.
 * So each owner of files other than us has a share, and our own share is the
 * limit of the whole recording. Refused bytes are counted by reason. record
 * prints them, the recording contains them (docs/RECORDING.md, type 3), report
 * shows them, and check exits with 3.
 */
enum {
	QUOTA_OTHERS_MIB = 256,    /* of segments of one other user, unpacked */
	QUOTA_OTHERS_MAX = 20000,  /* segments of one other user */
	QUOTA_OTHERS_FILES = 4096, /* in a directory of another user, at once */
	QUOTA_USERS_MAX = 256,     /* more than that share what the last has */
};
#define QUOTA_FILE_BYTES (UINT64_C(16) << 30) /* unless --max-size is given */

enum quota_reason {
	QUOTA_DAMAGED,
	QUOTA_LARGE,
	QUOTA_FULL,
	QUOTA_USER,
	QUOTA_COUNT,
	QUOTA_FILES,
	QUOTA_UNTOLD,
	QUOTA_REASONS
};

struct quota_user {
	uid_t uid;
	uint64_t bytes;
	size_t segments;
	size_t files;          /* in this look */
	struct tail_room room; /* memory used to watch them */
};

struct quota {
	uint64_t max_bytes; /* of the recording */
	struct quota_user own;
	struct quota_user **others;
	size_t other_count;
	size_t refused[QUOTA_REASONS];
	size_t unwatched; /* processes without a time line of their own */
	size_t unlisted;  /* files too many to be watched: at once, at most */
	uint64_t verdict_bytes;
	size_t verdicts_left; /* out, for lack of room */
	bool timeline_cut;    /* the time line ended before the command */
};

void quota_init(struct quota *q, uint64_t max_bytes);
void quota_release(struct quota *q);

/* The next recording begins: nothing of it is taken yet. */
void quota_turn(struct quota *q);

/*
 * The share of this owner. Never NULL: without memory, all others have one
 * together.
 */
struct quota_user *quota_user(struct quota *q, uid_t uid);

/*
 * May `len` more bytes of a segment be written? If so, they are subtracted from
 * the share. If not, that is counted.
 */
bool quota_take(
    struct quota *q, struct quota_user *u, uint64_t len, const struct recording_writer *w);

/* A look at all files begins. */
void quota_look(struct quota *q);

/* May one more file of this owner be opened in this look? */
bool quota_file(struct quota *q, uid_t uid);

/* Raises *most to the number of things that were refused at once. */
void quota_at_once(size_t *most, size_t now);

/* May the time line go on? It may use half of the file. */
bool quota_timeline(struct quota *q, const struct recording_writer *w);

/*
 * May `len` more bytes of verdicts be written? Then they are taken. All of them
 * have a quarter of the file at most. If not, that is counted.
 */
bool quota_verdicts(struct quota *q, uint64_t len, const struct recording_writer *w);

/* A sentence, as a report prints it. */
const char *quota_words(enum quota_reason reason);

/* Writes all of it. The writer keeps an error. */
void quota_write(const struct quota *q, struct recording_writer *w);

#endif
