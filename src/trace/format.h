/* format.h - the segment as C; docs/FORMAT.md describes it byte by byte. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_TRACE_FORMAT_H
#define SEEP_TRACE_FORMAT_H

#include <stddef.h>
#include <stdint.h>

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

enum {
	SEG_REFUSED_BYTES = 1 << 20, /* bytes, then no lines are added */
	SEG_VERSION = 1,
	SEG_HEADER_BYTES = 8192,
	SEG_EXTENT_STEP = 8192, /* extents are multiples of this */
	SEG_SITE_BITS = 26,
	SEG_INNER_FRAMES = 6,
	SEG_OWNED_ARRAYS = 16,
	SEG_ARRAYS = 32,     /* 0-15: one writer each, 16-31: shared */
	SEG_USER_ARRAY = 32, /* owner of the rows of pools and handles */
	SEG_AGE_BUCKETS = 20,
	SEG_AGE_STEPS = 4, /* for blocks below the first of these buckets */
	SEG_SIZE_CLASSES = 32,
	SEG_BIRTH_SLOTS = 32,  /* of seg_live.births[] */
	SEG_YOUNG_TICKS = 16,  /* deaths younger than this are not in ages[] */
	SEG_COUNTED_TICKS = 1, /* header.counted_ticks of this collector */
	SEG_TICK_NS = 100000000,
	SEG_EXE_BYTES = 1024,
	SEG_DIR_BYTES = 1024,
	SEG_ASKED_BYTES = 512,
	SEG_COMMAND_BYTES = 3072,
	SEG_SESSION_BYTES = 40,
	SEG_LABEL_BYTES = 44,
	SEG_SNAPSHOT_LABEL_BYTES = 96,
	SEG_POOL_BYTES = 120,
	SEG_SLOTS = 1024,
	SEG_EARLY = 1024, /* lines of forked children in their first events */
	SEG_CTL_BYTES = 8192,
	SEG_INFO_OLD_BYTES = 128,
	SEG_FREERS = 4,
	SEG_BEAT_SECONDS = 2, /* a reader's beat is valid for this long */
	SEG_SAMPLE_OLD_BYTES = 64,
};

/* seg_header.state */
enum seg_state {
	SEG_BORN = 0,  /* being set up: nothing to read yet */
	SEG_ALIVE = 1, /* recording, or able to */
	SEG_INERT = 2, /* the collector declined to record: see inert_reason */
};

/* seg_header.inert_reason; names in reader/losses.c, never renumbered */
enum seg_inert {
	SEG_INERT_NONE = 0,
	SEG_INERT_LIBC = 1,       /* not glibc */
	SEG_INERT_NO_FINDOBJ = 2, /* glibc before 2.35: no _dl_find_object */
	SEG_INERT_OWN_MALLOC = 3, /* the executable brings its own malloc */
	SEG_INERT_SANITIZER = 4,  /* ASan, TSan or MSan is linked in */
	SEG_INERT_MEMORY = 5,     /* no address space for our tables */
	SEG_INERT_KERNEL = 6,     /* madvise is faked or unfit for fork */
	SEG_INERT_FAULT = 7,      /* internal fault: tracing switched off */
	SEG_INERT_PLACE = 8,      /* no directory: see place_owner */
	/* SEG_ALIVE, but some calls go to the executable's own functions: */
	SEG_INERT_OWN_FREE = 16, /* the executable brings its own free */
	SEG_INERT_OWN_PART = 17, /* or it has another function of the family */
};

/* seg_header.mode and ctl_block.command */
enum seg_mode {
	SEG_MODE_NONE = 0,
	SEG_MODE_ON = 1,      /* exact */
	SEG_MODE_OFF = 2,     /* records frees, but no allocations */
	SEG_MODE_DORMANT = 3, /* SEEP_MODE=dormant, and not on yet */
	SEG_MODE_SAMPLED = 4,
};

enum seg_medium { SEG_MEDIUM_TMPFS = 1, SEG_MEDIUM_DISK = 2 };

/* seg_header.end_kind */
enum seg_end {
	SEG_END_NONE = 0,   /* running, killed, or exec: the reader decides */
	SEG_END_EXITED = 1, /* our destructor ran */
};

/* seg_header.exit_state, with SEEP_LEAKS=1 */
enum seg_exit {
	SEG_EXIT_NONE = 0,     /* it runs, or has ended without waiting */
	SEG_EXIT_WAITS = 1,    /* its destructor waits to be read */
	SEG_EXIT_WAS_READ = 2, /* it went on because the reader said so */
	SEG_EXIT_GAVE_UP = 3,  /* went on: time was up, a signal, no beat */
};

/* seg_header.exit_threads: libc does not say */
#define SEG_EXIT_THREADS_UNKNOWN UINT32_MAX

/* seg_header.snapshot_reason: why a copy was made; 0: this is not a copy */
enum seg_snapshot {
	SEG_SNAPSHOT_NONE = 0,
	SEG_SNAPSHOT_COMMAND = 1, /* seep snapshot PID */
	SEG_SNAPSHOT_PROGRAM = 2, /* seep_snapshot() */
	SEG_SNAPSHOT_SIGNAL = 3,  /* SEEP_SIGNAL */
	SEG_SNAPSHOT_PERIOD = 4,  /* SEEP_EVERY=TIME */
	SEG_SNAPSHOT_GROWTH = 5,  /* SEEP_EVERY=BYTES */
};

/* seg_header.signal_state: what became of SEEP_SIGNAL */
enum seg_signal {
	SEG_SIGNAL_NONE = 0,      /* not asked for */
	SEG_SIGNAL_INSTALLED = 1, /* the host may replace it later */
	SEG_SIGNAL_UNFIT = 2,     /* no signal, or one we may not use */
	SEG_SIGNAL_TAKEN = 3,     /* it was ignored or had a handler */
	SEG_SIGNAL_FAILED = 4,    /* no sigaction, or it failed */
};

/* kinds of extents; `first` and `count` count rows of that kind */
enum seg_kind {
	SEG_EXT_NONE = 0,
	SEG_EXT_MODULE = 1, /* struct seg_module, index = module number */
	SEG_EXT_STRING = 2, /* bytes; first = string offset */
	SEG_EXT_NODE = 3,   /* struct seg_node, index = node number */
	SEG_EXT_INNER = 4,  /* struct seg_inner, index = inner number */
	SEG_EXT_SITE = 5,   /* struct seg_site, index = site id */
	SEG_EXT_LEDGER = 6, /* struct seg_row, owner = array, index = site id */
	SEG_EXT_INFO = 7,   /* struct seg_info, index = site id */
	SEG_EXT_INHERITED = 8, /* struct seg_inherited, index = parent's id */
	SEG_EXT_LIVE = 9,      /* struct seg_live, index = site id; at exit */
	SEG_EXT_MARK = 10,     /* struct seg_mark, a ring */
	SEG_EXT_SAMPLE = 11,   /* struct seg_sample, owner = array */
	SEG_EXT_POOL = 12,     /* struct seg_pool, index = pool number */
	SEG_EXT_AGES = 13,     /* struct seg_ages, owner = array, by site id */
};

/* seg_header.counts[]; names in reader/losses.c, never renumbered */
enum seg_count {
	SEG_UNKNOWN_FREES = 0,   /* frees of unknown blocks: should be 0 */
	SEG_INHERITED_FREES = 1, /* a child freed its parent's blocks */
	SEG_INHERITED_BYTES = 2,
	SEG_UNTRACKED_FREES = 3, /* block older than "on", or than us */
	SEG_MISSED_FREES = 4,    /* noticed when the address came again */
	SEG_MISSED_BYTES = 5,
	SEG_LOST_EVENTS = 6,      /* not recorded at all */
	SEG_LOST_SITES = 7,       /* events counted under "(no room)" */
	SEG_TRUNCATED_STACKS = 8, /* stacks deeper than the frame limit */
	SEG_OUTER_DROPPED = 9,    /* sites that kept only six frames */
	SEG_CUT_RULE = 10,        /* unwind rules of an unknown kind */
	SEG_CUT_NO_INFO = 11,     /* code without unwind info (JIT, asm) */
	SEG_CUT_BOUNDS = 12,      /* walk stopped: the stack ends here */
	SEG_NESTED_EVENTS = 13, /* in a signal handler inside a hook; counted */
	SEG_HEALED = 14,        /* stuck busy flags (siglongjmp) repaired */
	SEG_LOST_MODULES = 15,  /* module table full */
	SEG_EARLY_EVENTS = 16,  /* before our constructor ran: not recorded */
	SEG_CTL_IGNORED = 17,   /* unknown value in the command word */
	SEG_CHILDREN_UNTRACED = 18, /* forked children that found no room */
	SEG_WASTED_IDS = 19,     /* lost races for a site id; no data is lost */
	SEG_NO_MEMORY = 20,      /* an mmap or populate of ours failed */
	SEG_LOST_FREES = 21,     /* frees seen but not counted */
	SEG_EVENTS_OFF = 22,     /* allocations while recording was off */
	SEG_SPILL_FULL = 23,     /* tiny or far blocks that have no cell */
	SEG_LOST_INHERITED = 24, /* inherited frees not counted by id */
	SEG_GENERATIONS = 25,    /* how often a module was found unloaded */
	SEG_PAUSED_EVENTS = 26,  /* allocations of threads that had paused */
	SEG_SNAPSHOTS = 27,      /* snapshots that the process has written */
	SEG_SNAPSHOTS_FAILED = 28,  /* see header.snapshot_error */
	SEG_SNAPSHOTS_REFUSED = 29, /* beyond SEEP_SNAPSHOTS=0 or 1 */
	SEG_SIGNAL_REFUSED = 30,    /* see header.signal_state */
	SEG_SETTINGS_IGNORED = 31,  /* SEEP_* values not understood */
	SEG_MARKS_LOST = 32,        /* overwritten in the ring, or no room */
	SEG_USER_LOST = 33,         /* events of pools without room */
	SEG_USER_UNKNOWN = 34,      /* seep_free() of an unknown object */
	SEG_USER_UNTRACKED = 35,    /* or of one from while paused or off */
	SEG_USER_MISSED = 36,       /* seep_alloc() of a live object */
	SEG_USER_INHERITED = 37,    /* a child freed its parent's objects */
	SEG_USER_OFF = 38,          /* events of pools while paused or off */
	SEG_USER_POOLS = 39,        /* events under "(other pools)" */
	SEG_NO_CHILD_ROOM = 40,     /* 1: no slots, so no children recorded */
	SEG_NAMESPACES = 41,    /* of dlmopen, LD_AUDIT: heaps not recorded */
	SEG_FORKED_INSIDE = 42, /* events that a child has counted here too */
	SEG_CUT_SWITCHED = 43,  /* a frame's caller is on another stack */
	SEG_LOST_RANGES = 44,   /* mappings missing in trace/ours.h */
	SEG_LOST_AGES = 45,  /* deaths whose age had no room: count as young */
	SEG_LOST_SIZES = 46, /* sizes of 4 GiB and more that found no room */
	SEG_LOST_IGNORED = 47,   /* calls of seep_ignore() without room */
	SEG_DEEPBIND_LOADS = 48, /* modules that may be bound past us */
	SEG_MALLOC_BEFORE = 49,  /* libraries before us with a malloc */
	SEG_CROWDED_EVENTS = 50, /* allocations of threads that have no block */
	SEG_CHILDREN_EARLY = 51, /* children that ended early and had no line */
	SEG_EARLY_STACKS = 52,   /* allocations of a child that ended early */
	SEG_DIR_REPLACED = 53,   /* 1: SEEP_DIR is unfit and not used */
	SEG_LOST_FREERS = 54,    /* frees whose caller found no room */
	SEG_SNAPSHOTS_THINNED = 55, /* removed again to keep the limit */
	SEG_IGNORED_UNKNOWN = 56,   /* seep_ignore() of an unknown block */
	SEG_PRIVATE_FORKS = 58,     /* under SEEP_PRIVATE, see libseep(7) */
	SEG_OWN_NAMES = 59, /* modules that call mallocx or its like, unseen */
	SEG_COUNTS_USED = 60,
	SEG_COUNTS = 64
};

enum seg_peak_flags {
	SEG_PEAK_MOVED = 1, /* of a copy: the peak moved meanwhile */
};

/* Why SEEP_DIR was not used; place_detail is in brackets. */
enum seg_place {
	SEG_PLACE_FINE = 0,         /* it was, or there was none */
	SEG_PLACE_MISSING = 1,      /* (errno) */
	SEG_PLACE_OWNER = 2,        /* it belongs to another user (uid) */
	SEG_PLACE_SHARED = 3,       /* others may write there (mode) */
	SEG_PLACE_NO_DIRECTORY = 4, /* a link, or a file (mode) */
	SEG_PLACE_CLOSED = 5,       /* it cannot be opened (errno) */
	SEG_PLACE_FILE_SYSTEM = 6,  /* neither tmpfs nor a local disk (type) */
	SEG_PLACE_FILES = 7,        /* there are too many files */
	SEG_PLACE_ROOM = 8,         /* there is too little room */
	SEG_PLACE_NO_FILE = 9,      /* no file could be made or mapped */
};

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
	uint32_t
	    slot_index; /* of this segment inside its parent's file, or ~0; of
	                   a child with its own file: of its slot_command */

	/* the live map, for process_vm_readv on a living host */
	uint64_t live_root; /* address of the root table in the host */
	uint8_t live_root_bits, live_mid_bits, live_leaf_bits,
	    live_granule_bits;
	uint32_t live_cell_version; /* 1 or 2, see trace/cell.h */
	uint64_t spill_root;        /* address of the spill table */
	/* the table of the collector's own memory, see trace/ours.h */
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
	uint64_t own_bytes; /* private memory of the collector, mapped */
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
	uint64_t ignored_root;  /* address of the levels, trace/ignored.h */
	/* SEEP_DIR could not be used: enum seg_place, and more about it */
	uint32_t place_refused, place_detail;
	uint64_t reserved[9];
	/* SEG_INERT_PLACE: uid of who has /dev/shm/seep-UID; else 0 */
	uint32_t place_owner;
	uint32_t place_reserved;

	uint64_t counts[SEG_COUNTS];

	/* SEEP_DIR, if place_refused; a longer path is "..." and its end */
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

/*
 * A frame: bits 0..46 the address, bit 47 set when it is the interrupted
 * instruction itself (below a signal frame) and not a return address,
 * bits 48..63 the module number, 0 when the address is in no known module.
 * Offset in the module's file image (ELF vaddr) = address - seg_module.base.
 */
#define SEG_FRAME_PC(f)     ((f)&UINT64_C(0x7fffffffffff))
#define SEG_FRAME_EXACT     (UINT64_C(1) << 47)
#define SEG_FRAME_MODULE(f) ((uint32_t)((f) >> 48))

struct seg_module {
	uint64_t base;  /* load bias */
	uint64_t start; /* mapped range */
	uint64_t end;
	uint64_t path;       /* offset into the strings */
	uint32_t path_bytes; /* without the NUL; 0: name not known */
	uint32_t generation; /* value of the unload counter when first seen */
	uint32_t first_tick;
	uint32_t gone_tick; /* 0: still loaded as far as the collector knows */
	uint8_t build_id[32];
	uint8_t build_id_bytes;
	uint8_t is_main;
	uint8_t pad[6];
	uint64_t reserved[5];
};

/* The outer frames of stacks form a trie; node 0 is the root (no frame). */
struct seg_node {
	uint64_t frame;  /* or 0 with a flag below */
	uint32_t parent; /* node nearer to the thread's start */
	uint32_t flags;  /* enum seg_node_flags */
};
enum seg_node_flags {
	SEG_NODE_TRUNCATED = 1,     /* "(stack deeper than the limit)" */
	SEG_NODE_OUTER_DROPPED = 2, /* shown as "(outer frames dropped)" */
	SEG_NODE_NO_ROOM = 4,       /* shown as "(no room)" */
	SEG_NODE_CUT = 8,    /* no unwind information beyond this frame */
	SEG_NODE_EARLY = 16, /* child that ended early: its stacks are lost */
};

/* The innermost frames, innermost first; inner 0 is empty. */
struct seg_inner {
	uint64_t frames[SEG_INNER_FRAMES];
	uint32_t count;
	uint32_t flags; /* enum seg_node_flags */
	/*
	 * 1: filled. Copies leave out rows of zeros, and an inner may be all
	 * zero
	 */
	uint64_t is_filled;
};

/* A site = inner frames, then the node and its parents up to the root. */
struct seg_site {
	uint32_t node;
	uint32_t inner; /* 0: id given out but never filled */
	uint32_t first_tick;
	uint8_t kind;  /* enum seg_site_kind */
	uint8_t api;   /* enum seg_api */
	uint16_t pool; /* number of a seg_pool; 0 for sites of the heap */
};
enum seg_site_kind { SEG_SITE_HEAP = 1, SEG_SITE_USER = 2 };
enum seg_api {
	SEG_API_NONE = 0,
	SEG_API_MALLOC = 1,
	SEG_API_CALLOC = 2,
	SEG_API_REALLOC = 3,
	SEG_API_REALLOCARRAY = 4,
	SEG_API_MEMALIGN = 5,
	SEG_API_ALIGNED_ALLOC = 6,
	SEG_API_POSIX_MEMALIGN = 7,
	SEG_API_VALLOC = 8,
	SEG_API_PVALLOC = 9,
	SEG_API_NEW = 10,
	SEG_API_NEW_ARRAY = 11,
	SEG_API_MALLOCX = 12, /* these three are jemalloc's */
	SEG_API_RALLOCX = 13,
	SEG_API_XALLOCX = 14,
};

/*
 * One line of one ledger array. A block may be freed by another thread than the
 * one that allocated it, so a single row may have more frees than allocations;
 * only the sum over all arrays is right for a site. Value at the peak = (epoch
 * == low 32 of header.peak_epoch) ? snap : allocated - freed.
 */
struct seg_row {
	uint64_t allocations;
	uint64_t allocated_bytes;
	uint64_t frees;
	uint64_t freed_bytes;
	int64_t snap_bytes;
	int64_t snap_blocks;
	uint32_t epoch;
	uint32_t last_tick; /* of the last allocation here */
	uint32_t size_min;  /* both stop at 2^32 - 1 */
	uint32_t size_span; /* size_max - size_min; valid if allocations > 0 */
};

/* Rarely needed numbers: one record per site, relaxed atomics. */
struct seg_info {
	/*
	 * Deaths at an age of 2^(4+i) .. 2^(5+i) ticks; the last class has no
	 * upper bound. These are the low 32 bits; ages_high has the others: see
	 * seg_deaths().
	 */
	uint32_t ages[SEG_AGE_BUCKETS];
	uint64_t size_max; /* the true maximum if it does not fit 32 bits */
	/*
	 * Who frees these blocks: return addresses of free(), taken from the
	 * frees that look at the clock (about one in 60). These are the four
	 * most frequent ones by the Space-Saving algorithm: a new address
	 * replaces the rarest one and takes over its count, so counts are too
	 * high rather than too low. All are halved before one overflows. A
	 * frame of 0 is an unused entry.
	 */
	uint64_t freed_by[SEG_FREERS];
	uint16_t freed_by_count[SEG_FREERS];
	/* rows of older segments end here: SEG_INFO_OLD_BYTES */
	uint32_t ages_high[SEG_AGE_BUCKETS];
	/* the smallest block of 2^32 - 1 bytes and more; 0: there is none */
	uint64_t size_min;
	uint64_t reserved_more[5];
};

/* Deaths in one class of ages. */
static inline uint64_t
seg_deaths(const struct seg_info *info, uint32_t i)
{
	return (uint64_t)info->ages_high[i] << 32 | info->ages[i];
}

/*
 * Deaths at an age of 2^i .. 2^(i+1) - 1 ticks, the last class below
 * SEG_YOUNG_TICKS. As with seg_row, only the sum over all arrays is right for a
 * site.
 */
struct seg_ages {
	uint64_t deaths[SEG_AGE_STEPS];
};

struct seg_inherited {
	uint64_t frees;
	uint64_t freed_bytes;
};

/*
 * Blocks that were live at exit: the destructor folds them from the live map.
 * Fields of 32 bits stop at 2^32 - 1; their sum is then below `blocks`.
 */
struct seg_live {
	uint32_t ages[SEG_AGE_BUCKETS]; /* as in seg_info, of live blocks */
	uint32_t young;                 /* younger than SEG_YOUNG_TICKS */
	uint32_t pad;
	uint64_t blocks;
	uint64_t bytes;
	uint64_t size_min;
	uint64_t size_max;
	uint64_t reserved;
	/* by size, see seg_size_class(); missing in rows of older segments */
	uint32_t sizes[SEG_SIZE_CLASSES];
	/* by birth, see seg_birth_slot(); missing in rows of older segments */
	uint32_t births[SEG_BIRTH_SLOTS];
};

/* The slots are equal parts of the time from tick 0 to end_tick inclusive. */
static inline uint32_t
seg_birth_slot(uint32_t birth, uint32_t end_tick)
{
	if (birth >= end_tick)
		return SEG_BIRTH_SLOTS - 1;
	return (uint32_t)((uint64_t)birth * SEG_BIRTH_SLOTS /
	    ((uint64_t)end_tick + 1));
}

/*
 * Class i has 2^i .. 2^(i+1) - 1 bytes; class 0 also has size 0, and the last
 * class has no upper bound.
 */
static inline uint32_t
seg_size_class(uint64_t size)
{
	uint32_t bits = size ? 63 - (uint32_t)__builtin_clzll(size) : 0;

	return bits < SEG_SIZE_CLASSES ? bits : SEG_SIZE_CLASSES - 1;
}

/* Which of ages[] an age of at least SEG_YOUNG_TICKS belongs to. */
static inline uint32_t
seg_age_bucket(uint32_t age)
{
	uint32_t i = 27 - (uint32_t)__builtin_clz(age | SEG_YOUNG_TICKS);

	_Static_assert(SEG_YOUNG_TICKS == 1 << 4, "bucket 0 begins there");
	return i < SEG_AGE_BUCKETS ? i : SEG_AGE_BUCKETS - 1;
}

/* Which of seg_ages.deaths[] an age of 1 .. SEG_YOUNG_TICKS - 1 belongs to. */
static inline uint32_t
seg_age_step(uint32_t age)
{
	_Static_assert(1 << SEG_AGE_STEPS == SEG_YOUNG_TICKS, "no gap");
	return (31 - (uint32_t)__builtin_clz(age | 1)) & (SEG_AGE_STEPS - 1);
}

struct seg_mark {
	uint64_t sequence; /* 1, 2, ...: written last; 0: being written */
	uint32_t tick;
	uint32_t kind;     /* enum seg_mark_kind */
	uint32_t after_ns; /* ns since the tick began */
	char label[SEG_LABEL_BYTES];
};
enum seg_mark_kind {
	SEG_MARK_SNAPSHOT = 1, /* last of all: this file is a snapshot */
	SEG_MARK_PROGRAM = 2,  /* seep_mark() */
	SEG_MARK_TAKEN = 3,    /* the process begins to write a snapshot */
	SEG_MARK_DEEPBIND = 4, /* it loads module `label` past the hooks */
};

/* The name of a pool of seep_alloc(); two rows may have the same one. */
struct seg_pool {
	uint32_t name_bytes; /* without the NUL, written last */
	uint32_t first_tick;
	char name[SEG_POOL_BYTES]; /* cut if longer */
};

/*
 * Sampled mode: raw samples and weighted figures, fixed point with 16 bits of
 * fraction. The rows of the ledger then hold the weighted figures, rounded
 * down. Figures and variances have 128 bits: the low 64 first. Rows of older
 * segments have only those (SEG_SAMPLE_OLD_BYTES).
 */
struct seg_sample {
	uint64_t samples;
	uint64_t sampled_frees;
	uint64_t weighted_count;
	uint64_t weighted_bytes;
	uint64_t weighted_frees;
	uint64_t weighted_freed_bytes;
	/* sums of s^2 w (w - 1): the variance of the estimated bytes */
	uint64_t variance_allocated;
	uint64_t variance_freed;

	uint64_t weighted_count_high;
	uint64_t weighted_bytes_high;
	uint64_t weighted_frees_high;
	uint64_t weighted_freed_bytes_high;
	uint64_t variance_allocated_high;
	uint64_t variance_freed_high;
	uint64_t reserved[2];
};

typedef unsigned __int128 seg_wide;

static inline seg_wide
seg_wide_of(uint64_t low, uint64_t high)
{
	return (seg_wide)high << 64 | low;
}

/*
 * The line of a forked child in its first events, when its stacks are still in
 * its private memory. A child that gets a slot takes back what it has counted
 * here. So the lines in use belong to children that are still in their first
 * events, or have ended there: by _exit, by a signal, by exec, or without a
 * free slot.
 */
struct seg_early {
	uint32_t state; /* enum seg_early_state; claimed by a CAS from 0 */
	uint32_t pid;   /* 0: not known */
	uint64_t start_monotonic_ns;
	uint64_t allocations;
	uint64_t allocated_bytes;
	uint64_t frees; /* of its own blocks */
	uint64_t freed_bytes;
	uint64_t peak_bytes;
	uint32_t ppid;
	uint32_t sequence; /* of the child's header: forks so far */
};
enum seg_early_state {
	SEG_EARLY_FREE = 0, /* also once the child has a slot */
	SEG_EARLY_COUNTING = 1,
	SEG_EARLY_EXITED = 2, /* its destructor ran */
};

/*
 * Room for forked children, behind the parent's own segment: this struct, at
 * early_offset SEG_EARLY lines of struct seg_early, at first_offset large_count
 * slots of slot_bytes, then the others of small_bytes. Pages that nobody
 * touched cost nothing.
 */
struct seg_slots {
	uint64_t magic; /* SEG_SLOT_MAGIC */
	uint32_t count; /* of both sizes, at most SEG_SLOTS */
	uint32_t large_count;
	uint64_t slot_bytes;
	uint64_t small_bytes;
	uint64_t first_offset; /* of slot 0, from the start of this struct */
	uint64_t untraced;     /* children that found all slots taken */
	uint32_t early_offset; /* from the start of this struct; 0: none */
	uint32_t early_count;  /* at most SEG_EARLY */
	uint64_t unlisted; /* children that found no line, and no slot yet */
	uint8_t taken[SEG_SLOTS]; /* 0 free, 1 claimed; a reader that has merged
	                             a dead child's slot may set it back to 0 */
};

/*
 * The control block, a file of its own beside the segment (NAME.ctl). Anyone
 * with the right to write it may command the host, so the host takes an enum
 * and nothing else from it.
 */
struct ctl_block {
	uint64_t magic; /* SEG_CTL_MAGIC */
	uint32_t version;
	uint32_t command; /* enum seg_mode: ON or OFF; 0: nothing asked */
	/*
	 * CLOCK_MONOTONIC in ns when a reader last said that it is there. A
	 * process that ends with SEEP_LEAKS=1 waits for SEG_BEAT_SECONDS after
	 * it, until its own command word is seg_exit_answer(); the reader
	 * writes that, and calls FUTEX_WAKE on the word.
	 */
	uint64_t heartbeat;
	uint32_t reserved_twin[4]; /* were for a copy of the process: 0 */
	uint64_t reserved[59];
	uint8_t pad[4096 - 512];
	/* the command word of a child that lives in slot i of this file */
	uint32_t slot_command[SEG_SLOTS];
};

/*
 * The command that ends the wait of the process with this uuid. No answer to
 * an earlier process with the same command word is the same.
 */
#define SEG_CTL_EXIT UINT32_C(0x80000000)

static inline uint32_t
seg_exit_answer(const uint8_t uuid[16])
{
	return SEG_CTL_EXIT | (uint32_t)(uuid[0] & 0x7f) << 24 |
	    (uint32_t)uuid[1] << 16 | (uint32_t)uuid[2] << 8 | uuid[3];
}

_Static_assert(sizeof(struct seg_header) == SEG_HEADER_BYTES, "header");
_Static_assert(offsetof(struct seg_header, place_owner) == 624, "header");
_Static_assert(offsetof(struct seg_header, start_dir) == 3072 &&
        offsetof(struct seg_header, exe) == 4096,
    "texts of the header");
_Static_assert(sizeof(struct seg_extent) == 32, "extent");
_Static_assert(sizeof(struct seg_module) == 128, "module");
_Static_assert(sizeof(struct seg_node) == 16, "node");
_Static_assert(sizeof(struct seg_inner) == 64, "inner");
_Static_assert(sizeof(struct seg_site) == 16, "site");
_Static_assert(sizeof(struct seg_row) == 64, "row");
_Static_assert(sizeof(struct seg_info) == 256, "info");
_Static_assert(offsetof(struct seg_info, ages_high) == SEG_INFO_OLD_BYTES,
    "what older readers know of an info");
_Static_assert(sizeof(struct seg_ages) == 32, "ages");
_Static_assert(sizeof(struct seg_live) == 384, "live");
_Static_assert(offsetof(struct seg_live, births) == 256,
    "what older readers know of a living one");
_Static_assert(sizeof(struct seg_mark) == 64, "mark");
_Static_assert(sizeof(struct seg_sample) == 128, "sample");
_Static_assert(
    offsetof(struct seg_sample, weighted_count_high) == SEG_SAMPLE_OLD_BYTES,
    "what older readers know of a sample");
_Static_assert(sizeof(struct seg_pool) == 128, "pool");
_Static_assert(sizeof(struct ctl_block) == SEG_CTL_BYTES, "ctl");
_Static_assert(sizeof(struct seg_slots) <= 4096, "slots");
_Static_assert(sizeof(struct seg_early) == 64, "early");

#endif
