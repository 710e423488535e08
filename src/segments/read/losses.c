/* losses.c - names of the collector's counters and inert reasons. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "segments/read/losses.h"

#include <linux/magic.h>

static const struct losses_name names[] = {
    {SEG_UNKNOWN_FREES, LOSSES_TOTAL, "unknown_frees", "frees of blocks never seen"},
    {SEG_INHERITED_FREES, LOSSES_TOTAL, "inherited_frees",
        "frees of blocks the parent had allocated"},
    {SEG_INHERITED_BYTES, LOSSES_TOTAL, "inherited_freed_bytes",
        "bytes freed that the parent had allocated"},
    {SEG_UNTRACKED_FREES, LOSSES_TOTAL, "untracked_frees",
        "frees of blocks from before the recording, or from a pause"},
    {SEG_MISSED_FREES, LOSSES_TOTAL, "missed_frees", "frees found out late"},
    {SEG_MISSED_BYTES, LOSSES_TOTAL, "missed_freed_bytes", "bytes of frees found out late"},
    {SEG_LOST_EVENTS, LOSSES_LOSS, "events", "events not recorded"},
    {SEG_LOST_SITES, LOSSES_LOSS, "sites", "events counted under \"(no room)\""},
    {SEG_TRUNCATED_STACKS, LOSSES_LOSS, "truncated_stacks", "stacks deeper than the limit"},
    {SEG_OUTER_DROPPED, LOSSES_LOSS, "outer_dropped", "sites whose outer frames were dropped"},
    {SEG_CUT_RULE, LOSSES_LOSS, "cut_rule", "stacks cut at an unwind rule not known"},
    {SEG_CUT_NO_INFO, LOSSES_LOSS, "cut_no_info", "stacks cut at code without unwind information"},
    {SEG_CUT_BOUNDS, LOSSES_LOSS, "cut_bounds", "stacks cut at the end of readable memory"},
    {SEG_NESTED_EVENTS, LOSSES_FACT, "nested_events", "events in signal handlers inside a hook"},
    {SEG_HEALED, LOSSES_FACT, "healed", "threads that had jumped out of us"},
    {SEG_LOST_MODULES, LOSSES_LOSS, "modules",
        "lookups of modules without a number, or room for their name"},
    {SEG_EARLY_EVENTS, LOSSES_LOSS, "early_events", "events before the collector started"},
    {SEG_CTL_IGNORED, LOSSES_LOSS, "ctl_ignored", "commands not understood"},
    {SEG_CHILDREN_UNTRACED, LOSSES_LOSS, "children_untraced",
        "forked children without room for a record"},
    {SEG_WASTED_IDS, LOSSES_FACT, "wasted_ids", "site ids left unused"},
    {SEG_NO_MEMORY, LOSSES_LOSS, "no_memory", "times the collector found no memory"},
    {SEG_LOST_FREES, LOSSES_LOSS, "lost_frees", "frees not counted"},
    {SEG_EVENTS_OFF, LOSSES_FACT, "events_off", "allocations that passed while recording was off"},
    {SEG_SPILL_FULL, LOSSES_LOSS, "spill_full", "blocks without a place in the spill table"},
    {SEG_LOST_INHERITED, LOSSES_LOSS, "inherited_unbooked", "inherited frees not counted by site"},
    {SEG_GENERATIONS, LOSSES_FACT, "generations", "times a module was unloaded"},
    {SEG_PAUSED_EVENTS, LOSSES_FACT, "paused_events",
        "allocations of threads that had called seep_pause"},
    {SEG_SNAPSHOTS, LOSSES_FACT, "snapshots", "snapshots written by the process itself"},
    {SEG_SNAPSHOTS_FAILED, LOSSES_LOSS, "snapshots_failed", "snapshots that could not be written"},
    {SEG_SNAPSHOTS_REFUSED, LOSSES_LOSS, "snapshots_refused",
        "snapshots beyond the limit (SEEP_SNAPSHOTS)"},
    {SEG_SIGNAL_REFUSED, LOSSES_LOSS, "signal_refused",
        "signals that could not be taken for snapshots (SEEP_SIGNAL)"},
    {SEG_SETTINGS_IGNORED, LOSSES_LOSS, "settings_ignored",
        "SEEP_ variables with a value not understood"},
    {SEG_MARKS_LOST, LOSSES_LOSS, "marks", "marks that found no room"},
    {SEG_USER_LOST, LOSSES_LOSS, "user_events", "events of pools that found no room"},
    {SEG_USER_UNKNOWN, LOSSES_FACT, "user_unknown_frees", "seep_free calls for what was not there"},
    {SEG_USER_UNTRACKED, LOSSES_FACT, "user_untracked_frees",
        "seep_free calls for what came while paused or off"},
    {SEG_USER_MISSED, LOSSES_FACT, "user_missed_frees",
        "seep_alloc calls for what was still there"},
    {SEG_USER_INHERITED, LOSSES_FACT, "user_inherited_frees",
        "seep_free calls for what the parent had taken"},
    {SEG_USER_OFF, LOSSES_FACT, "user_events_off", "seep_alloc calls while paused or off"},
    {SEG_USER_POOLS, LOSSES_LOSS, "user_pools", "seep_alloc calls counted under \"(other pools)\""},
    {SEG_NO_CHILD_ROOM, LOSSES_LOSS, "no_child_room",
        "times there was no room for forked children, which are not recorded"},
    {SEG_NAMESPACES, LOSSES_LOSS, "namespaces",
        "namespaces of dlmopen or LD_AUDIT, whose own heap is not seen"},
    {SEG_FORKED_INSIDE, LOSSES_FACT, "forked_inside",
        "events counted twice: a handler forked inside a hook"},
    {SEG_CUT_SWITCHED, LOSSES_LOSS, "cut_switched",
        "stacks cut where the caller is on another stack"},
    {SEG_LOST_RANGES, LOSSES_FACT, "ranges",
        "ranges of the collector's own memory without room in its table"},
    {SEG_LOST_AGES, LOSSES_LOSS, "ages", "deaths whose age found no room and counts as young"},
    {SEG_LOST_SIZES, LOSSES_LOSS, "sizes", "sizes of 4 GiB and more that found no room"},
    {SEG_LOST_IGNORED, LOSSES_LOSS, "ignored", "seep_ignore calls that found no room"},
    {SEG_DEEPBIND_LOADS, LOSSES_LOSS, "deepbind_loads",
        "modules loaded with RTLD_DEEPBIND, whose own calls are not seen"},
    {SEG_MALLOC_BEFORE, LOSSES_LOSS, "malloc_before",
        "definitions of malloc in libraries before the collector, which sees "
        "only what they pass on"},
    {SEG_CROWDED_EVENTS, LOSSES_LOSS, "crowded_events",
        "allocations of threads that found no room for their own data"},
    {SEG_CHILDREN_EARLY, LOSSES_LOSS, "children_early",
        "forked children without room for a record, ended in the first events"},
    {SEG_EARLY_STACKS, LOSSES_LOSS, "early_stacks",
        "stacks of a forked child that ended in its first events"},
    {SEG_DIR_REPLACED, LOSSES_LOSS, "dir_replaced",
        "settings of SEEP_DIR or SEEP_BASE that could not be used: the segment "
        "is elsewhere"},
    {SEG_LOST_FREERS, LOSSES_FACT, "freers", "frees whose caller found no room to be noted"},
    {SEG_SNAPSHOTS_THINNED, LOSSES_LOSS, "snapshots_thinned",
        "snapshots removed again between the first and the newest "
        "(SEEP_SNAPSHOT_BYTES, SEEP_SNAPSHOTS, or no room)"},
    {SEG_IGNORED_UNKNOWN, LOSSES_FACT, "ignored_unknown",
        "seep_ignore calls for what is no recorded block"},
    {SEG_GUESSED, LOSSES_FACT, "guessed",
        "walks through code without unwind information by its frame pointers"},
    {SEG_PRIVATE_FORKS, LOSSES_LOSS, "private_forks",
        "forks with SEEP_PRIVATE: a child that ended by _exit, exec or a "
        "signal has left nothing"},
    {SEG_OWN_NAMES, LOSSES_LOSS, "own_names",
        "modules with calls of functions that only their allocator has (such "
        "as mallocx), which are not seen"},
    {SEG_LOG_LOST, LOSSES_FACT, "log_lost", "events that are not in the event log"},
    {SEG_LOG_ENDED, LOSSES_FACT, "log_ended", "event logs that ended because they were full"},
    {SEG_LOG_THREADS, LOSSES_FACT, "log_threads",
        "threads whose last events are not kept (SEEP_LOG_POOL)"},
    {SEG_LOST_MAPPINGS, LOSSES_LOSS, "mappings",
        "mappings (SEEP_MAPPINGS) that found no room, in whole or in part"},
};

static const char *const inert[] = {
    [SEG_INERT_NONE] = "no reason given",
    [SEG_INERT_LIBC] = "its C library is not glibc",
    [SEG_INERT_NO_FINDOBJ] = "its glibc is older than 2.35 (no _dl_find_object)",
    [SEG_INERT_OWN_MALLOC] = "the executable brings its own malloc",
    [SEG_INERT_SANITIZER] = "a sanitizer (ASan, TSan, MSan) is in charge of its heap",
    [SEG_INERT_MEMORY] = "there is no memory for our tables (RLIMIT_AS, RLIMIT_DATA)",
    [SEG_INERT_KERNEL] = "its kernel lacks a madvise that fork needs",
    [SEG_INERT_FAULT] = "an internal fault switched tracing off",
    [SEG_INERT_PLACE] = "its place, /dev/shm/seep-UID, is taken by another user",
    [SEG_INERT_OWN_FREE] = "the executable brings its own free",
    [SEG_INERT_OWN_PART] = "the executable brings its own calloc, realloc or memalign",
};

const struct losses_name *losses_names(size_t *ret_count)
{
	*ret_count = sizeof(names) / sizeof(names[0]);
	return names;
}

bool losses_is_own(uint32_t reason)
{
	return reason == SEG_INERT_OWN_MALLOC || reason == SEG_INERT_OWN_FREE ||
	    reason == SEG_INERT_OWN_PART;
}

const char *losses_inert(uint32_t reason)
{
	if (reason < sizeof(inert) / sizeof(inert[0]) && inert[reason])
		return inert[reason];
	return "for a reason unknown to this seep";
}

/* ---- refused_directory: why the directory that was asked for was not used ---- */

static const char *file_system(uint32_t type)
{
	static const struct {
		uint32_t type;
		const char *name;
	} known[] = {
	    {OVERLAYFS_SUPER_MAGIC, "overlayfs"},
	    {NFS_SUPER_MAGIC, "NFS"},
	    {BTRFS_SUPER_MAGIC, "btrfs"},
	    {FUSE_SUPER_MAGIC, "FUSE"},
	    {V9FS_MAGIC, "9p"},
	    {0x2fc12fc1, "ZFS"},
	    {EXT4_SUPER_MAGIC, "ext4"},
	    {XFS_SUPER_MAGIC, "XFS"},
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (known[i].type == type)
			return known[i].name;
	return NULL;
}

static void print_file_system(const char *path, uint32_t type, char *text, size_t bytes)
{
	const char *name = file_system(type);
	char number[32];

	(void)snprintf(number, sizeof(number), "a file system of type %#x", (unsigned)type);
	(void)snprintf(text, bytes, "%s is on %s, where a store to memory may stall the program",
	    path, name ? name : number);
}

bool refused_directory(const struct seg_header *h, char *text, size_t bytes)
{
	const char *path = h->place_asked[0] ? h->place_asked : "(a long path)";
	uint32_t detail = h->place_detail;
	int error = detail <= INT32_MAX ? (int)detail : 0;

	switch (h->place_refused) {
	case SEG_PLACE_FINE:
		return false;
	case SEG_PLACE_MISSING:
	case SEG_PLACE_CLOSED:
		(void)snprintf(text, bytes, "%s cannot be opened: %s", path, strerror(error));
		break;
	case SEG_PLACE_OWNER:
		(void)snprintf(text, bytes, "%s belongs to uid %u", path, (unsigned)detail);
		break;
	case SEG_PLACE_SHARED:
		(void)snprintf(text, bytes, "%s can be written by others (mode %04o)", path,
		    (unsigned)detail & 07777);
		break;
	case SEG_PLACE_NO_DIRECTORY:
		(void)snprintf(text, bytes, "%s is not a directory", path);
		break;
	case SEG_PLACE_FILE_SYSTEM:
		print_file_system(path, detail, text, bytes);
		break;
	case SEG_PLACE_FILES:
		(void)snprintf(text, bytes, "%s has too many files (seep ls --prune)", path);
		break;
	case SEG_PLACE_ROOM:
		(void)snprintf(text, bytes, "%s has too little room", path);
		break;
	case SEG_PLACE_NO_FILE:
		(void)snprintf(text, bytes, "%s: no file could be made there", path);
		break;
	default:
		(void)snprintf(text, bytes, "%s: for a reason unknown to this seep", path);
	}
	return true;
}

const char *refused_directory_setting(const struct seg_header *h)
{
	return h->place_setting == SEG_SETTING_BASE ? "SEEP_BASE" : "SEEP_DIR";
}

const char *refused_directory_reason(uint32_t why)
{
	static const char *const words[] = {
	    [SEG_PLACE_MISSING] = "missing",
	    [SEG_PLACE_OWNER] = "owner",
	    [SEG_PLACE_SHARED] = "shared",
	    [SEG_PLACE_NO_DIRECTORY] = "no_directory",
	    [SEG_PLACE_CLOSED] = "closed",
	    [SEG_PLACE_FILE_SYSTEM] = "file_system",
	    [SEG_PLACE_FILES] = "too_many_files",
	    [SEG_PLACE_ROOM] = "no_room",
	    [SEG_PLACE_NO_FILE] = "no_file",
	};

	return why < sizeof(words) / sizeof(words[0]) && words[why] ? words[why] : "unknown";
}
