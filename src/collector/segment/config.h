/* config.h - SEEP_* variables, read once in the constructor. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_CONFIG_H
#define SEEP_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "format/format.h"

struct config {
	const char *only; /* SEEP_ONLY, during the start alone; or NULL */
	char dir[1024];   /* SEEP_DIR; empty: seep-UID in `base` */
	/* SEEP_BASE; empty: /dev/shm. Room is left for seep-UID in `dir` */
	char base[1000];
	bool dir_replaced;               /* SEEP_DIR or SEEP_BASE is unfit: see place.c */
	char session[SEG_SESSION_BYTES]; /* SEEP_SESSION */
	bool dormant;                    /* SEEP_MODE=dormant */
	bool no_deepbind;                /* SEEP_DEEPBIND=clear: dlopen without that flag */
	/* SEEP_CHILD_FILES: each child has its own file. 1: always, 0: never */
	bool child_files, no_child_files;
	bool mappings;   /* SEEP_MAPPINGS=1: see mapping.h */
	bool is_private; /* SEEP_PRIVATE=1: no shared memory, a file at exit */
	uint64_t depth;  /* SEEP_DEPTH, frames kept of a stack; 0: default */
	uint64_t sample; /* SEEP_SAMPLE, mean bytes between samples; 0: exact */
	uint64_t budget; /* SEEP_BUDGET, bytes of segment; 0: default */

	char snapshot_dir[1024]; /* SEEP_SNAPSHOT_DIR; empty: as segments */
	char snapshot_name[64];  /* SEEP_SNAPSHOT_NAME; empty: the program's */
	uint64_t snapshots;      /* SEEP_SNAPSHOTS, the most that are kept */
	uint64_t snapshot_bytes; /* SEEP_SNAPSHOT_BYTES, in all of them */
	int32_t signal;          /* SEEP_SIGNAL; 0: none, -1: none we know */
	uint64_t every_ns;       /* SEEP_EVERY=TIME; 0: never */
	uint64_t every_bytes;    /* SEEP_EVERY=BYTES of growth; 0: never */
	bool leaks;              /* SEEP_LEAKS=1: wait at exit to be read */
	uint64_t leaks_wait;     /* SEEP_LEAKS_WAIT, seconds in all */
	bool no_guess;           /* SEEP_GUESS=0: guess.h is not used */
	uint32_t log;            /* SEEP_LOG: enum log_mode; 0: none */
	uint32_t log_last;       /* SEEP_LOG=last[:N]: events; 0: not that */
	uint64_t log_pool;       /* SEEP_LOG_POOL, bytes of chunks */
	uint32_t log_lack;       /* enum seg_log_lack: SEEP_LOG is ignored */
	uint32_t ignored;        /* values that were not understood */
};

/* Unless SEEP_SNAPSHOTS and SEEP_SNAPSHOT_BYTES say otherwise. */
#define CONFIG_SNAPSHOTS UINT32_MAX
enum {
	CONFIG_SNAPSHOT_BYTES = 64 << 20,
	CONFIG_LOG_POOL = 16 << 20,
	CONFIG_LEAKS_WAIT = 10,
	CONFIG_LEAKS_WAIT_MAX = 86400,
};

extern SEEP_HIDDEN struct config config;

/* Copies the values, because the environment may be overwritten later. */
void config_read(char **envp);

/*
 * Is this program left out by `list`, NAME[:NAME]? A name is compared with the
 * last part of the path of the executable and of the path that exec was given,
 * which may be a link (busybox) or a script; a name with a slash is compared with
 * the whole path. An empty name is skipped. *ret_ignored: there was no name at
 * all, so that nothing is left out. NULL paths are not compared.
 */
bool config_leaves_out(
    const char *list, const char *executable, const char *started_as, bool *ret_ignored);

#endif
