/* ls_prune.c - the files that seep ls --prune removes. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "segments/find/ls_prune.h"

#include <sys/file.h>

#include "segments/find/free_slots.h"
#include "segments/find/proc.h"
#include "segments/read/segfile.h"
#include "kit/words/text.h"

enum {
	HALF_BORN_S = 10,    /* nobody takes longer to set up a segment */
	HALF_WRITTEN_S = 60, /* nor to write a snapshot */
};

struct ls_prune_file {
	char *name;
	uint64_t device, inode;
};

bool ls_prune_is_settled(const struct stat *st)
{
	return time(NULL) - st->st_mtime >= HALF_BORN_S;
}

int ls_prune_add(struct ls_prune *p, const char *name, const struct stat *st)
{
	struct ls_prune_file *all = reallocarray(p->files, p->count + 1, sizeof(*all));
	struct ls_prune_file c = {.name = strdup(name), .device = st->st_dev, .inode = st->st_ino};

	if (all)
		p->files = all;
	if (!all || !c.name) {
		free(c.name);
		return -ENOMEM;
	}
	all[p->count++] = c;
	return 0;
}

int ls_prune_add_parent(struct ls_prune *p, const char *name)
{
	char **all = reallocarray(p->parents, p->parent_count + 1, sizeof(*all));
	char *copy = strdup(name);

	if (all)
		p->parents = all;
	if (!all || !copy) {
		free(copy);
		return -ENOMEM;
	}
	all[p->parent_count++] = copy;
	return 0;
}

int ls_prune_control(struct ls_prune *p, const char *name, const struct stat *st)
{
	char segment[NAME_MAX + 1];

	if (!ls_prune_is_settled(st))
		return 0;
	/* NAME.seg.ctl, NAME.seg.log or NAME.seg.log.ctl */
	(void)snprintf(segment, sizeof(segment), "%s", name);
	if (text_ends_with(segment, ".ctl"))
		segment[strlen(segment) - strlen(".ctl")] = '\0';
	if (text_ends_with(segment, ".seg.log"))
		segment[strlen(segment) - strlen(".log")] = '\0';
	if (text_ends_with(segment, ".seg")) {
		struct stat other;

		if (fstatat(p->dir, segment, &other, AT_SYMLINK_NOFOLLOW) == 0)
			return 0;
	} else if (strncmp(name, "rec-", 4) == 0) {
		int fd = openat(p->dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
		bool lives = fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0;

		if (fd >= 0)
			close(fd);
		if (lives)
			return 0;
	} else {
		return 0;
	}
	return ls_prune_add(p, name, st);
}

int ls_prune_temporary(struct ls_prune *p, const char *name, const struct stat *st)
{
	return time(NULL) - st->st_mtime > HALF_WRITTEN_S ? ls_prune_add(p, name, st) : 0;
}

/*
 * Is it still the file that was looked at, and does its owner also own the
 * directory?
 */
static bool may_remove(const struct ls_prune *p, const struct ls_prune_file *c)
{
	struct stat st;

	if (fstatat(p->dir, c->name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(st.st_mode) ||
	    st.st_dev != c->device || st.st_ino != c->inode)
		return false;
	if (st.st_uid == geteuid() || st.st_uid == p->owner)
		return true;
	p->say("%s/%s: kept, because it does not belong to the owner of its "
	       "directory",
	    p->path, c->name);
	return false;
}

/*
 * /proc is asked where the kernel cannot say who has the file: it shows those
 * of our own pid namespace. Mappings are read after the headers:
 * by then, a file that had a valid header is mapped, or it will never be again.
 */
static bool is_mapped(
    struct proc_cache *cache, const struct ls_prune *p, const struct ls_prune_file *c)
{
	switch (in_use_check(p->dir, c->name, c->device, c->inode)) {
	case IN_USE_YES:
		return true;
	case IN_USE_NO:
		return false;
	case IN_USE_UNKNOWN:
		break;
	}
	return proc_mapped(cache, c->device, c->inode);
}

size_t ls_prune_run(const struct ls_prune *p, size_t *ret_slots)
{
	struct proc_cache *cache = proc_cache_new();
	size_t removed = 0;

	for (size_t i = 0; cache && i < p->count; i++) {
		const struct ls_prune_file *c = &p->files[i];

		if (is_mapped(cache, p, c) || !may_remove(p, c))
			continue; /* a forked child still counts there */
		if (unlinkat(p->dir, c->name, 0) == 0)
			removed++;
		else if (errno != ENOENT)
			p->say("%s/%s: cannot be removed: %s", p->path, c->name, strerror(errno));
		if (text_ends_with(c->name, ".seg"))
			segfile_remove_beside(p->dir, c->name);
	}
	proc_cache_free(cache);
	*ret_slots = free_slots_of_dead(p->dir, p->parents, p->parent_count);
	return removed;
}

void ls_prune_release(struct ls_prune *p)
{
	for (size_t i = 0; i < p->count; i++)
		free(p->files[i].name);
	free(p->files);
	for (size_t i = 0; i < p->parent_count; i++)
		free(p->parents[i]);
	free(p->parents);
}
