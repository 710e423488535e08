/* names.h - the door to names: a frame in, function, file and line out. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_NAMES_NAMES_H
#define SEEP_NAMES_NAMES_H

#include "reader/process.h"

struct names;

/* What a frame is called; all zero: take the usual way. */
struct names_options {
	const char *debug_dirs; /* separated by ':', before the usual ones */
	const char *sysroot;    /* files are looked for below it, NULL: / */
	bool debuginfod;        /* may ask the servers of DEBUGINFOD_URLS */
	bool no_cache;          /* neither read nor write it */
	bool no_symbols;        /* no names at all: modules and offsets */
	unsigned seconds;       /* at most so long for all names; 0: no limit */
	/* about once a second while it takes long; `path` is being read */
	void (*progress)(void *context, const char *path);
	void *progress_context;
};

/* One function at one place. */
struct names_frame {
	const char *function; /* demangled, qualified; NULL: not known */
	const char *symbol;   /* as in the file, mangled; NULL: not known */
	const char *file; /* path as the compiler knew it; NULL: not known */
	uint32_t line;    /* 0: not known */
	bool inlined;     /* into the next of the chain */
	uint8_t api; /* SEG_API_NEW, SEG_API_NEW_ARRAY: this is operator new */
};

/* Keeps a copy of the options; NULL: the usual way. -ENOMEM. */
int names_new(const struct names_options *options, struct names **ret);

/* NULL is fine. */
void names_free(struct names *n);

/*
 * The functions that a frame stands for, innermost first: those inlined there,
 * then the one that holds them. At least one entry; what is not known is NULL
 * or 0 in it. Never fails; valid as long as n.
 */
size_t names_chain(struct names *n, const struct process *p, uint64_t frame,
    const struct names_frame **ret);

/*
 * Where the names of a module come from: the recording of its process, the
 * files that this sees, and its owner, if the place of the file is known from
 * the process alone. Two processes with the same number have the same names at
 * the same place of the module; with others they may not, whatever its build-id.
 */
uint64_t names_source(
    struct names *n, const struct process *p, const struct process_module *m);

/* The number of the files that a process sees: names/view.h. 0: ours. */
uint64_t names_view(struct names *n, const struct process *p);

/*
 * names_chain() finds out about all frames of a process at once, when one is
 * asked for. A caller with several processes gathers their frames first, so
 * that what they share is read once. -ENOMEM.
 */
int names_gather(struct names *n, const struct process *p);
int names_gather_frames(struct names *n, const struct process *p,
    const uint64_t *frames, size_t count);
void names_resolve(struct names *n);

/*
 * What has been found, in pieces of some MiB that can be read each by itself,
 * as docs/RECORDING.md has it. -ENOMEM, or what write() returns.
 */
int names_write(const struct names *n,
    int (*write)(void *context, const uint8_t *bytes, size_t len),
    void *context);

/* What was not done for names, though it could have been; all zero: nothing. */
struct names_gaps {
	size_t late_frames, late_modules; /* there was no time for them */
	size_t unconfined_modules;        /* no jail, so no DWARF */
	size_t left_processes;            /* not even SIGKILL ended them */
};
void names_gaps(const struct names *n, struct names_gaps *ret);

/* Sentences about what has no names, so far; valid until the next call. */
size_t names_notes(const struct names *n, char *const **ret);

/*
 * The same for a report that shows a part of all frames: `lacks` says whether
 * one of those without a name is of the module at `path`, "" for code outside
 * of modules. What is known to be wrong with a file is said in any case.
 */
typedef bool (*names_lacks)(void *context, const char *path);
size_t names_notes_shown(
    const struct names *n, names_lacks lacks, void *context, char *const **ret);

#endif
