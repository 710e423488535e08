/* chapter.h - writes chapters: recordings that take turns in a folder. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_CHAPTER_H
#define SEEP_CHAPTER_H

#include "base/std.h"
#include "recording/file/recording.h"

/* ---- chapter_name: the names of chapters: the recordings of a history ---- */

/*
 * A chapter is a recording in a folder of chapters, which together are one
 * INPUT. Its name is YYYYMMDDTHHMMSSZ-NNNN.seep: the time at which it began, in
 * UTC, and a number that is never used again in this folder. The number alone
 * gives the order, because a clock may be set back. While a chapter is written,
 * its name ends in .seep.part; if its writer is killed, it keeps that name.
 *
 * A history (`seep watch`) is a directory with such a folder for each service.
 * Its file .version says which version of this layout it has, and whoever
 * writes it holds an flock() on its file .lock.
 */
enum { CHAPTER_NAME_BYTES = 64 }; /* with the zero */

#define CHAPTER_NAME_DONE         ".seep"
#define CHAPTER_NAME_PART         ".seep.part"
#define CHAPTER_NAME_VERSION_FILE ".version"
#define CHAPTER_NAME_VERSION      "seep history 1\n"
#define CHAPTER_NAME_LOCK_FILE    ".lock"

struct chapter_name {
	uint64_t number;
	int64_t start_s; /* since 1970 */
	bool is_part;
};

void chapter_name_write(const struct chapter_name *name, char text[CHAPTER_NAME_BYTES]);

/* False: no such name. Exactly the texts that chapter_name_write() makes. */
bool chapter_name_read(const char *text, struct chapter_name *ret);

/* ---- chapter: writes chapters: recordings that take turns in a folder ---- */

/*
 * One chapter, from its first entry to its name. `seep record --rotate` and
 * `seep watch` write them; recording/file/chapter.h has the names. A chapter is an
 * ordinary recording: it begins with an entry about the run, its time line
 * begins anew, and it ends with the state of all processes and with names. So
 * each can be read without the others.
 */
struct chapter;

/*
 * When a chapter is full; 0: this does not matter. Each chapter has the state
 * of all processes at its begin and at its end, which may alone be more than
 * `bytes`; so the size counts only after `least_ns`.
 */
struct chapter_limits {
	uint64_t ns;
	uint64_t bytes;
	uint64_t least_ns;
};

/*
 * Begins a chapter with the next number of the folder, which exists. The file
 * appears as *.seep.part with recording_publish(), at chapter_finish() at the
 * latest. start_ns is since 1970. The caller keeps others from writing in the
 * same folder. Errors as of recording_create(), and of reading the folder.
 */
int chapter_begin(const char *folder, uint64_t start_ns, struct chapter **ret);

/* Stays with c. */
struct recording_writer *chapter_writer(const struct chapter *c);

/* The path that it has once it is finished, and the number. */
const char *chapter_path(const struct chapter *c);
uint64_t chapter_number(const struct chapter *c);

/*
 * Is it time for the next one? Time is that of CLOCK_BOOTTIME since
 * chapter_begin(), so a machine that sleeps turns its chapters on time.
 */
bool chapter_is_full(const struct chapter *c, const struct chapter_limits *limits);

/* Until time alone makes it full, at most INT_MAX. */
int chapter_wait_ms(const struct chapter *c, const struct chapter_limits *limits);

/*
 * Completes the file, gives it its last name, and syncs both. Frees c, whatever
 * comes of it. Errors as of recording_finish(); then what was written stays
 * under the name *.seep.part.
 */
int chapter_finish(struct chapter *c);

/*
 * Leaves a file that was published as it is, as *.seep.part, and forgets one
 * that was not. NULL is fine.
 */
void chapter_discard(struct chapter *c);

/* ---- what a folder has ---- */

struct chapter_entry {
	struct chapter_name name;
	char text[CHAPTER_NAME_BYTES]; /* the name itself */
	uint64_t bytes;                /* as stored */
	int64_t changed_s;             /* since 1970 */
};

/*
 * The chapters of a folder, by number, in a list for free(); files that are not
 * regular are left out, other names are not looked at. -ENOMEM, or as opendir()
 * and openat() say.
 */
int chapter_list(const char *folder, struct chapter_entry **ret, size_t *ret_count);

#endif
