/* gather_parts.h - what the files of gather.h share. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_GATHER_PARTS_H
#define SEEP_GATHER_PARTS_H

#include "base/std.h"
#include "segments/find/free_slots.h"
#include "kit/data/dict.h"
#include "segments/find/gather.h"

struct gather_directory {
	char path[PATH_MAX];
	int fd;
	bool is_run; /* below /run/seep */
};

/* A file NAME.seg that was seen in the last round. */
struct gather_file {
	size_t directory;
	char *name;
	uint64_t inode;
	struct segfile *file; /* NULL: it was removed in this round */
	struct seg_header own;
	bool may_remove;
	struct free_slots slots;
	bool was_locked, is_locked;
	size_t taken; /* processes in it, its own included, not given back */
};

struct gather_keys {
	struct live_key *list;
	size_t count, room;
	struct dict dict;
};

struct gather_candidate {
	size_t file;
	struct gather_row row;
	bool is_done; /* it is safe already */
	bool is_given;
	bool is_dead;
	bool is_written;
};

struct gather {
	struct gather_plan plan;
	struct gather_directory *directories;
	size_t directory_count, directory_room;
	struct gather_file *files;
	size_t file_count, file_room;
	struct dict file_index;
	struct gather_candidate *candidates;
	size_t candidate_count, candidate_room;
	struct gather_keys done;    /* safe, and still in a directory */
	struct gather_keys refused; /* never to be read, and never removed */
	/* safe, and others are to read them; those that they have read */
	struct gather_keys offered, read;
	struct gather_counts counts;
};

bool gather_has_key(const struct gather_keys *k, const struct live_key *key);
int gather_add_key(struct gather_keys *k, const struct live_key *key);
void gather_release_keys(struct gather_keys *k);

/* Opens the directories and lists their files; known ones stay open. */
int gather_walk(struct gather *g);
void gather_walk_release(struct gather *g);

#endif
