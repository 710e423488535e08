/* procfs_group.h - /proc/PID/cgroup: service, container, memory cgroup. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_PROCFS_GROUP_H
#define SEEP_PROCFS_GROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum {
	PROCFS_GROUP_NAME = 256, /* bytes of a name, with the zero */
	PROCFS_GROUP_PATH = 2048,
	PROCFS_GROUP_SHORT = 12, /* digits of a container's id that are shown */
};

/*
 * Names are those of cgroups, whose makers may be anybody: untrusted. At most
 * one of unit and container is there, the innermost one.
 */
struct procfs_group {
	/* of systemd, without ".service": "nginx", "postgresql@15-main" */
	char unit[PROCFS_GROUP_NAME];
	/* the beginning of its id, or its name; "": none */
	char container[PROCFS_GROUP_NAME];
	/* path of the memory cgroup as we see it; "": none, or out of sight */
	char memory[PROCFS_GROUP_PATH];
	size_t root_bytes; /* of that path, up to where the groups are mounted */
	bool is_v2;        /* the memory cgroup is one of version 2 */
};

/* -ESRCH: it cannot be read. */
int procfs_group_of(pid_t pid, struct procfs_group *ret);

/* The same from the text of the file, which is changed. */
void procfs_group_parse(char *text, struct procfs_group *ret);

#endif
