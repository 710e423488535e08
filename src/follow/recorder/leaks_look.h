/* leaks_look.h - a child of the recorder that looks at one process. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_LEAKS_LOOK_H
#define SEEP_LEAKS_LOOK_H

#include "base/std.h"
#include "analysis/holders/root_notes.h"
#include "names/find/names.h"
#include "recording/parts/census.h"
#include "recording/parts/inventory.h"
#include "segments/read/segfile.h"
#include "session/load/session.h"

/* A look that is running, or has ended. */
struct leaks_look {
	pid_t worker;      /* 0: none */
	int fd;            /* its result comes through here */
	uint64_t until_ns; /* in CLOCK_MONOTONIC: it must have ended by then */
	uint8_t *bytes;    /* its result so far, see enum leaks_look_kind */
	size_t len, room;
	uint64_t cpu_ns; /* of the child, when it has ended */
};

enum leaks_look_kind {
	LEAKS_LOOK_RUNNING, /* verdicts, in parts */
	LEAKS_LOOK_AT_EXIT, /* the same; the process waits at its exit */
	LEAKS_LOOK_BIRTHS,  /* ages and births: aging_encode() */
	LEAKS_LOOK_PAGES,   /* resident pages: rss_account_encode() */
};

/*
 * Verdicts come as parts: verdicts_encode(), and inventory_encode() if `more` was
 * asked for and all went well. The process is not needed after the first part.
 */
enum leaks_look_part {
	LEAKS_LOOK_VERDICTS,
	LEAKS_LOOK_INVENTORY,
};

/* What was read for an inventory, in the child. */
struct leaks_look_memory {
	const struct session *session; /* with its ancestors */
	const struct process *process;
	pid_t pid;
	struct heap *heap; /* taken by `make`; NULL: not asked for */
	const struct root_notes *notes;
	uint64_t max_bytes;
	bool was_still;              /* no thread ran meanwhile */
	const struct census *census; /* NULL: not asked for */
};

/* What a look takes beside the verdicts. */
struct leaks_look_more {
	bool holders, types; /* none of them: no inventory */
	/* it needs names, which are found above this folder */
	int (*make)(const struct leaks_look_more *more, const struct leaks_look_memory *m,
	    struct inventory *ret);
	const void *context;
};

/*
 * Starts a look at the process with this header, which runs as `pid`. `more` may
 * be NULL. Negative errno; then nothing is held.
 */
int leaks_look_start(struct leaks_look *k, const struct segfile *f, int slot,
    const struct seg_header *h, pid_t pid, enum leaks_look_kind kind,
    const struct leaks_look_more *more);

/*
 * The same for the process with this uuid in a file of the run. *ret_start_ns:
 * when it began, in CLOCK_MONOTONIC, or 0: it does not run any more, or is not
 * traced.
 */
int leaks_look_start_at(struct leaks_look *k, const char *dir, const char *name, int slot,
    const uint8_t uuid[16], enum leaks_look_kind kind, uint64_t *ret_start_ns);

/*
 * Children close this descriptor of ours, because a lock on it is to end with
 * us; -1: none.
 */
void leaks_look_close(int fd);

/*
 * Does not wait. 0: it is still running; 1: it has ended, and bytes and len are
 * its result, which is untrusted; -ETIMEDOUT: it was killed; -EIO, -ENOMEM.
 */
int leaks_look_poll(struct leaks_look *k);

/*
 * A part of its result that has come whole, which is untrusted; false: not yet.
 * While it runs, too.
 */
bool leaks_look_part(
    const struct leaks_look *k, enum leaks_look_part part, const uint8_t **ret, size_t *ret_len);

/* Ends it, and frees its result. */
void leaks_look_release(struct leaks_look *k);

/* ---- inventory_make: record --retained and --types: an inventory of what was read ---- */

/*
 * For leaks_look_more.make, whose context is a struct names_options. *ret is for
 * inventory_release(). -ENOMEM; -E2BIG: the memory does not suffice.
 */
int inventory_make(
    const struct leaks_look_more *more, const struct leaks_look_memory *m, struct inventory *ret);

#endif
