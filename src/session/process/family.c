/* family.c - finds the ancestors of a forked process. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "session/process/family.h"

#include "host/proc/procfs.h"

enum { GENERATIONS_MAX = 16 };

static bool has_parent(const struct process *p)
{
	static const uint8_t none[16];

	return memcmp(p->header.parent_uuid, none, sizeof(none)) != 0;
}

const struct process *family_parent(const struct session *s, const struct process *p)
{
	if (!has_parent(p))
		return NULL;
	for (size_t i = 0; i < s->count; i++)
		if (s->processes[i] != p &&
		    memcmp(s->processes[i]->header.uuid, p->header.parent_uuid,
		        sizeof(p->header.uuid)) == 0)
			return s->processes[i];
	return NULL;
}

/* Ids are the grandparent's below those of a parent that is not there. */
static const struct process *grandparent(
    const struct session *s, const struct process *p, uint32_t id)
{
	static const uint8_t none[16];
	const struct process *found;

	if (id >= p->header.parent_first_id ||
	    memcmp(p->header.grandparent_uuid, none, sizeof(none)) == 0)
		return NULL;
	found = session_find(s, p->header.grandparent_uuid);
	return found == p ? NULL : found;
}

const struct process *family_owner(const struct session *s, const struct process *p, uint32_t id)
{
	/* a chain of parents longer than the number of processes is a circle */
	for (size_t n = 0; p && n <= s->count; n++) {
		const struct process *parent;

		if (id >= p->header.first_id)
			return p;
		parent = family_parent(s, p);
		/* of one that ended early there are sums, and no ids */
		p = parent && !process_ended_early(parent) ? parent : grandparent(s, p, id);
	}
	return NULL;
}

/* Takes the parent of p out of `from`, if it is there. -ENOMEM. */
static int adopt(struct session *s, const struct process *p, struct session *from)
{
	const struct process *parent = family_parent(from, p);
	struct process **list;

	for (size_t i = 0; parent && i < from->count; i++) {
		if (from->processes[i] != parent)
			continue;
		list = reallocarray(s->processes, s->count + 1, sizeof(struct process *));
		if (!list)
			return -ENOMEM;
		s->processes = list;
		list[s->count++] = from->processes[i];
		from->processes[i] = from->processes[--from->count];
		break;
	}
	return 0;
}

int family_add(struct session *s, const struct process *child, pid_t pid, const char *segment_path)
{
	const struct process *p = child;
	char directory[4096], *slash;
	int err = 0;

	(void)snprintf(directory, sizeof(directory), "%s", segment_path);
	slash = strrchr(directory, '/');
	if (!slash)
		return 0;
	*slash = '\0';
	for (int i = 0; p && has_parent(p) && i < GENERATIONS_MAX; i++) {
		struct session *from;

		if (!family_parent(s, p)) {
			/*
			 * The search gives the last process that had this pid,
			 * so compare the uuid.
			 */
			if (session_load_dead(pid, directory, (pid_t)p->header.ppid, &from, NULL) <
			    0)
				break;
			err = adopt(s, p, from);
			session_free(from);
		}
		if (err < 0)
			return err;
		p = family_parent(s, p);
	}
	return 0;
}

/* ---- relative: modules that the loader knows by a relative path ---- */

bool relative_is(const struct process_module *m)
{
	/* the kernel's vdso has a name without a slash, and no file */
	return m->path && m->path[0] != '/' && (m->is_main || strchr(m->path, '/'));
}

const char *relative_path(const struct process_module *m)
{
	return m->full ? m->full : m->path;
}

void relative_release(struct process_module *m)
{
	free(m->path);
	free(m->full);
	free(m->mapped);
}

int relative_join(struct process *p)
{
	const char *dir = p->header.start_dir;

	if (dir[0] != '/')
		return 0;
	for (size_t i = 1; i < p->module_count; i++) {
		struct process_module *m = &p->modules[i];
		const char *path = m->path;

		if (!relative_is(m))
			continue;
		while (strncmp(path, "./", 2) == 0)
			path += 2;
		if (asprintf(&m->full, "%s%s%s", dir, dir[1] ? "/" : "", path) < 0) {
			m->full = NULL;
			return -ENOMEM;
		}
	}
	return 0;
}

static bool has_any(const struct process *p)
{
	for (size_t i = 1; i < p->module_count; i++)
		if (relative_is(&p->modules[i]))
			return true;
	return false;
}

static bool take_mapping(void *context, uint64_t start, const char *path, bool is_deleted)
{
	struct process *p = context;

	if (is_deleted || path[0] != '/')
		return true;
	for (size_t i = 1; i < p->module_count; i++) {
		struct process_module *m = &p->modules[i];

		/*
		 * at the address of an unloaded module there may be another one
		 * now
		 */
		if (start < m->start || start >= m->end || m->mapped || m->is_gone ||
		    !relative_is(m))
			continue;
		m->mapped = strdup(path);
		if (!m->mapped)
			return false;
	}
	return true;
}

int relative_look(struct process *p)
{
	if (p->running_pid <= 0 || !has_any(p))
		return 0;
	return procfs_files(p->running_pid, take_mapping, p) == -ENOMEM ? -ENOMEM : 0;
}
