/* dropin.h - the drop-in of seep service: UNIT.d/50-seep.conf. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_DROPIN_H
#define SEEP_DROPIN_H

#include "base/std.h"
#include "attach/service/unit.h"
#include "kit/os/fault.h"

#define DROPIN_NAME "50-seep.conf"
#define DROPIN_BASE "/run/seep"

/* Texts are NULL or empty if they are not wanted; paths are plain text. */
struct dropin_plan {
	const char *library;    /* libseep.so, absolute */
	const char *companions; /* more to preload, joined by colons */
	const char *preload;    /* LD_PRELOAD of the unit, with specifiers */
	const char *base;       /* SEEP_BASE */
	const char *only;       /* SEEP_ONLY */
	uint64_t sample_bytes;  /* 0: exact */
	unsigned depth;         /* 0: the default */
	bool is_dormant;
	bool no_deepbind;  /* SEEP_DEEPBIND=clear */
	bool needs_write;  /* ReadWritePaths=-BASE */
	bool needs_exec;   /* ExecPaths=- the directory of the library */
	bool has_own_root; /* binds base and library into RootDirectory= */
};

/* What a unit needs, as far as its properties say it. Texts stay the unit's. */
void dropin_fit(struct dropin_plan *p, const struct unit *u);

/* The text of the file, for free(). NULL: no memory. */
char *dropin_text(const struct dropin_plan *p, const char *unit);

/*
 * Its path: below /etc/systemd, or /run/systemd with is_runtime; for the user's
 * own manager below $XDG_CONFIG_HOME or $XDG_RUNTIME_DIR. -ENOENT: the user has no such
 * directory; -ENAMETOOLONG.
 */
int dropin_path(
    const struct unit_manager *m, bool is_runtime, const char *unit, char ret[PATH_MAX]);

enum dropin_state {
	DROPIN_NONE,
	DROPIN_OURS,    /* byte for byte as dropin_text() made it */
	DROPIN_CHANGED, /* by somebody else since; the fault names the line */
	DROPIN_FOREIGN, /* never made by us */
};

/*
 * What is there. ret_text, if it is not NULL, gets the text, for free(), unless
 * there is none. A negative errno: it cannot be read.
 */
int dropin_look(const char *path, enum dropin_state *ret, char **ret_text, struct fault *where);

/* The same for a text. */
enum dropin_state dropin_judge(const char *text, struct fault *where);

/*
 * Writes the text in one step: the name leads to the old file or to the whole
 * new one, also after a loss of power. Directories are made as needed and, on
 * failure, removed again; ret_made, if it is not NULL, gets their number.
 * Negative errno.
 */
int dropin_write(const char *path, const char *text, unsigned *ret_made);

/*
 * Removes the file, and so many of the directories above it that are empty then,
 * the innermost first.
 */
int dropin_remove(const char *path, unsigned directories);

#endif
