/* names.h - the interface to names: from a frame to functions, files, lines. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_NAMES_H
#define SEEP_NAMES_H

#include "recording/file/recording.h"
#include "session/process/process.h"

struct names;

/* How names are looked up; all zero: the default. */
struct names_options {
	const char *debug_dirs; /* separated by ':', before the usual ones */
	const char *sysroot;    /* files are looked for below it, NULL: / */
	bool debuginfod;        /* may ask the servers of DEBUGINFOD_URLS */
	bool no_cache;          /* neither read nor write the cache */
	bool no_symbols;        /* no names at all: modules and offsets */
	unsigned seconds;       /* time limit for all names; 0: no limit */
	/* called about once a second if it takes long; `path` is being read */
	void (*progress)(void *context, const char *path);
	void *progress_context;
};

/* One function at one place. */
struct names_frame {
	const char *function; /* demangled, qualified; NULL: not known */
	const char *symbol;   /* as in the file, mangled; NULL: not known */
	const char *file;     /* path as the compiler knew it; NULL: not known */
	uint32_t line;        /* 0: not known */
	bool inlined;         /* inlined into the next function of the chain */
	bool folded;          /* others have the same code, and may be meant */
	uint8_t api;          /* SEG_API_NEW, SEG_API_NEW_ARRAY: this is operator new */
};

/* Keeps a copy of the options; NULL: the default. -ENOMEM. */
int names_new(const struct names_options *options, struct names **ret);

/* NULL is fine. */
void names_free(struct names *n);

/*
 * The functions that a frame stands for, innermost first: those inlined there,
 * then the one that contains them. At least one entry; unknown parts of it are
 * NULL or 0. Never fails; valid as long as n.
 */
size_t names_chain(
    struct names *n, const struct process *p, uint64_t frame, const struct names_frame **ret);

/*
 * A number for the source of a module's names: the recording of its process,
 * the process's view of the file system, and its owner if only the process says
 * where the file is. If two processes have the same number, an address of the
 * module has the same names in both. If not, it may have other names, whatever
 * the build-id is.
 */
uint64_t names_source(struct names *n, const struct process *p, const struct process_module *m);

/* The number of a process's view of the file system: names/find/places.h. 0: ours. */
uint64_t names_view(struct names *n, const struct process *p);

/*
 * names_chain() looks up all frames of a process together when the first is
 * asked for. A caller with several processes calls this first for each of them,
 * so that modules that they share are read once. -ENOMEM.
 */
int names_gather(struct names *n, const struct process *p);
int names_gather_frames(
    struct names *n, const struct process *p, const uint64_t *frames, size_t count);
void names_resolve(struct names *n);

/*
 * Variables: a module's number in the process, and an address as in its ELF file
 * or, if is_tls, an offset in its thread-local storage. Gathered ones are looked
 * up by names_resolve(), which a caller calls once for frames and variables.
 */
struct names_place {
	uint32_t module;
	bool is_tls;
	uint64_t address;
};
struct names_variable {
	const char *name; /* demangled; valid as long as n */
	const char *file; /* source file of a static one; NULL: not known */
	uint32_t offset;  /* of the address in it; UINT32_MAX: that or more */
	bool is_static;
};

/* -ENOMEM. */
int names_gather_variables(
    struct names *n, const struct process *p, const struct names_place *places, size_t count);

/* false: no symbol covers it, or there is no symbol table. */
bool names_variable(struct names *n, const struct process *p, const struct names_place *place,
    struct names_variable *ret);

/*
 * Writes all names in pieces of a few MiB. Each piece can be read alone;
 * docs/RECORDING.md describes the bytes. -ENOMEM, or the result of write().
 */
int names_write(const struct names *n,
    int (*write)(void *context, const uint8_t *bytes, size_t len), void *context);

/* Frames that could have names, but were not looked up; all zero: none. */
struct names_gaps {
	size_t late_frames, late_modules; /* there was no time for these */
	size_t unconfined_modules;        /* no jail, so no DWARF */
	size_t left_processes;            /* not even SIGKILL ended them */
	size_t outside_frames;            /* in no module, and in no map */
};
void names_gaps(const struct names *n, struct names_gaps *ret);

/* Sentences about what has no names so far; valid until the next call. */
size_t names_notes(const struct names *n, char *const **ret);

/*
 * The same for a report that shows only some of all frames. `lacks` says
 * whether one of the frames without a name belongs to the module at `path`, or
 * to code outside of modules if path is "". Problems with a file are reported
 * in any case.
 */
typedef bool (*names_lacks)(void *context, const char *path);
size_t names_notes_shown(
    const struct names *n, names_lacks lacks, void *context, char *const **ret);

/* ---- embed: finds names for a recording, after its program has ended ---- */

struct embed;

/* If the options have no time limit, this module sets one. -ENOMEM. */
int embed_new(const struct names_options *options, struct embed **ret);

/* NULL is fine. */
void embed_free(struct embed *e);

/*
 * Notes the frames of a process. Reads no file. `context` is a struct embed:
 * struct collect calls this function.
 */
void embed_add(void *context, const struct process *p);

/*
 * The view of the file system that embed_add() found, for struct
 * recording_segment.
 */
uint64_t embed_view(struct embed *e, const struct process *p);

/* After embed_write(): frames outside of modules that have no name. */
size_t embed_outside(const struct embed *e);

/*
 * Finds the names, in bounded time, and appends them. Meanwhile the file is
 * complete without them, so a kill costs only the names. Names that cannot be
 * found are no error. 1: there was no room for them; the rest is complete.
 */
int embed_write(struct embed *e, struct recording_writer *w);

#endif
