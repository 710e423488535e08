/* folder_service.c - which service a process that runs belongs to. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "follow/history/folder_service.h"

#include <string.h>
#include <unistd.h>

#include "host/proc/procfs_group.h"

/*
 * Whoever has cgroups of his own, as the users in user.slice, gives them any
 * name.
 */
static bool is_chosen_by_user(const struct live_process *p)
{
	struct procfs_group g;

	return p->pid == 0 || procfs_group_of(p->pid, &g) < 0 || g.memory[0] == '\0' ||
	    strstr(g.memory, "/user.slice") != NULL;
}

void folder_service_of(const struct live_process *p, uid_t uid, struct folder_service *ret)
{
	*ret = (struct folder_service){.text = p->service,
	    .uid = uid,
	    .kind = p->has_unit    ? FOLDER_UNIT
	        : p->has_container ? FOLDER_CONTAINER
	                           : FOLDER_PROGRAM};
	ret->is_chosen = uid != geteuid() && ret->kind != FOLDER_PROGRAM && is_chosen_by_user(p);
}
