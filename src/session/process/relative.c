/* relative.c - modules that the loader knows by a relative path. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "session/process/family.h"

#include "host/proc/procfs.h"

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
