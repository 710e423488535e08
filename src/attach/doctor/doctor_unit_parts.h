/* doctor_unit_parts.h - what the checks of a unit share. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_DOCTOR_UNIT_PARTS_H
#define SEEP_DOCTOR_UNIT_PARTS_H

#include <limits.h>

#include "attach/doctor/doctor_unit.h"

/* A unit while it is looked at. */
struct doctor_unit_look {
	const struct unit *u;
	struct doctor_report *r;
	char library[PATH_MAX]; /* libseep.so */
	char root[PATH_MAX];    /* RootDirectory= as we reach it; "": none */
	char daemon[PATH_MAX];  /* the program that is to be traced, or "" */
	uid_t user;             /* by which it runs */
	bool is_user_known;
	bool is_enabled; /* LD_PRELOAD names the collector already */
};

/* Is the path one of a list of paths, or below one? `ret`: which; may be NULL. */
bool doctor_unit_covers(
    const struct unit *u, const char *property, const char *path, size_t *ret_len);

/* Is the path one of our own root, or bound from there? */
bool doctor_unit_is_outside(const struct doctor_unit_look *l, const char *path);

/* LD_PRELOAD and the commands: doctor_unit_environment.c. */
void doctor_unit_environment(struct doctor_unit_look *l);

/* Namespaces, the library, the place: doctor_unit_paths.c. */
void doctor_unit_paths(struct doctor_unit_look *l);

/* LimitFSIZE=, LimitAS=, MemoryMax=: doctor_unit_limits.c. */
void doctor_unit_limits(struct doctor_unit_look *l);

/* LimitMEMLOCK=; `locker` is the module that can lock all memory, or "". */
void doctor_unit_locked(struct doctor_unit_look *l, const char *locker);

/* AppArmor: doctor_unit_apparmor.c. */
void doctor_unit_apparmor(struct doctor_unit_look *l);

#endif
