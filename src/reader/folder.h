/* folder.h - the directory of a user's segments: is it his own? */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_READER_FOLDER_H
#define SEEP_READER_FOLDER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * /dev/shm is everybody's: what is there under the name of a user may have been
 * put there by another. A collector uses no such directory, and a reader must
 * not take what is in it for that user's.
 */
#define FOLDER_SHM "/dev/shm"

enum { FOLDER_PATH_BYTES = 64, FOLDER_TEXT_BYTES = 512 };

enum folder_state {
	FOLDER_FIT,     /* a directory of the user that nobody else may write */
	FOLDER_MISSING, /* or not to be looked at */
	FOLDER_TAKEN,   /* something of another user, of whatever kind */
	FOLDER_NO_DIRECTORY, /* the user's own, but a link or a file */
	FOLDER_SHARED,       /* the user's own, but others may write it */
};

/* /dev/shm/seep-UID, where segments go without SEEP_DIR. */
void folder_default(uid_t user, char path[FOLDER_PATH_BYTES]);

/*
 * seep-UID-XXXXXXXX in /dev/shm, made by a process of `user` that found the
 * default directory taken, for its header alone.
 */
bool folder_is_note(const char *name, uid_t user);

/* Removes such a directory, if `path` is one and nothing is left in it. */
void folder_remove_note(const char *path);

/* As the collector of `user` would find it; *ret_owner unless it is missing. */
enum folder_state folder_look(const char *path, uid_t user, uid_t *ret_owner);

/*
 * Why it cannot be used, as the middle of a sentence: "/dev/shm/seep-7 belongs
 * to uid 8". False: it is fit, or missing.
 */
bool folder_complaint(
    const char *path, uid_t user, char *text, size_t text_bytes);

/*
 * The same for the default directory of a running process, as that sees it, in
 * its own mount namespace.
 */
bool folder_complaint_of(pid_t pid, char *text, size_t text_bytes);

#endif
