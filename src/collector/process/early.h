/* early.h - the first events of a forked child, and its own file. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_EARLY_H
#define SEEP_EARLY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "collector/heap/ledger.h"
#include "collector/segment/segment.h"
#include "collector/segment/slots.h"
#include "format/format.h"

/*
 * Many forked children do little or call exec at once, so a child's segment is
 * plain memory at first. After each event the sums are written
 * where they survive the child, into a line of its ancestor's file or onto the
 * early_page in a file of its own (early.h). After 64 events or 64 KiB the child
 * moves to a slot or into its own file.
 */

/* How large the segment is that a child moves to. */
uint64_t early_layout(void);

/* Maps plain memory and makes it the segment. False: there is none. */
bool early_map_memory(void);

/* After early_map_memory(). With SEEP_PRIVATE the child stays where it is. */
void early_begin(void);

/* Claims a line in the ancestor's file; its absence is counted. */
void early_claim_line(const struct seg_header *h);

/* Writes the early_page in the child's own file. */
void early_write_page(struct seg_header *h);

/* By an event: writes the sums down. */
void early_note_sums(void);

/* By an event, now and then: writes the sums down, and moves if it is time. */
void early_poll(void);

/* Before a second thread gets its block, because a child moves first. */
void early_new_thread(void);

/* At exit: moves if blocks or mappings are left, whose stacks the sums do not show. */
void early_end(void);

/* The child cannot be recorded any more. */
void early_close(void);

/* ---- child_file: a file of its own for a forked child whose relatives may become other
 * users ---- */

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
