/* collect_parts.h - what the files of collect.h share. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_COLLECT_PARTS_H
#define SEEP_COLLECT_PARTS_H

#include "follow/recorder/collect.h"

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

#endif
