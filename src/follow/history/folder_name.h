/* folder_name.h - the folder of a service in a history. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_FOLDER_NAME_H
#define SEEP_FOLDER_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum folder_kind {
	FOLDER_UNIT,      /* "nginx", with ".service": of the service manager */
	FOLDER_CONTAINER, /* an id, given by the container's manager */
	FOLDER_PROGRAM,   /* a name that the process itself has chosen */
};

/* Who is watched. The text is untrusted. */
struct folder_service {
	const char *text;
	enum folder_kind kind;
	uid_t uid; /* of the process */
	/* by a user in cgroups of his own; the name of a program always is */
	bool is_chosen;
};

enum { FOLDER_NAME_BYTES = 160 }; /* with the zero */

/*
 * A file name of printable ASCII that is never "." or "..", does not begin with
 * a dot or a hyphen, and has no slash. Different services have different
 * names: a program cannot take the name of a unit, nor a user that of another
 * user's or the machine's. Programs of `self` have plain names.
 *
 * What is not a letter, a digit or one of "_.@:+,=-" becomes %HH. A program
 * whose name looks like that of a unit or a container has its first character
 * escaped. A unit ends in ".service" or another suffix of units, a container
 * that has no id but a name ends in %n, names that others chose in %uUID, and a
 * name that is too long in %h and a hash of the whole.
 */
void folder_name(const struct folder_service *s, uid_t self, char to[FOLDER_NAME_BYTES]);

#endif
