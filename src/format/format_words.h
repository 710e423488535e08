/* format_words.h - named numbers of a segment: sizes, states, kinds, counts. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_FORMAT_WORDS_H
#define SEEP_FORMAT_WORDS_H

enum {
	SEG_REFUSED_BYTES = 1 << 20, /* bytes, then no lines are added */
	SEG_VERSION = 1,
	SEG_VERSION_RUNS = 2,  /* from the first node with SEG_NODE_RUN on */
	SEG_VERSION_INFOS = 3, /* from the first row of SEG_EXT_SITE_INFO on */
	SEG_HEADER_BYTES = 8192,
	SEG_EXTENT_STEP = 8192, /* extents are multiples of this */
	SEG_SITE_BITS = 26,
	SEG_INNER_FRAMES = 6,
	SEG_OWNED_ARRAYS = 16,
	SEG_ARRAYS = 32,        /* 0-15: one writer each, 16-31: shared */
	SEG_USER_ARRAY = 32,    /* owner of the rows of pools and handles */
	SEG_MAPPING_ARRAY = 33, /* owner of the rows of mappings */
	/* one writer each, for threads beyond the first sixteen */
	SEG_MORE_ARRAYS = 64,
	SEG_MORE_COUNT = 112,
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

/* seg_header.inert_reason; names in segments/read/losses.c, never renumbered */
enum seg_inert {
	SEG_INERT_NONE = 0,
	SEG_INERT_LIBC = 1,       /* not glibc */
	SEG_INERT_NO_FINDOBJ = 2, /* glibc before 2.35: no _dl_find_object */
	SEG_INERT_OWN_MALLOC = 3, /* the executable brings its own malloc */
	SEG_INERT_SANITIZER = 4,  /* ASan, TSan or MSan is linked in */
	SEG_INERT_MEMORY = 5,     /* no memory for our tables */
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
	SEG_EXT_MODULE = 1,     /* struct seg_module, index = module number */
	SEG_EXT_STRING = 2,     /* bytes; first = string offset */
	SEG_EXT_NODE = 3,       /* struct seg_node, index = node number */
	SEG_EXT_INNER = 4,      /* struct seg_inner, index = inner number */
	SEG_EXT_SITE = 5,       /* struct seg_site, index = site id */
	SEG_EXT_LEDGER = 6,     /* struct seg_row, owner = array, index = site id */
	SEG_EXT_INFO = 7,       /* struct seg_info, index = site id; older segments */
	SEG_EXT_INHERITED = 8,  /* struct seg_inherited, index = parent's id */
	SEG_EXT_LIVE = 9,       /* struct seg_live, index = site id; at exit */
	SEG_EXT_MARK = 10,      /* struct seg_mark, a ring */
	SEG_EXT_SAMPLE = 11,    /* struct seg_sample, owner = array */
	SEG_EXT_POOL = 12,      /* struct seg_pool, index = pool number */
	SEG_EXT_AGES = 13,      /* struct seg_ages, owner = array, by site id */
	SEG_EXT_SITE_INFO = 14, /* struct seg_info with its site */
};

/* seg_header.counts[]; names in segments/read/losses.c, never renumbered */
enum seg_count {
	SEG_UNKNOWN_FREES = 0,   /* frees of unknown blocks: should be 0 */
	SEG_INHERITED_FREES = 1, /* a child freed its parent's blocks */
	SEG_INHERITED_BYTES = 2,
	SEG_UNTRACKED_FREES = 3, /* block older than "on", or than us */
	SEG_MISSED_FREES = 4,    /* noticed when the address came again */
	SEG_MISSED_BYTES = 5,
	SEG_LOST_EVENTS = 6,        /* not recorded at all */
	SEG_LOST_SITES = 7,         /* events counted under "(no room)" */
	SEG_TRUNCATED_STACKS = 8,   /* stacks deeper than the frame limit */
	SEG_OUTER_DROPPED = 9,      /* sites that kept only six frames */
	SEG_CUT_RULE = 10,          /* unwind rules of an unknown kind */
	SEG_CUT_NO_INFO = 11,       /* code without unwind info (JIT, asm) */
	SEG_CUT_BOUNDS = 12,        /* walk stopped: the stack ends here */
	SEG_NESTED_EVENTS = 13,     /* in a signal handler inside a hook; counted */
	SEG_HEALED = 14,            /* stuck busy flags (siglongjmp) repaired */
	SEG_LOST_MODULES = 15,      /* module table full */
	SEG_EARLY_EVENTS = 16,      /* before our constructor ran: not recorded */
	SEG_CTL_IGNORED = 17,       /* unknown value in the command word */
	SEG_CHILDREN_UNTRACED = 18, /* forked children that found no room */
	SEG_WASTED_IDS = 19,        /* lost races for a site id; no data is lost */
	SEG_NO_MEMORY = 20,         /* an mmap or populate of ours failed */
	SEG_LOST_FREES = 21,        /* frees seen but not counted */
	SEG_EVENTS_OFF = 22,        /* allocations while recording was off */
	SEG_SPILL_FULL = 23,        /* tiny or far blocks that have no cell */
	SEG_LOST_INHERITED = 24,    /* inherited frees not counted by id */
	SEG_GENERATIONS = 25,       /* how often a module was found unloaded */
	SEG_PAUSED_EVENTS = 26,     /* allocations of threads that had paused */
	SEG_SNAPSHOTS = 27,         /* snapshots that the process has written */
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
	SEG_NAMESPACES = 41,        /* of dlmopen, LD_AUDIT: heaps not recorded */
	SEG_FORKED_INSIDE = 42,     /* events that a child has counted here too */
	SEG_CUT_SWITCHED = 43,      /* a frame's caller is on another stack */
	SEG_LOST_RANGES = 44,       /* mappings missing in format/seg_own_memory.h */
	SEG_LOST_AGES = 45,         /* deaths whose age had no room: count as young */
	SEG_LOST_SIZES = 46,        /* sizes of 4 GiB and more that found no room */
	SEG_LOST_IGNORED = 47,      /* calls of seep_ignore() without room */
	SEG_DEEPBIND_LOADS = 48,    /* modules that may be bound past us */
	SEG_MALLOC_BEFORE = 49,     /* libraries before us with a malloc */
	SEG_CROWDED_EVENTS = 50,    /* allocations of threads that have no block */
	SEG_CHILDREN_EARLY = 51,    /* children that ended early and had no line */
	SEG_EARLY_STACKS = 52,      /* allocations of a child that ended early */
	SEG_DIR_REPLACED = 53,      /* 1: SEEP_DIR or SEEP_BASE is unfit */
	SEG_LOST_FREERS = 54,       /* frees whose caller found no room */
	SEG_SNAPSHOTS_THINNED = 55, /* removed again to keep the limit */
	SEG_IGNORED_UNKNOWN = 56,   /* seep_ignore() of an unknown block */
	SEG_GUESSED = 57,           /* walks through code without unwind info */
	SEG_PRIVATE_FORKS = 58,     /* under SEEP_PRIVATE, see libseep(7) */
	SEG_OWN_NAMES = 59,         /* modules that call mallocx or its like, unseen */
	SEG_LOG_LOST = 60,          /* events that are not in the event log */
	SEG_LOG_ENDED = 61,         /* 1: the log has no more numbers for chunks */
	SEG_LOG_THREADS = 62,       /* threads without a ring, format/seg_flight.h */
	SEG_LOST_MAPPINGS = 63,     /* mappings that found no room */
	SEG_COUNTS_USED = 64,
	SEG_COUNTS = 64
};

/* seg_header.log_state */
enum seg_log {
	SEG_LOG_NONE = 0,    /* not asked for */
	SEG_LOG_ON = 1,      /* NAME.seg.log, the pool log_pool */
	SEG_LOG_NO_POOL = 2, /* no file could be made, or no pool is left */
	SEG_LOG_LAST = 3,    /* the same with rings, see format/seg_flight.h */
};

/* seg_header.log_lack */
enum seg_log_lack {
	SEG_LOG_LACK_NONE = 0,    /* there is a log, or nobody asked for it */
	SEG_LOG_LACK_SETTING = 1, /* SEEP_LOG has an unknown value */
	SEG_LOG_LACK_SAMPLE = 2,  /* SEEP_SAMPLE is set */
	SEG_LOG_LACK_PRIVATE = 3, /* SEEP_PRIVATE is set */
	SEG_LOG_LACK_SMALL = 4,   /* SEEP_LOG_POOL is below four chunks */
	SEG_LOG_LACK_ROOM = 5,    /* disk, cgroup or limits leave less */
	SEG_LOG_LACK_FILE = 6,    /* a file could not be made (errno) */
	SEG_LOG_LACK_MEMORY = 7,  /* it could not be mapped (errno) */
	SEG_LOG_LACK_CHILD = 8,   /* a forked child found no pool */
	SEG_LOG_LACK_EARLY = 9,   /* a forked child in its first events */
};

enum seg_peak_flags {
	SEG_PEAK_MOVED = 1, /* of a copy: the peak moved meanwhile */
};

/* Which setting asked for the place that was refused. */
enum seg_setting {
	SEG_SETTING_DIR = 0,
	SEG_SETTING_BASE = 1,
};

/* Why SEEP_DIR or SEEP_BASE was not used; place_detail is in brackets. */
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

#endif
