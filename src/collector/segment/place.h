/* place.h - where segments live: a directory, files in it, and mappings. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_PLACE_H
#define SEEP_PLACE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/attr.h"
#include "base/fmt.h"
#include "collector/segment/segment.h"
#include "collector/segment/slots.h"
#include "format/format.h"
#include "format/medium.h"

/* Why there is no segment; the words in the file are in place.c. */
enum refusal {
	REFUSAL_NONE,
	REFUSAL_NO_DIRECTORY,   /* no directory that is ours alone */
	REFUSAL_FILE_SYSTEM,    /* not tmpfs, nor a disk that was asked for */
	REFUSAL_TOO_MANY_FILES, /* too many in the directory */
	REFUSAL_NO_SPACE,       /* on the medium, or by a limit */
	REFUSAL_NO_FILE,        /* it could not be made or mapped */
};

/*
 * All functions are for the start and a forked child's set-up only. Nothing is
 * kept open: every descriptor is closed before the function returns.
 */
struct place {
	struct segment_memory memory; /* mapped, nothing in it yet */
	uint64_t segment_bytes;
	struct slots slots;              /* for forked children; .head NULL: none */
	const struct ctl_block *control; /* never NULL after place_create() */
	enum seg_medium medium;
	enum refusal refusal; /* after a failure: why */
	uint32_t file_system; /* statfs f_type */
	bool is_taken;        /* the default directory belongs to another user */
	uint32_t owner;       /* the uid of that user */
};

/* Of this process. */
extern SEEP_HIDDEN struct place place;

/* What SEEP_DIR or else SEEP_BASE asked for, if it could not be used. */
struct place_asked {
	bool is_base;
	enum seg_place why;
	uint32_t detail;
	char dir[SEG_DIR_BYTES];
};
extern SEEP_HIDDEN struct place_asked place_asked;

/* Room for forked children in the file. */
enum place_slots {
	PLACE_NO_SLOTS,
	PLACE_SLOTS_UNMAPPED, /* see slots_map_behind() */
	PLACE_SLOTS_MAPPED,
};

/* Makes a file beside the segment `name` in the directory `dir`. */
typedef bool place_beside(long dir, const char *name);

/*
 * Makes and maps a segment file and its control file, as large as the budget
 * allows (kernel.h), in SEEP_DIR, or if that cannot be used in SEEP_BASE/seep-UID,
 * or if that cannot be used in /dev/shm/seep-UID: then place_asked says why.
 * `beside`, if it is not NULL, makes more files beside them, whose absence does no
 * harm. Returns false if there is no place: then nothing is left behind, except
 * for a note of the reason if there is a directory for it.
 */
bool place_create(enum place_slots with_slots, bool populate, place_beside *beside);

/*
 * The same without files and shared memory, for SEEP_PRIVATE. The directory is
 * for the file that is written when the process ends.
 */
bool place_private(void);

/* The directory of our segments, as it was opened. */
const char *place_dir(void);

/*
 * Opens a directory that we own and nobody else may write. Returns the
 * descriptor or a negative errno.
 */
long place_open_dir(const char *path, struct stat *ret_st);

/* Makes an empty file of this size, 0600. Returns it, or a negative errno. */
long place_make_file(long dir, const char *name, uint64_t bytes);

#define PLACE_SHM "/dev/shm"

enum {
	PLACE_TMPFS = MEDIUM_TMPFS,
	PLACE_DIRENT = MEDIUM_DIRENT,
	PLACE_FILES_MAX = MEDIUM_FILES_MAX,
	PLACE_FILES_MORE = MEDIUM_FILES_MORE,
};

/* ---- place_name: the names of the files that this process makes ---- */

/*
 * All names have the form PROGRAM-PID-RANDOM and an ending. PROGRAM is what
 * the kernel calls the program when it starts, and RANDOM is drawn then. A
 * forked child inherits both.
 */

/* Finds PROGRAM and RANDOM. Start-up. */
void place_name_choose(void);

/* PROGRAM; empty before place_name_choose(). */
const char *place_name_program(void);

/* Appends BEGIN-PID-RANDOM. */
void place_name_write(struct fmt *f, const char *begin, uint64_t pid);

/*
 * Makes a text fit for the name of a file, in place. Letters, digits and "_.+"
 * stay, and dashes do if `dashes` says so. Other bytes become '_', and so does
 * a dot or a dash at the beginning.
 */
void place_name_tame(char *text, bool dashes);

#endif
