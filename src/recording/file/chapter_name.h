/* chapter_name.h - the names of chapters: the recordings of a history. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_CHAPTER_NAME_H
#define SEEP_CHAPTER_NAME_H

#include <stdbool.h>
#include <stdint.h>

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

#endif
