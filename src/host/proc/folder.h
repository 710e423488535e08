/* folder.h - checks the directory of a user's segments. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_FOLDER_H
#define SEEP_FOLDER_H

#include "base/std.h"

/*
 * Anybody can write to /dev/shm, so an entry with the name of a user may have
 * been made by another. A collector does not use such a directory, and a reader
 * must not take its files for that user's.
 */
#define FOLDER_SHM "/dev/shm"

/* Made by root, sticky, for services (SEEP_BASE): seep-UID as in /dev/shm. */
#define FOLDER_RUN "/run/seep"

enum { FOLDER_PATH_BYTES = 64, FOLDER_TEXT_BYTES = 512 };

enum folder_state {
	FOLDER_FIT,          /* a directory of the user that nobody else may write */
	FOLDER_MISSING,      /* there is none, or we may not look */
	FOLDER_TAKEN,        /* anything that belongs to another user */
	FOLDER_NO_DIRECTORY, /* belongs to the user, but is a link or a file */
	FOLDER_SHARED,       /* belongs to the user, but others may write it */
};

/* /dev/shm/seep-UID, where segments go without SEEP_DIR. */
void folder_default(uid_t user, char path[FOLDER_PATH_BYTES]);

/*
 * seep-UID-XXXXXXXX in /dev/shm, made by a process of `user` that found the
 * default directory taken, for its header alone.
 */
bool folder_is_note(const char *name, uid_t user);

/* Removes such a directory, if `path` is one and it is empty. */
void folder_remove_note(const char *path);

/*
 * The state that the collector of `user` would find; sets *ret_owner unless the
 * directory is missing.
 */
enum folder_state folder_look(const char *path, uid_t user, uid_t *ret_owner);

/*
 * Why it cannot be used, as the middle of a sentence: "/dev/shm/seep-7 belongs
 * to uid 8". False: it can be used, or is missing.
 */
bool folder_complaint(const char *path, uid_t user, char *text, size_t text_bytes);

/*
 * The same for the default directory of a running process, in that process's
 * mount namespace.
 */
bool folder_complaint_of(pid_t pid, char *text, size_t text_bytes);

#endif
