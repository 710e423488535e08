/* follow_parts.h - what the files of follow.h share. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_FOLLOW_PARTS_H
#define SEEP_FOLLOW_PARTS_H

#include "follow/recorder/follow.h"
#include "follow/recorder/leaks_look.h"
#include "follow/recorder/tail.h"
#include "recording/file/codec.h"
#include "kit/data/dict.h"

/* One segment being watched. */
struct follow_watch {
	int slot;
	uint8_t uuid[16];
	pid_t pid;
	/*
	 * NULL if it was not read yet. If `fresh` is not set either, it cannot
	 * be read or there is no room for it, and its end state must do.
	 */
	struct tail *tail;
	bool fresh;              /* not read yet */
	uint64_t module_changes; /* seen by where_look() */
	uint64_t births_ns;      /* when its births are read again */
};

struct follow_file {
	char *dir, *name;
	uid_t uid;     /* its owner */
	bool is_known; /* its header could be read */
	bool is_ours;  /* carries our session, and is wanted */
	bool is_gone;
	uint64_t seen; /* look in which it was in its directory */
	struct follow_watch *watches;
	size_t watch_count;
};

/* A process without the collector, seen once or more. */
struct follow_suspect {
	pid_t pid;
	uint64_t start_jiffies;
	uint64_t first_ns;
	uint64_t seen; /* check in which it was running */
	bool reported;
};

struct follow {
	struct follow_plan plan;
	struct follow_file *files;
	size_t file_count, file_room;
	struct dict file_index;
	struct follow_suspect *suspects;
	size_t suspect_count;
	struct timeline_writer timeline;
	uint64_t now_ns; /* of this look */
	uint64_t next_look_ns, next_family_ns, next_slots_ns, last_flush_ns;
	uint64_t last_family_ns;
	bool found_any;     /* a process with the collector in it */
	uint64_t looks;     /* at files */
	uint64_t families;  /* checks for ended processes */
	uint64_t numbers;   /* of processes, given out */
	uint64_t sites;     /* of all that are watched */
	size_t slots_taken; /* in the fullest file */
	size_t present;     /* files of ours that are there */
	bool has_children;  /* some slot was taken */
	size_t unlisted;    /* files too many to be known, in this look */
	size_t untold;      /* processes too many to be listed, likewise */
	size_t learned;     /* files met for the first time, in this look */
	struct follow_births {
		struct leaks_look look; /* at one process */
		uint8_t uuid[16];       /* of that one */
		uint64_t rest_until_ns; /* no other look before this */
	} births;
};

/* Into the time line. */
void follow_mark(struct follow *f, enum codec_mark kind, pid_t pid, const char *label);
int follow_flush(struct follow *f);

/*
 * Reads all files of the session once: finds new files and new children in
 * them, and writes the figures of followed processes, with `rows` also by site.
 * If `last` is set, nothing is written for a process that was never read while
 * it ran.
 */
int follow_files_look(struct follow *f, bool rows, bool last);

/* The last look at a segment before its end state is written. */
void follow_files_last_look(void *context, const uint8_t uuid[16]);

/* How many slots are taken in the fullest file: f->slots_taken. */
int follow_files_count_slots(struct follow *f);

void follow_files_release(struct follow *f);

/*
 * Reads ages and births of live blocks from the memory of processes, one at a
 * time, each after a minute and then at intervals of up to 10 minutes, and
 * stores them. So a process that is killed has a score. A child does it, and
 * rests 60 times as long as its CPU time.
 */
void follow_births_step(struct follow *f);
void follow_births_release(struct follow *f);

#endif
