/* refusal.h - a process that could not be traced leaves a line that says so. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_REFUSAL_H
#define SEEP_REFUSAL_H

/* Why there is no segment; the words in the file are in refusal.c. */
enum refusal {
	REFUSAL_NONE,
	REFUSAL_NO_DIRECTORY,   /* no directory that is ours alone */
	REFUSAL_FILE_SYSTEM,    /* not tmpfs, nor a disk that was asked for */
	REFUSAL_TOO_MANY_FILES, /* too many in the directory */
	REFUSAL_NO_SPACE,       /* on the medium, or by a limit */
	REFUSAL_NO_FILE,        /* it could not be made or mapped */
};

/*
 * Appends one line to SEG_REFUSED_NAME in the directory; see docs/FORMAT.md.
 * The file grows up to a fixed size; if it has that size, a reader says "or
 * more". Start-up.
 */
void refusal_note(long dir, enum refusal why);

#endif
