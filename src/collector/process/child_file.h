/* child_file.h - a file of its own for a forked child whose relatives may become
 * other users. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_CHILD_FILE_H
#define SEEP_CHILD_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "collector/heap/ledger.h"
#include "collector/segment/segment.h"
#include "collector/segment/slots.h"

/*
 * A process that holds a shared mapping may take the pages of its file away,
 * and on a full medium the next access of another process there raises SIGBUS.
 * So children of a process that can change its user share no file. Each has a
 * file of its own, which the handler of fork() makes before the code of the
 * child goes on. It has the child's segment and room for the child's own
 * children, as the file of any process has.
 *
 * No descriptor is kept. The file is made while the child has one thread, so no
 * other thread can pass the descriptor to a child of its own.
 */
struct child_file {
	struct segment_memory memory; /* .head is NULL: there is none */
	uint64_t bytes;               /* of the segment */
	uint32_t word;                /* of the control block: slot_command[] */
	bool has_early;               /* see child_file_write_early() */
};

/* Of this process. */
extern SEEP_HIDDEN struct child_file child_file;

/* Can this process, or a child of it, become another user? Asks the kernel. */
bool child_file_is_needed(void);

/*
 * In the parent before a fork: advances the number from which the child
 * searches for a free name, and stores it for header.child_files.
 */
void child_file_before_fork(uint32_t own_pid, uint64_t *ret_first);

/*
 * In the child, whose parent has this pid: makes and maps its file, or takes
 * the file of an earlier child that ended without an event. The first pages
 * exist, for the early_page. False: no file; nothing is left behind.
 */
bool child_file_make(
    struct child_file *c, uint32_t parent_pid, uint64_t segment_bytes, const struct slots *room);

/*
 * In a child of the child: unmaps the file. With `keep` plain memory takes its
 * place, as for segment_leave().
 */
bool child_file_leave(struct child_file *c, bool keep);

/*
 * The early_page is what the file says about a child in its first events, whose
 * stacks are still in private memory: a segment with one site, "(child ended
 * early)".
 */
void child_file_write_early(const struct child_file *c, const struct seg_header *h);
void child_file_update_early(
    const struct child_file *c, const struct ledger_sums *sums, uint64_t peak_bytes);
void child_file_end_early(const struct child_file *c); /* the child has come to its exit */
/*
 * There is no room for more than the early_page. Says that all later events are lost.
 */
void child_file_stop_early(const struct child_file *c);

#endif
