/* format.h - the segment as C; docs/FORMAT.md describes it byte by byte. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_FORMAT_H
#define SEEP_FORMAT_H

#include <stddef.h>
#include <stdint.h>

#include "format/format_family.h"
#include "format/format_figures.h"
#include "format/format_stacks.h"
#include "format/format_words.h"

/*
 * A segment is one file (or one slot of a file) that holds what the collector
 * knows of one process. The collector writes it through a shared mapping and
 * reads nothing back; a reader may look at any instant, also long after the
 * process is dead. Little endian, 8-byte aligned, all offsets from the start
 * of the segment (for a slot: from the start of the slot).
 *
 *   0            struct seg_header      (SEG_HEADER_BYTES)
 *   dir_offset   struct seg_extent[]    (dir_capacity of them)
 *   ...          extents: arrays of rows, wherever the directory says
 *   slots_offset struct seg_slots, then slot_count segments of forked children
 *
 * This header has the first of these; format_words.h the numbers that have a
 * name, format_stacks.h and format_figures.h the rows, format_family.h the room
 * for children and the control block. Whoever includes this one has all.
 *
 * A number written here never changes its meaning. Growth happens through new
 * extent kinds, longer rows (row_bytes) and reserved bytes, which are zero.
 */
#define SEG_MAGIC      UINT64_C(0x0147455350454553) /* "SEEPSEG\1" */
#define SEG_CTL_MAGIC  UINT64_C(0x014c544350454553) /* "SEEPCTL\1" */
#define SEG_SLOT_MAGIC UINT64_C(0x01544c5350454553) /* "SEEPSLT\1" */

/*
 * Processes that could not be traced each leave a line in this file, which lies
 * beside the segments: session or "-", pid, a word for the reason, name of the
 * program.
 */
#define SEG_REFUSED_NAME "refused.ctl"

struct seg_header {
	uint64_t magic; /* written last */
	uint32_t version;
	uint32_t header_bytes;
	uint32_t state;        /* enum seg_state */
	uint32_t inert_reason; /* enum seg_inert */
	uint32_t mode;         /* enum seg_mode, as the collector follows it */
	uint32_t medium;       /* enum seg_medium */

	uint8_t uuid[16];
	uint8_t parent_uuid[16]; /* zero: not forked from a traced process */
	uint8_t boot_id[16];
	char session[SEG_SESSION_BYTES]; /* SEEP_SESSION, NUL padded */

	uint32_t pid;           /* in its own pid namespace; 0: not known */
	uint32_t ppid;          /* of a forked child: its traced parent */
	uint64_t pid_ns;        /* inode of /proc/self/ns/pid, 0: not known */
	uint64_t start_jiffies; /* field 22 of /proc/self/stat, 0: not known */
	uint64_t sequence;      /* rises with each exec of a process */
	uint64_t start_realtime_ns;
	uint64_t start_monotonic_ns; /* tick 0 */
	uint32_t tick_ns;
	uint32_t tick; /* last seen, in tick_ns since start_monotonic_ns */

	uint32_t first_id;     /* lowest site id of this process, at least 1 */
	uint32_t max_frames;   /* depth limit of a stack */
	uint64_t sample_bytes; /* 0: exact */

	uint64_t total_bytes; /* the budget: bytes without slots */
	uint64_t used_bytes;  /* high-water mark of extents */
	uint64_t dir_offset;
	uint32_t dir_capacity;
	uint32_t dir_used;     /* entries begun; kind == 0: not yet valid */
	uint64_t slots_offset; /* of struct seg_slots, 0: none */
	uint64_t slot_bytes;
	uint32_t slot_count;
	uint32_t slot_index; /* of this segment inside its parent's file, or ~0; of
	                   a child with its own file: of its slot_command */

	/* the live map, for process_vm_readv on a living host */
	uint64_t live_root; /* address of the root table in the host */
	uint8_t live_root_bits, live_mid_bits, live_leaf_bits, live_granule_bits;
	uint32_t live_cell_version; /* 1 to 3, see format/cell.h */
	uint64_t spill_root;        /* address of the spill table */
	/* the table of the collector's own memory, see format/seg_own_memory.h */
	uint64_t ours_table; /* its address; 0: an older collector */
	uint32_t ours_entries;
	uint32_t ours_reserved;

	uint64_t peak_bytes;
	uint64_t peak_epoch; /* low 32 bits are compared with seg_row.epoch */
	uint32_t peak_tick;
	uint32_t threads;    /* arrays ever claimed, shared ones included */
	uint64_t peak_flags; /* enum seg_peak_flags */

	uint32_t end_kind; /* enum seg_end */
	uint32_t end_tick;
	uint64_t own_bytes;         /* private memory of the collector, mapped */
	uint32_t live_scan_partial; /* the destructor ran out of time */
	uint32_t command_truncated;

	/* about a snapshot; zero in the process's own segment */
	uint32_t snapshot_reason; /* enum seg_snapshot */
	uint32_t snapshot_number; /* 1, 2, ... in this process; 0: not known */
	uint64_t snapshot_realtime_ns;

	/* about the process: what became of its snapshots */
	uint32_t snapshot_error; /* errno of the last one that failed */
	uint32_t snapshot_limit; /* SEEP_SNAPSHOTS */
	uint32_t signal;         /* SEEP_SIGNAL, 0: none */
	uint32_t signal_state;   /* enum seg_signal */

	char snapshot_label[SEG_SNAPSHOT_LABEL_BYTES]; /* NUL terminated */
	/*
	 * Sums of allocations and frees over all rows of the ledger when the
	 * destructor began to fold the live map (SEG_EXT_LIVE); 0 if it did
	 * not.
	 */
	uint64_t fold_events;
	/*
	 * Deaths at this age or older are counted in SEG_EXT_AGES and
	 * SEG_EXT_INFO; all other frees were of younger blocks. 0: an older
	 * collector, which has no SEG_EXT_AGES and counts from SEG_YOUNG_TICKS
	 * on.
	 */
	uint32_t counted_ticks;
	uint32_t counted_reserved;
	/*
	 * 0; or its forked children have files of their own, NAME-N.seg beside
	 * its NAME.seg, and this is one more than the lowest N that was unused
	 * when it last called fork(). Such a file without a magic belongs to a
	 * child that has had no event. A process that maps it holds a flock()
	 * on it.
	 */
	uint64_t child_files;
	uint64_t own_address;     /* address of this header in the host */
	uint64_t control_address; /* address of the control block */
	/* written by the destructor before it waits, see struct ctl_block */
	uint32_t exit_state;    /* enum seg_exit, written last */
	uint32_t exit_tick;     /* when it began to wait */
	uint32_t exit_threads;  /* threads beside the one that waits */
	uint32_t exit_reserved; /* 0 */
	uint64_t exit_until_ns; /* by CLOCK_MONOTONIC; then it ends */
	uint64_t ignored_root;  /* address of the levels, format/seg_ignored.h */
	/* a setting of the place is unfit: enum seg_place, more about it */
	uint32_t place_refused, place_detail;
	uint64_t moving_root; /* address of the first page, format/seg_resizing.h */
	uint32_t log_last;    /* SEEP_LOG=last: events of a thread; 0: not that */
	uint32_t log_reserved;
	/* why there is no event log: enum seg_log_lack; an errno, or 0 */
	uint32_t log_lack, log_lack_error;
	/*
	 * Of a forked child: from whom its parent was forked, and the first id of
	 * the parent. A parent that ends early may leave no segment.
	 */
	uint8_t grandparent_uuid[16];
	uint32_t parent_first_id;
	uint32_t parent_reserved;
	uint64_t mapped_root; /* format/seg_mapped.h; 0: no mappings by caller */
	/* the event log: see format/seg_log.h */
	uint64_t log_births; /* address of the table of births; 0: none */
	uint32_t log_state;  /* enum seg_log */
	uint32_t log_pool;   /* which pool of the file */
	/* SEG_INERT_PLACE: uid of who has /dev/shm/seep-UID; else 0 */
	uint32_t place_owner;
	uint32_t place_setting; /* enum seg_setting: of place_refused */

	uint64_t counts[SEG_COUNTS];

	/* the unfit path, if place_refused; of a longer one "..." and its end */
	char place_asked[SEG_ASKED_BYTES];

	uint8_t pad[4096 - 1144 - SEG_ASKED_BYTES - SEG_DIR_BYTES];

	/*
	 * The working directory when the collector started. Paths of modules
	 * that do not begin with a slash are relative to it. NUL terminated;
	 * empty: not known.
	 */
	char start_dir[SEG_DIR_BYTES];

	/*
	 * NUL terminated. A path that does not fit is cut at its beginning:
	 * "..." and its end, from a slash on. The module with is_main has the
	 * whole path.
	 */
	char exe[SEG_EXE_BYTES];
	char command[SEG_COMMAND_BYTES]; /* argv, NUL separated, empty at end */
};

struct seg_extent {
	uint32_t kind; /* enum seg_kind, written last */
	uint32_t owner;
	uint32_t row_bytes;
	uint32_t count;
	uint64_t first;
	uint64_t offset;
};

_Static_assert(sizeof(struct seg_header) == SEG_HEADER_BYTES, "header");
_Static_assert(offsetof(struct seg_header, place_owner) == 624, "header");
_Static_assert(
    offsetof(struct seg_header, start_dir) == 3072 && offsetof(struct seg_header, exe) == 4096,
    "texts of the header");
_Static_assert(sizeof(struct seg_extent) == 32, "extent");

#endif
